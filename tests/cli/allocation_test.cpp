// How many ranks: --hostfile, -n auto, and words for mpirun.
#include "command.hpp"

namespace tessera::tests {
namespace {

class Allocations : public Command {
 protected:
  Allocations() {
    write("p.fa",
          "C++ sub show(int n) ${{ printf(\"ranks %d\\n\", n); $}}\n"
          "sub main() { show(ranks); }\n");
  }
  // The program, in an environment without any batch system but these variables.
  Outcome with(Words variables, const Words& options) {
    environment_ = {"-u", "SLURM_NTASKS", "-u", "SLURM_JOB_NUM_NODES", "-u", "PBS_NODEFILE"};
    environment_.insert(environment_.end(), variables.begin(), variables.end());
    Words words = {"run", "p.fa"};
    words.insert(words.end(), options.begin(), options.end());
    return tessera(words);
  }
};

TEST_F(Allocations, AutoIsWhatTheHostFileHas) {
  write("hosts", "# all of them\nlocalhost slots=2  # here\n\n127.0.0.1 max_slots=9\n");
  const Outcome o = with({"SLURM_NTASKS=7"}, {"--hostfile", "hosts"});
  EXPECT_TRUE(ended(o, 0, {"tessera: 3 ranks, by hosts\n"}));
  EXPECT_EQ(o.out, "ranks 3\n");
  EXPECT_EQ(with({}, {"--hostfile", "hosts", "-n", "2", "-q"}).out, "ranks 2\n");
}

TEST_F(Allocations, AutoIsWhatTheBatchJobHas) {
  write("nodes", "localhost\nlocalhost\n");
  EXPECT_TRUE(ended(with({"SLURM_NTASKS=2", "SLURM_JOB_NUM_NODES=1"}, {"-n", "auto"}), 0,
                    {"tessera: 2 ranks, by SLURM_NTASKS\n", " on 2 ranks "}));
  EXPECT_TRUE(ended(with({"SLURM_JOB_NUM_NODES=1"}, {"-n", "auto"}), 0, {"tessera: 1 rank, by SLURM_JOB_NUM_NODES\n"}));
  EXPECT_TRUE(ended(with({"PBS_NODEFILE=nodes"}, {"-n", "auto"}), 0, {"tessera: 2 ranks, by PBS_NODEFILE\n"}));
  EXPECT_TRUE(ended(with({"PBS_NODEFILE=gone"}, {"-n", "auto"}), 2, {"-n auto: PBS_NODEFILE: can't read gone"}));
  EXPECT_TRUE(
      ended(with({}, {"-n", "auto"}), 0, {"tessera: 1 rank: neither a host file nor a batch job says how many\n"}));
}

TEST_F(Allocations, WordsForMpirun) {
  const Outcome o = with({}, {"-q", "-n", "2", "--mpirun-args", "-x 'GREETING=a b'", "--mpirun-args", "--tag-output"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("<stdout>:ranks 2\n"), std::string::npos) << o.out;
}

TEST_F(Allocations, WhatIsWrongIsSaid) {
  write("empty", "# nobody\n");
  write("hosts", "h1 slots=2\nh2 slots=two\n");
  EXPECT_TRUE(ended(with({}, {"--hostfile", "gone"}), 2, {"--hostfile: can't read gone"}));
  EXPECT_TRUE(ended(with({}, {"--hostfile", "."}), 2, {"--hostfile: can't read ."}));
  EXPECT_TRUE(ended(with({}, {"--hostfile", "empty"}), 2, {"empty has no hosts", "h1 slots=4"}));
  EXPECT_TRUE(ended(with({}, {"--hostfile", "hosts", "-n", "2"}), 2, {"hosts:2: `slots=two` is no number of ranks"}));
  EXPECT_TRUE(ended(with({}, {"-n", "4x"}), 2, {"--ranks: `4x` is no number of ranks, nor `auto`"}));
  EXPECT_TRUE(
      ended(with({}, {"--mpirun-args", "--tag-output"}), 2, {"--mpirun-args: no mpirun is started without -n"}));
  EXPECT_TRUE(ended(with({}, {"-n", "2", "--mpirun-args", "'open"}), 2, {"--mpirun-args: "}));
}

}  // namespace
}  // namespace tessera::tests
