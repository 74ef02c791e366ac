// SIGINT, SIGTERM and SIGHUP while the program runs: the process says what it has run for long before it ends as it
// would have. (mpirun sends SIGTERM on Ctrl-C, but also to the others when one rank has failed: what is brief is no
// news then.) With a journal what is done is written before, and but for SIGINT the process ends with kExitContinue.
// Where files of what was measured are asked for, the run ends first, on all ranks, and rank 0 writes them.
#pragma once

#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include "runtime/run.hpp"

namespace tessera::runtime {

// Whether what is measured goes to files.
inline bool leaves_files(const RunOptions& o) {
  return !o.summary_json.empty() || !o.record.empty() || !o.save_groups.empty();
}

// Exit codes of runs that a signal has ended.
inline bool by_signal(int exit_code) {
  return exit_code == kExitInterrupted || exit_code == 128 + SIGTERM || exit_code == 128 + SIGHUP ||
         exit_code == kExitContinue;
}

// One per process at a time. Signals that are ignored stay so; who has handlers of his own gets the signal afterwards.
class Interrupts {
 public:
  explicit Interrupts(const RunOptions&);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // How the run is ended with such a code: `end` comes back when this rank ends, or with false, when it does not.
  void ends(std::function<bool(int exit_code)> end);
  // Ends this process as the signal would have.
  [[noreturn]] static void end_process(int exit_code);

 private:
  void watch();
  bool end_run(int exit_code);
  const bool quiet_, journalled_, leaves_files_;
  bool on_ = false;
  std::mutex mutex_;
  std::function<bool(int)> end_;
  std::thread thread_;
};

}  // namespace tessera::runtime
