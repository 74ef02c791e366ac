// OutsideLoad: how many tasks of others compete with this rank's workers for their cores. Balancers
// are told about once a second, when it has changed (balancer::OutsideLoad).
//
// The kernel counts for each thread how long it ran and how long it was ready to run but had no
// core
// (/proc/PID/task/TID/schedstat). Beside one equal competitor a thread waits as long as it runs:
// waited / ran is the number of competitors, whoever they are: other users, other programs, and
// other ranks of this run on the same host. What a rank with more workers than cores does to itself
// is taken off. A kernel that sleeps or reads a file neither runs nor waits. A system without
// schedstat tells nothing. Communication thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// What a thread has done since it started, ns.
struct ThreadTimes {
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};

// Competitors decides what to tell: a pure machine.
class Competitors {
 public:
  Competitors(std::int32_t threads, std::int32_t cores)
      : own_(threads > cores ? static_cast<double>(threads) / cores - 1 : 0) {}

  // The sum over the workers `now`, at least `interval` ns after the last one. Returns the number
  // of competitors when it differs from what was told by more than a fifth and a quarter of a task.
  std::optional<double> sample(const ThreadTimes& now, std::int64_t interval);

 private:
  const double own_;
  ThreadTimes last_;
  double told_ = 0;
};

class OutsideLoad {
 public:
  using Result = std::function<void(double tasks)>;
  // `threads` gives the system's numbers of the worker threads; called once, a second later.
  OutsideLoad(std::int32_t count, std::function<std::vector<std::int32_t>()> threads, Result result);
  OutsideLoad(const OutsideLoad&) = delete;
  ~OutsideLoad();

  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;

 private:
  void open_files();
  ThreadTimes read() const;

  std::function<std::vector<std::int32_t>()> threads_;
  bool opened_ = false;
  std::vector<int> files_;  // one for each worker
  Competitors competitors_;
  Result result_;
  Clock::time_point last_;
};

}  // namespace tessera::runtime
