// The quotas of control groups. /proc/self/cgroup says which groups this process is in, /proc/self/mountinfo where
// their folders are; each folder up to the mount may have a quota: cpu.max (version 2), cpu.cfs_quota_us (version 1).
#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "runtime/cores/allowance.hpp"

namespace fs = std::filesystem;

namespace tessera::cores {
namespace {

struct Mount {
  fs::path inside;  // the group that is mounted
  fs::path at;
};

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// Of version 2, or of version 1's controller `cpu`.
std::optional<Mount> find_mount(const fs::path& root, bool second) {
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // 36 35 98:0 /group /sys/fs/cgroup/cpu rw,relatime [optional]* - cgroup cgroup rw,cpu
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream first(line.substr(0, dash)), then(line.substr(dash + 3));
    std::string id, parent, device, inside, at, type, source, options;
    if (!(first >> id >> parent >> device >> inside >> at) || !(then >> type >> source >> options)) continue;
    if (second ? type == "cgroup2" : type == "cgroup" && has_word(options, "cpu")) return Mount{inside, at};
  }
  return std::nullopt;
}

// The group of this process: of version 2, or of version 1's controller `cpu`.
std::optional<fs::path> find_group(const fs::path& root, bool second) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // 4:cpu,cpuacct:/group or 0::/group
    const std::size_t a = line.find(':');
    const std::size_t b = a == std::string::npos ? a : line.find(':', a + 1);
    if (b == std::string::npos) continue;
    const std::string controllers = line.substr(a + 1, b - a - 1);
    if (second ? controllers.empty() : has_word(controllers, "cpu")) return fs::path(line.substr(b + 1));
  }
  return std::nullopt;
}

// Microseconds of processor time in so many of time.
double quota_in(const fs::path& folder, bool second) {
  std::string quota;
  double period = 0;
  if (second) {
    std::ifstream in(folder / "cpu.max");  // `max 100000` or `150000 100000`
    if (!(in >> quota >> period)) return 0;
  } else {
    std::ifstream of(folder / "cpu.cfs_quota_us"), in(folder / "cpu.cfs_period_us");  // -1: none
    if (!(of >> quota) || !(in >> period)) return 0;
  }
  char* end = nullptr;
  const double time = std::strtod(quota.c_str(), &end);
  return *end == '\0' && time > 0 && period > 0 ? time / period : 0;
}

void add_quotas(const fs::path& root, bool second, std::vector<Limit>& limits) {
  const auto mount = find_mount(root, second);
  const auto group = find_group(root, second);
  if (!mount || !group) return;
  // In a container the mount may show the group itself as its root, and the path count from the host's.
  fs::path below = group->lexically_relative(mount->inside);
  if (below.empty() || *below.begin() == "..") below = ".";
  const fs::path top = (root / mount->at.relative_path()).lexically_normal();
  for (fs::path folder = (top / below).lexically_normal();; folder = folder.parent_path()) {
    if (!folder.has_filename()) folder = folder.parent_path();  // it ended in a slash
    const double cores = quota_in(folder, second);
    struct stat s {};
    // Groups of one kernel have numbers of their own, whatever name a container sees.
    if (cores > 0 && stat(folder.c_str(), &s) == 0) limits.push_back({(s.st_dev << 40 ^ s.st_ino) | 1, cores});
    if (folder == top || folder.native().size() <= top.native().size()) return;
  }
}

}  // namespace

std::vector<Limit> quotas_of(const fs::path& root) {
  std::vector<Limit> limits;
  for (const bool second : {false, true}) add_quotas(root, second, limits);
  return limits;
}

}  // namespace tessera::cores
