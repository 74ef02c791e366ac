// SIGINT and SIGTERM while the program runs: the process says what it has run for long before it ends as it would have.
// (mpirun sends SIGTERM on Ctrl-C, but also to the others when one rank has failed: what is brief is no news then.)
#pragma once

#include <csignal>
#include <thread>

namespace tessera::runtime {

// One per process at a time. Signals that are ignored stay so; who has handlers of his own gets the signal afterwards.
class Interrupts {
 public:
  explicit Interrupts(bool quiet);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  void watch();
  bool on_ = false;
  std::thread thread_;
};

}  // namespace tessera::runtime
