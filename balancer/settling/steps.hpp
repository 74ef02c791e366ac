// What one rank knows of the series that run on it: how long they take, and when a step has ended.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "balancer/event.hpp"

namespace tessera::balancer {

// Steps counts as a step as many runs as there are series here: those of one step need not run before those of the
// next, nor do ranks agree on steps. The first step ends when a quarter has run again. What a series takes is a mean
// that forgets; a change is news when it is large beside what a step takes here, or beside the series itself.
//
//   if (steps.told(event)) send(steps.report())
class Steps {
 public:
  // True: there is something to report. First of all, that there are series here.
  bool told(const SeriesRan&);
  SeriesReport report();
  std::int64_t count() const { return steps_; }
  // What the latest took, ns of all series together.
  double time() const { return time_; }
  // There is another plan: some steps later all is news.
  void planned(std::uint64_t plan);

 private:
  struct Series {
    SeriesWork work;  // its mean weight
    std::int64_t runs = 0;
    std::int64_t step = 0;  // in which it ran last
    Time reported = 0;      // 0: never
    Time latest[2] = {};    // the one before last is the second
  };
  // The median of the last three, or the shorter of two: time is told by a clock, and somebody else's turn on the core
  // makes a fragment take many times as long, once.
  static Time usual(Series& s, Time took);
  void end_step();
  // `all`: of the step together, ns.
  static bool is_news(const Series&, double all);

  std::map<std::uint64_t, Series> known_;
  std::int64_t steps_ = 0;            // that have ended
  std::int64_t reported_steps_ = -1;  // -1: nothing has been
  std::size_t runs_ = 0;              // in this step; in the first, of those that had run before
  double ran_ = 0, said_ = 0;         // in this step: what they took, and were to take, ns
  double doubt_ = 0, reported_doubt_ = 0;
  bool news_ = false;
  double time_ = 0;
  std::uint64_t plan_ = 0;
  std::int64_t plan_due_ = 0;  // steps
};

}  // namespace tessera::balancer
