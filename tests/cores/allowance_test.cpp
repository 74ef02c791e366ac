#include "runtime/cores/allowance.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/temporary_folder.hpp"

namespace tessera::cores {
namespace {

namespace fs = std::filesystem;

// A machine as its files show it.
class Files : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::vector<double> quotas() {
    std::vector<double> cores;
    for (const Limit& l : quotas_of(folder_)) cores.push_back(l.cores);
    return cores;
  }
  using Cores = std::vector<double>;

  tests::TemporaryFolder folder_;
};

constexpr const char* kSecond = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kFirst =
    "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

TEST_F(Files, NoFilesAreNoLimits) { EXPECT_EQ(quotas(), Cores{}); }

TEST_F(Files, Version2CountsAllGroupsAround) {
  write("proc/self/mountinfo", kSecond);
  write("proc/self/cgroup", "0::/user.slice/job\n");
  write("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_EQ(quotas(), Cores{1.5});
  write("sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
  EXPECT_EQ(quotas(), (Cores{1.5, 4}));
}

TEST_F(Files, Version2OfAContainerIsTheRoot) {
  write("proc/self/mountinfo", kSecond);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quotas(), Cores{2});
}

TEST_F(Files, Version1) {
  write("proc/self/mountinfo", kFirst);
  write("proc/self/cgroup", "5:cpuset:/elsewhere\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quotas(), Cores{3});
}

// Docker without a namespace for control groups: the mount shows the container's group as its root.
TEST_F(Files, Version1OfAContainer) {
  write("proc/self/mountinfo", "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  write("proc/self/cgroup", "4:cpu:/docker/abc\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quotas(), Cores{0.5});
  // And where the path counts from the host's root, which nobody here sees.
  write("proc/self/cgroup", "4:cpu:/somewhere/else\n");
  EXPECT_EQ(quotas(), Cores{0.5});
}

TEST_F(Files, OddFilesAreNoLimits) {
  write("proc/self/mountinfo", std::string("garbage\n - \n") + kSecond);
  write("proc/self/cgroup", "garbage\n0::/a\n");
  for (const char* text : {"", "max", "-1 100000", "100000 0", "x 100000", "0 100000"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(quotas(), Cores{}) << text;
  }
}

TEST_F(Files, GroupsAreToldApart) {
  write("proc/self/mountinfo", kSecond);
  for (const char* group : {"a", "b"}) write(std::string("sys/fs/cgroup/") + group + "/cpu.max", "100000 100000\n");
  write("proc/self/cgroup", "0::/a\n");
  const Limit a = quotas_of(folder_).at(0);
  EXPECT_EQ(quotas_of(folder_).at(0), a);
  write("proc/self/cgroup", "0::/b\n");
  EXPECT_NE(quotas_of(folder_).at(0).id, a.id);
}

TEST_F(Files, SlurmSaysWhatATaskAndAHostHave) {
  std::map<std::string, std::string> set;
  const auto variable = [&](const char* name) { return set.contains(name) ? set[name].c_str() : nullptr; };
  set["SLURM_CPUS_PER_TASK"] = "4";
  EXPECT_EQ(find(folder_, variable).cpus_per_task, 0) << "no job";
  set["SLURM_JOB_ID"] = "17";
  set["SLURM_CPUS_ON_NODE"] = "8";
  const Found found = find(folder_, variable);
  EXPECT_EQ(found.cpus_per_task, 4);
  EXPECT_EQ(found.cpus_on_node, 8);
  set["SLURM_STEP_ID"] = "1";
  EXPECT_NE(find(folder_, variable).job, found.job);
  for (const char* text : {"", "0", "-2", "4(x2)", "many"}) {
    set["SLURM_CPUS_PER_TASK"] = text;
    EXPECT_EQ(find(folder_, variable).cpus_per_task, 0) << text;
  }
}

TEST_F(Files, TheMaskIsThatOfTheThread) {
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const Mask before = find(folder_, nothing).mask;
  ASSERT_TRUE(before.any());
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(before._Find_first(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(find(folder_, nothing).mask.count(), 1u);
  }).join();
}

TEST(Allowance, KeepsTheSmallestLimits) {
  Found found;
  for (int i = 1; i <= 20; ++i) found.quotas.push_back({static_cast<std::uint64_t>(i), 21.0 - i});
  found.cpus_per_task = 3;
  const Allowance a = allowance(found);
  ASSERT_EQ(a.limit_count, Allowance::kLimits);
  EXPECT_EQ(a.limits[0], (Limit{20, 1}));
  EXPECT_EQ(a.limits[3], (Limit{0, 3}));
  EXPECT_EQ(a.mask.count(), 1u) << "nothing found out: one core there is";
}

}  // namespace
}  // namespace tessera::cores
