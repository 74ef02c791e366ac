// StatusBoard: what a run does now, for `tessera status` and `tessera top` (control/control_point.hpp). Rank 0 asks all
// ranks for their numbers and answers when they are there, or when one has been silent for a second. Communication
// thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/start/facts.hpp"

namespace tessera::runtime {

class Members;

class StatusBoard {
 public:
  // `own`: the numbers of this rank.
  StatusBoard(const RunFacts&, const Members&, Communicator&, TotalsOfAll&, std::function<Totals()> own);
  // JSON in one line.
  using Answer = std::function<void(const std::string& text)>;
  void ask(Answer);
  // The numbers of a rank have come.
  void came(Rank from);
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;

 private:
  void answer_all();
  std::string text() const;
  const char* part_of(Rank) const;

  const RunFacts& facts_;
  const Members& members_;
  Communicator& comm_;
  TotalsOfAll& totals_;
  const std::function<Totals()> own_;
  const Clock::time_point start_;
  Clock::time_point deadline_{};
  std::vector<bool> missing_;  // by rank: asked, and has not answered
  std::vector<bool> heard_;    // by rank: there are numbers of it
  std::vector<Answer> asked_;
};

}  // namespace tessera::runtime
