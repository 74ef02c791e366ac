// EndOfRun: how a run ends, for one rank. Communication thread, except root_finished() and failed().
//
//   all well:  the root scope's count reaches zero on rank 0 (data/scopes.hpp) -> Stop(0)
//   stuck:     waves (protocol/waves.hpp) find the run quiet and the root scope alive -> every rank lists
//              what waits, and describes what of it rank 0 asks for -> rank 0 prints the report -> Stop(1);
//              messages go on meanwhile
//   failed:    some rank tells rank 0 -> rank 0 prints -> Stop(code)
// After Stop every rank sends its totals, and all leave together through a barrier.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/protocol/waves.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

class StuckReport;
class WaitingHere;

class EndOfRun {
 public:
  // `look`: at what waits here, when the run is stuck. `failed`: nothing more is to run here.
  EndOfRun(const RunFacts&, Communicator&, Crew&, Transport&, std::atomic<bool>& failed,
           std::function<WaitingHere()> look);
  ~EndOfRun();

  void root_finished();                                 // rank 0
  void failed(const std::string& text, int exit_code);  // any rank; the first one counts
  // Any rank, from a thread that does nothing else: a signal ends the run. False: this rank does not hear that it ends.
  bool interrupted(int exit_code);

  // Does what is due; called in each turn of the communication thread.
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;
  // Workers went idle: worth looking again.
  void look() { next_wave_ = Clock::time_point{}; }

  void on(Rank from, Wave&&);
  void on(Rank from, WaveAnswer&&);
  void on(Rank from, AskWaiting&&);
  void on(Rank from, Waiting&&);
  void on(Rank from, Failed&&);
  void on(Rank from, Stop&&);

  bool stopped() const { return stopped_; }
  int exit_code() const { return exit_code_; }

 private:
  bool leads() const;
  void stop_all(int exit_code);
  void stop(int exit_code);  // this rank
  void aside(std::function<void()> work, std::function<void()> then);
  void tell_stuck();
  WaveAnswer wave_answer(std::uint64_t number);

  const RunFacts& facts_;
  Communicator& comm_;
  Crew& crew_;
  Transport& transport_;
  std::atomic<bool>& run_failed_;
  const std::function<WaitingHere()> look_;
  protocol::Waves waves_;
  Clock::time_point next_wave_;
  Clock::duration pace_;
  std::atomic<bool> root_finished_{false};
  std::mutex failure_mutex_;
  std::string failure_;  // told by this rank, not yet passed on
  int failure_code_ = 0;
  std::atomic<bool> has_failure_{false};
  bool asked_waiting_ = false;
  std::unique_ptr<WaitingHere> waiting_here_;
  std::unique_ptr<StuckReport> stuck_;  // rank 0
  bool listed_ = false;                 // ... by all; now they describe
  std::size_t waiting_answers_ = 0;     // still to come
  Thread aside_;                        // looks at what waits
  std::atomic<bool> done_aside_{false};
  std::function<void()> then_;
  std::atomic<bool> stopped_{false};
  int exit_code_ = 0;
};

}  // namespace tessera::runtime
