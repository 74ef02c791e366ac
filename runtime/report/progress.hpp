// The progress line: every rank tells rank 0 twice a second how far it is, rank 0 rewrites a line below
// the cursor on stderr. Only when asked for (the command asks when stderr is a terminal).
#pragma once

#include <functional>

#include "runtime/comm/communicator.hpp"
#include "runtime/report/outlook.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/start/facts.hpp"

namespace tessera::runtime {

class Progress {
 public:
  // `own`: the numbers of this rank.
  Progress(const RunFacts&, Communicator&, TotalsOfAll&, std::function<Totals()> own);
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;
  void clear();  // wipes the line

 private:
  const RunFacts& facts_;
  Communicator& comm_;
  TotalsOfAll& totals_;
  const std::function<Totals()> own_;
  bool on_;
  bool shown_ = false;
  Pace pace_;
  Clock::time_point start_, next_;
};

}  // namespace tessera::runtime
