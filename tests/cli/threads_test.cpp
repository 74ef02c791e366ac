// As many threads as there are cores to use, not as the machine has.
#include <sched.h>

#include "command.hpp"

namespace tessera::tests {
namespace {

TEST_F(Command, ThreadsFollowTheAllowedCores) {
  write("p.fa", kHello);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  const auto bound = [&](const Words& more) {
    Words command = {"taskset", "-c", std::to_string(first), TESSERA_COMMAND, "run", "p.fa"};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  };
  EXPECT_TRUE(ended(bound({}), 0, {"on 1 rank (1 worker thread)"}));
  EXPECT_TRUE(ended(bound({"-n", "2"}), 0, {"on 2 ranks (2 worker threads)"}));
  EXPECT_TRUE(ended(bound({"--inproc-ranks", "2", "-t", "2"}), 0, {"on 2 ranks (4 worker threads)"}));
  environment_ = {"SLURM_JOB_ID=7", "SLURM_CPUS_PER_TASK=1"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0, {"on 1 rank (1 worker thread)"}));
}

}  // namespace
}  // namespace tessera::tests
