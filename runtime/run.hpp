// The runtime's front door: run a translated program on this process's ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "balancer/policy.hpp"
#include "balancer/relay.hpp"
#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

struct Caller;

// Exit codes, documented in docs/errors.md.
inline constexpr int kExitOk = 0;
inline constexpr int kExitProgram = 1;      // the program is wrong: diagnostics, deadlock, kernel failure
inline constexpr int kExitUsage = 2;        // bad flags, files, profiles, arguments
inline constexpr int kExitEnvironment = 3;  // no compiler, no mpirun, MPI failure
inline constexpr int kExitContinue = 75;    // ended by a signal, and its journal has what is done
inline constexpr int kExitInternal = 70;    // a bug of ours
inline constexpr int kExitInterrupted = 130;

// A rank that leaves or joins at a time that is known before: for tests, and to see what it would cost.
struct MemberPlan {
  balancer::Rank rank{0};
  bool joins = false;
  std::chrono::nanoseconds at{0};  // since the start of the run
  friend bool operator==(const MemberPlan&, const MemberPlan&) = default;
};

struct RunOptions {
  // Where the ranks are: "auto" (MPI when started by mpirun or srun, else one rank in this process),
  // "mpi", or "inproc" with `ranks` ranks as threads of this process.
  std::string transport = "auto";
  std::int32_t ranks = 1;            // inproc only; with MPI the launcher decides
  std::uint64_t seed = 0;            // inproc: reorder and delay deliveries under this seed; 0: off
  std::int64_t max_delay_us = 200;   // with a seed
  std::int64_t link_latency_us = 0;  // inproc: emulated link
  double link_bandwidth = 0;         // inproc: bytes/s, 0 unlimited

  std::int32_t threads = 0;                      // workers per rank; 0: share the host's cores fairly
  std::string balancer;                          // empty: balancer::usual_policy
  const balancer::PolicyInfo* policy = nullptr;  // instead of the one of that name: for tests
  balancer::Settings settings;                   // policy parameters from flags and --config
  std::vector<double> powers;                    // relative speeds by rank, for the policies; missing: 1
  std::string save_groups;                       // profile to write, empty: none
  std::string load_groups;                       // profile to read
  bool load_groups_anyway = false;

  std::string record;                   // trace for the simulator, empty: none
  std::int64_t record_limit_mb = 1024;  // of memory for it at the end; less before, all ranks together
  std::string record_policy;            // directory for the logs of the policies, empty: none

  std::string journal;          // folder, empty: none
  double journal_interval = 0;  // s between sweeps; 0: by what they cost

  std::int32_t spares = 0;  // of the ranks that can execute, the last ones only when asked
  std::vector<MemberPlan> member_plan;
  std::int64_t silence_limit = 0;  // s that a rank may be silent before the run ends; 0: any

  std::string summary_json;                       // --summary FILE.json
  bool quiet = false;                             // no summary, no warnings on stderr
  bool check_inputs = false;                      // has a kernel written to its inputs? `tessera run -g`
  Caller* caller = nullptr;                       // null: this process is the run's (start/caller.hpp)
  bool progress = false;                          // the progress line (the CLI sets it when stderr is a terminal)
  std::string log_level = "warn";                 // spdlog level on stderr
  std::int64_t cache_limit_mb = 1024;             // copies of remote data fragments kept per rank
  std::int64_t relay_bytes = balancer::kRelayed;  // values from this size on are passed on by ranks that have got them
  std::int64_t eager_bytes = 4096;                // values up to this size travel to their home when assigned elsewhere
};

// Runs `program` to its end; returns an exit code on every rank. Never throws. Of several ranks the options and
// arguments of rank 0 count. `wrong` is what this process already knows to be wrong with them, for a person.
int run(const abi::Program& program, const RunOptions& options, const std::vector<std::string>& arguments,
        const std::string& wrong = {});

// refuse tells the other ranks that this process can't run the program, and why; returns the exit code. For what is
// found out before there is anything to run.
int refuse(int exit_code, const std::string& why);

}  // namespace tessera::runtime
