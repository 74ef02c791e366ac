// SIGINT and SIGTERM while the program runs: the process says what it has run for long before it ends as it would have.
// (mpirun sends SIGTERM on Ctrl-C, but also to the others when one rank has failed: what is brief is no news then.)
// With a journal what is done is written before, and after SIGTERM the process ends with kExitContinue.
#pragma once

#include <csignal>
#include <thread>

namespace tessera::runtime {

// One per process at a time. Signals that are ignored stay so; who has handlers of his own gets the signal afterwards.
class Interrupts {
 public:
  Interrupts(bool quiet, bool journalled);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  void watch() const;
  const bool quiet_, journalled_;
  bool on_ = false;
  std::thread thread_;
};

}  // namespace tessera::runtime
