// Ranks that were not started as they should be, or that are stopped.
#include "command.hpp"

namespace tessera::tests {
namespace {

// What MPICH's mpirun says to a process that it starts: to Open MPI it is alone.
TEST_F(Command, AnotherMpirunIsFoundOut) {
  write("p.fa", kHello);
  for (const char* rank : {"0", "1"}) {
    environment_ = {std::string("PMI_RANK=") + rank, "PMI_SIZE=2"};
    const Outcome o = tessera({"run", "p.fa"});
    EXPECT_TRUE(ended(o, 3, {*rank == '0' ? "2 processes were started together, but to MPI there is 1" : ""}));
    EXPECT_EQ(o.out, "");
    if (*rank == '1') {
      EXPECT_EQ(o.err, "") << "rank 0 says it";
    }
  }
  environment_ = {"PMI_RANK=0", "PMI_SIZE=1"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0));
  environment_ = {"SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_PROCID=0"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {"srun --mpi=pmix", "speaks with none of them"}));
  // As far as srun is told apart, Open MPI itself would have ended with a page of its own.
  environment_.emplace_back("PMI_RANK=0");
  environment_.emplace_back("PMI_SIZE=4");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {"4 processes were started together, but to MPI there is 1"}));
}

// `srun -n 4 tessera run p.fa -n 2` may be meant: one run for each case of a study. Without srun nothing is said.
TEST_F(Command, ARunForEachTaskOfSrunIsSaid) {
  write("p.fa", kHello);
  const char* said = "srun has started this command 4 times";
  environment_ = {"SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_PROCID=0"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 0, {said}));
  environment_ = {"SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_PROCID=1"};
  EXPECT_EQ(tessera({"run", "p.fa", "-n", "2"}).err.find(said), std::string::npos);
  environment_ = {"SLURM_STEP_NUM_TASKS=1", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "PMIX_RANK=0"};
  EXPECT_EQ(tessera({"run", "p.fa", "-n", "2"}).err.find("srun has started"), std::string::npos);
  // On several nodes mpirun would wait for what srun holds.
  environment_ = {"SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_NODES=2", "SLURM_STEP_ID=0", "SLURM_PROCID=0"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 2, {"on 2 nodes", "Leave out -n"}));
}

TEST_F(Command, RanksThatWereStartedTogetherAreOneRun) {
  write("p.fa", kHello);
  ASSERT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  const Words mpirun = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "2"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), mpirun.begin(), mpirun.end());
    return run(more);
  };
  // Options of rank 0 count for all, and are refused once.
  environment_ = {"TESSERA_OPTIONS=--balancer nothing"};
  const Outcome o = with({"./p"});
  EXPECT_TRUE(ended(o, 2, {"unknown balancer `nothing`"}));
  EXPECT_EQ(o.err.find("unknown balancer"), o.err.rfind("unknown balancer"));
  environment_ = {"TESSERA_OPTIONS=--inproc-ranks 2"};
  EXPECT_TRUE(ended(with({"./p"}), 2, {"2 processes were started together"}));
  environment_ = {"TESSERA_OPTIONS=-t 3"};
  EXPECT_TRUE(ended(with({"sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 0 ] || TESSERA_OPTIONS='-t 7'; exec ./p"}), 0,
                    {"on 2 ranks (6 worker threads)", "TESSERA_OPTIONS of rank 1 is not used"}));
  EXPECT_TRUE(ended(with({"sh", "-c", "[ $OMPI_COMM_WORLD_RANK = 0 ] || unset TESSERA_OPTIONS; exec ./p"}), 0,
                    {"(6 worker threads)"}));
  environment_ = {};
  EXPECT_TRUE(ended(with({"sh", "-c", "exec ./p $(expr $OMPI_COMM_WORLD_RANK - 1)"}), 2));
}

TEST_F(Command, AProgramOfOneRankIsNotAnothers) {
  write("p.fa", kHello);
  write("q.fa", std::string("// another\n") + kEcho);
  for (const char* name : {"p", "q"}) ASSERT_TRUE(ended(tessera({"build", std::string(name) + ".fa", "-o", name}), 0));
  EXPECT_TRUE(
      ended(run({"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "1", "./p", ":", "-n", "1", "./q"}), 2,
            {"different programs", "rank 1 has q.fa"}));
}

TEST_F(Command, ARankThatIsStoppedEndsTheRunWhenToldTo) {
  write("p.fa",
        "C++ sub stop(int i, name x) ${{ if (i == 1) { ::kill(::getpid(), SIGSTOP); sleep(60); } x = i; $}}\n"
        "C++ sub show(int a, int b) ${{ printf(\"%d\\n\", a + b); $}}\n"
        "sub main() { df x; for i = 0..1 stop(i, x[i]) @ { locator_cyclic: i; }; show(x[0], x[1]); }\n");
  const Outcome o = tessera({"run", "p.fa", "-n", "2", "--balancer", "none", "--silence-limit", "5",
                             "--cxxflags=-include signal.h -include unistd.h"});
  EXPECT_TRUE(ended(o, 3, {"rank 1 has been silent for", "(--silence-limit 5)"}));
}

TEST_F(Command, ALongKernelIsNotSilent) {
  write("p.fa",
        "C++ sub nap(int i, name x) ${{ sleep(7); x = i; $}}\n"
        "C++ sub show(int a, int b) ${{ printf(\"%d\\n\", a + b); $}}\n"
        "sub main() { df x; for i = 0..1 nap(i, x[i]) @ { locator_cyclic: i; }; show(x[0], x[1]); }\n");
  const Outcome o = tessera({"run", "p.fa", "-n", "2", "-t", "1", "--silence-limit", "5"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "1\n");
}

// MPICH's launcher is known by the name that stands behind the links; Open MPI's is taken if it is there, too.
TEST_F(Command, MpichsLauncherIsToldApart) {
  write("p.fa", kHello);
  const std::string links =
      "mkdir bin; cp /bin/true bin/mpiexec.hydra; ln -s mpiexec.hydra bin/mpirun.mpich; "
      "ln -s mpirun.mpich bin/mpirun; ";
  const std::string without_openmpi = "PATH=$PWD/bin; exec \"$0\" run p.fa -n 2";
  EXPECT_TRUE(ended(run({"sh", "-c", links + without_openmpi, TESSERA_COMMAND}), 3,
                    {"bin/mpirun is MPICH's, and Tessera is built with Open MPI", "openmpi-bin"}));
  const std::string beside = "ln -s \"$(command -v mpirun)\" bin/mpirun.openmpi; PATH=$PWD/bin:$PATH; ";
  const Outcome o = run({"sh", "-c", beside + "exec \"$0\" run -q p.fa -n 2", TESSERA_COMMAND});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "hello\n");
}

}  // namespace
}  // namespace tessera::tests
