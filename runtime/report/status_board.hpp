// StatusBoard: what a run does now, for `tessera status` and `tessera top` (control/control_point.hpp). Rank 0 asks all
// ranks for their numbers and answers when they are there, or when one has been silent for a second. Communication
// thread.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/report/outlook.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/report/waits_now.hpp"
#include "runtime/start/facts.hpp"

namespace tessera::runtime {

class Members;

class StatusBoard {
 public:
  // `own`: the numbers of this rank.
  using Own = std::function<Totals(const AskTotals&)>;
  StatusBoard(const RunFacts&, const Members&, Communicator&, TotalsOfAll&, Own own);
  // JSON in one line.
  using Answer = std::function<void(const std::string& text)>;
  // `waits`: also what waits for what.
  void ask(bool waits, Answer);
  // The numbers of a rank have come.
  void came(Rank from);
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;

 private:
  struct Asked {
    bool waits;
    Answer answer;
  };
  void begin();
  void ask_all(AskTotals);
  void all_answered();
  void answer_all();
  nlohmann::ordered_json waits_text() const;
  std::string text();
  const char* part_of(Rank) const;

  const RunFacts& facts_;
  const Members& members_;
  Communicator& comm_;
  TotalsOfAll& totals_;
  const Own own_;
  const Clock::time_point start_;
  Clock::time_point deadline_{};
  std::vector<bool> missing_;  // by rank: asked, and has not answered
  std::vector<bool> heard_;    // by rank: there are numbers of it
  Pace pace_;
  std::vector<Asked> asked_, next_;    // who is answered by what is asked now, and by what is asked then
  std::unique_ptr<WaitReport> waits_;  // where somebody wants to know; its lines are asked for
};

}  // namespace tessera::runtime
