#include "runtime/node/end_of_run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <utility>

#include "runtime/node/stuck.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/start/caller.hpp"
#include "runtime/transport/flush_output.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kFirstPace = std::chrono::milliseconds(1);
constexpr auto kSlowestPace = std::chrono::milliseconds(100);
constexpr auto kPaceOfRest = std::chrono::milliseconds(8);  // somebody rests: may it make more?
// For rank 0 to answer, and the thread that sees to messages to be out of a kernel.
constexpr auto kUntilInterrupted = std::chrono::seconds(5);

}  // namespace

EndOfRun::EndOfRun(const RunFacts& facts, Communicator& comm, Crew& crew, Transport& transport,
                   std::atomic<bool>& failed, std::function<WaitingHere()> look)
    : facts_(facts),
      comm_(comm),
      crew_(crew),
      transport_(transport),
      run_failed_(failed),
      look_(std::move(look)),
      waves_(facts.ranks),
      pace_(kFirstPace) {}
EndOfRun::~EndOfRun() {
  if (aside_.joinable()) aside_.join();
}

// Of a million fragments that wait it takes seconds to say which are worth showing, and others would take this rank for
// silent meanwhile. One at a time.
void EndOfRun::aside(std::function<void()> work, std::function<void()> then) {
  then_ = std::move(then);
  aside_ = Thread([this, work = std::move(work)] {
    mark_own_thread();
    work();
    done_aside_.store(true);
    transport_.wake();
  });
}

bool EndOfRun::leads() const { return facts_.first(); }

void EndOfRun::root_finished() {
  root_finished_.store(true);
  transport_.wake();
}

void EndOfRun::failed(const std::string& text, int exit_code) {
  {
    const std::lock_guard hold(failure_mutex_);
    if (failure_code_ != 0) return;
    failure_ = text;
    failure_code_ = exit_code;
  }
  has_failure_.store(true);
  transport_.wake();
}

bool EndOfRun::interrupted(int exit_code) {
  failed("", exit_code);
  const auto deadline = Clock::now() + kUntilInterrupted;
  while (!stopped_ && Clock::now() < deadline) sleep_for(std::chrono::milliseconds(2));
  return stopped_;
}

void EndOfRun::stop_all(int exit_code) {
  if (stopped_) return;
  for (std::int32_t r = 1; r < facts_.ranks; ++r) comm_.send(Rank{r}, Stop{exit_code});
  stop(exit_code);
}

void EndOfRun::stop(int exit_code) {
  // Workers leave next, and their memory with them.
  if (aside_.joinable()) aside_.join();
  exit_code_ = exit_code;
  stopped_ = true;  // publishes it
}

void EndOfRun::turn(Clock::time_point now) {
  if (stopped_) return;
  if (const std::string word = word_of_child(); !word.empty()) {
    run_failed_.store(true);
    failed(word, kExitProgram);
  }
  if (has_failure_.exchange(false)) {
    Failed m;
    {
      const std::lock_guard hold(failure_mutex_);
      m = {failure_, failure_code_};
    }
    if (leads()) {
      on(Rank{0}, std::move(m));
    } else {
      comm_.send(Rank{0}, m);
    }
    return;
  }
  if (done_aside_.exchange(false)) {
    aside_.join();
    std::exchange(then_, nullptr)();
  }
  if (!leads()) return;
  if (root_finished_.load()) return stop_all(kExitOk);
  if (waves_.running || asked_waiting_ || now < next_wave_ || !(crew_.idle() || crew_.rests())) return;
  const std::uint64_t number = waves_.begin();
  for (std::int32_t r = 1; r < facts_.ranks; ++r) comm_.send(Rank{r}, Wave{number});
  on(Rank{0}, wave_answer(number));
}

Clock::time_point EndOfRun::next(Clock::time_point now) const {
  if (!leads() || waves_.running || asked_waiting_) return now + std::chrono::hours(1);
  if (!crew_.all_idle()) {
    return now + std::chrono::hours(1);  // the last worker to fall asleep wakes us
  }
  // It may not have made enough (Lead).
  return crew_.idle() || crew_.rests() ? next_wave_ : std::max(next_wave_, now + std::chrono::milliseconds(1));
}

WaveAnswer EndOfRun::wave_answer(std::uint64_t number) {
  // Idle first: whatever happens after it only makes the sums grow, and the second wave sees that.
  const bool idle = crew_.idle();
  const bool rests = !idle && crew_.rests();
  const std::uint64_t received = comm_.received();
  return {number, idle, comm_.sent(), received, rests};
}

void EndOfRun::on(Rank from, Wave&& m) { comm_.send(from, wave_answer(m.number)); }

void EndOfRun::on(Rank, WaveAnswer&& m) {
  if (m.rests) pace_ = std::min<Clock::duration>(pace_, kPaceOfRest);
  switch (waves_.answer(m.number, {m.idle, m.sent, m.received, m.rests})) {
    case protocol::Waves::Verdict::waiting:
      return;
    case protocol::Waves::Verdict::busy:
      next_wave_ = Clock::now() + pace_;
      pace_ = std::min<Clock::duration>(pace_ * 2, kSlowestPace);
      return;
    case protocol::Waves::Verdict::ask_again:
      next_wave_ = Clock::time_point{};
      return;
    case protocol::Waves::Verdict::rests:
      for (std::int32_t r = 1; r < facts_.ranks; ++r) comm_.send(Rank{r}, MakeMore{});
      next_wave_ = Clock::now() + kFirstPace;
      return crew_.call();
    case protocol::Waves::Verdict::quiet:
      if (root_finished_.load()) return;
      asked_waiting_ = true;
      stuck_ = std::make_unique<StuckReport>(facts_.program);
      waiting_answers_ = static_cast<std::size_t>(facts_.ranks);
      for (std::int32_t r = 1; r < facts_.ranks; ++r) comm_.send(Rank{r}, AskWaiting{});
      on(Rank{0}, AskWaiting{});
  }
}

void EndOfRun::on(Rank from, AskWaiting&& m) {
  const auto answer = std::make_shared<Waiting>();
  aside(
      [this, answer, asked = std::move(m)] {
        if (waiting_here_ == nullptr) waiting_here_ = std::make_unique<WaitingHere>(look_());
        *answer = asked.describe.empty() ? waiting_here_->list() : waiting_here_->describe(asked);
      },
      [this, from, answer] { leads() ? on(Rank{0}, std::move(*answer)) : comm_.send(from, *answer); });
}

void EndOfRun::on(Rank from, Waiting&& m) {
  listed_ ? stuck_->described(from, m) : stuck_->listed(from, m);
  if (--waiting_answers_ > 0) return;
  if (std::exchange(listed_, true)) return tell_stuck();
  const auto questions = std::make_shared<std::map<Rank, AskWaiting>>();
  aside([this, questions] { *questions = stuck_->questions(); },
        [this, questions] {
          waiting_answers_ = questions->size();
          if (waiting_answers_ == 0) return tell_stuck();
          for (auto& [rank, question] : *questions) {
            if (rank != Rank{0}) comm_.send(rank, question);
          }
          if (questions->contains(Rank{0})) on(Rank{0}, std::move(questions->at(Rank{0})));
        });
}

void EndOfRun::tell_stuck() {
  flush_output();
  tell(facts_.options, stuck_->text());
  stop_all(kExitProgram);
}

void EndOfRun::on(Rank, Failed&& m) {
  if (stopped_) return;
  flush_output();
  if (!m.text.empty()) tell(facts_.options, m.text + "\n");
  run_failed_.store(true);
  stop_all(m.exit_code);
}

void EndOfRun::on(Rank, Stop&& m) { stop(m.exit_code); }

}  // namespace tessera::runtime
