// How a rank ends.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/balance/policy_host.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/node/interrupts.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/node/results.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/report/unread.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/start/caller.hpp"
#include "runtime/trace/trace_seal.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

// How long a failed run waits for kernels to return before the process ends without them.
constexpr auto kGrace = std::chrono::seconds(1);
// ... one that a signal has ended before what was measured is taken without them: mpirun may wait for a second in all.
constexpr auto kGraceOfSignal = std::chrono::milliseconds(200);

// What runs yet counts as far as it has come.
void weigh_running(const abi::Program& program, Totals& t) {
  for (const auto& f : t.now.running) {
    for (GroupTotals& g : t.groups) {
      if (g.group != f.group || !calls_kernel(program, g.group)) continue;
      ++g.count, ++t.finished;
      g.weight += (f.seconds * 1e9 - g.weight) / static_cast<double>(g.count);
    }
  }
}

// A loop in a loop is skipped by each rank that goes through it; all together they recall what the journal has.
std::vector<Totals> recalled_once(std::vector<Totals> by_rank, const journal::Journal* journal) {
  auto left =
      static_cast<std::int64_t>(journal == nullptr || journal->known() == nullptr ? 0 : journal->known()->recalled);
  for (Totals& t : by_rank) left -= t.recalled = std::min(t.recalled, left);
  return by_rank;
}

}  // namespace

// How a rank ends:
//   well         all workers leave; totals and traces go to rank 0, which writes the results
//   badly        it ends the process when a worker does not leave
//   by a signal  as when well, but with what was measured so far: a worker that does not leave is left where it is, and
//                the others wait for rank 0, since mpirun ends all when one has ended
int Node::finish(int exit_code) {
  const bool signalled = by_signal(exit_code);
  if (exit_code == 0) await_children();
  stopping.store(true);
  if (exit_code != 0) failed.store(true);
  crew.sleepers.wake_all();
  transport.wake();
  const auto sink = [this](Rank from, Parcel&& p) { handle(from, decode(std::move(p))); };
  if (exit_code != 0) {
    const auto deadline = Clock::now() + (signalled ? kGraceOfSignal : Clock::duration(kGrace));
    while (!all_workers_left() && Clock::now() < deadline) {
      sleep_for(std::chrono::milliseconds(1));
      crew.sleepers.wake_all();
      transport.wake();
    }
    if (!all_workers_left() && !signalled) {
      flush_all();
      transport.abort(exit_code);
    }
  }
  const bool all_left = !signalled || all_workers_left();
  if (all_left) {
    for (auto& w : crew.workers) w->thread.join();
    if (biased_) bias::end();
  } else {
    seal_traces();
  }
  // A run that has come to its end is not gone on with; but where tests look at what such a one would find.
  if (journal != nullptr && !signalled) journal->stop(exit_code != 0 || simulation != nullptr);
  // Only now: a worker may have held the communication role, and been in the middle of a turn.
  membership->stop_listening();
  observing->clear_line();
  Totals own = observing->own(all_left);
  if (!all_left) {
    own.final = true;
    weigh_running(facts.program, own);
    own.held = held->most();
    std::erase_if(own.groups, [](const GroupTotals& g) { return g.count == 0; });
  }
  observing->give(std::move(own));
  if ((exit_code == 0 || signalled) && !facts.options.record.empty()) observing->give_trace(exit_code == 0);
  // A failed run must not wait for a kernel that never returns, on whichever rank it is; and none for a rank that has
  // died or stands still just before the end, if it may not be silent for ever. Rank 0 is the first to say so.
  Clock::duration patience = 3 * kGrace;
  if (exit_code == 0) patience = std::chrono::seconds(facts.options.silence_limit + (facts.first() ? 0 : 1));
  std::atomic<bool> passed{false};
  Thread guard;
  if (exit_code != 0 || (facts.options.silence_limit > 0 && observing->watches())) {
    guard = Thread([&] {
      const auto deadline = Clock::now() + patience;
      while (!passed.load() && Clock::now() < deadline) {
        sleep_for(std::chrono::milliseconds(5));
      }
      if (passed.load()) return;
      if (exit_code == 0) {
        std::vector<Rank> missing = facts.first() ? observing->totals().missing() : std::vector{Rank{0}};
        std::fprintf(stderr,
                     "tessera: error: the program has come to its end, but %s %s silent since then: the run ends "
                     "(--silence-limit %ld)\n",
                     missing.empty() ? "a rank" : rank_names(missing, facts.hosts).c_str(),
                     missing.size() > 1 ? "have been" : "has been", static_cast<long>(facts.options.silence_limit));
      }
      flush_all();
      transport.abort(exit_code == 0 ? kExitEnvironment : exit_code);
    });
  }
  transport.barrier([&](Rank from, Parcel&& p) {
    if (facts.options.caller == nullptr || !keep_end(*facts.options.caller, p)) sink(from, std::move(p));
  });
  passed.store(true);
  if (guard.joinable()) guard.join();
  // Ranks of one process have one stdout, whose locks one of them takes away where nobody gives them back.
  const bool own_stdout = facts.first() || facts.options.transport != "inproc";
  if (own_stdout && flush_at_end() && !facts.options.quiet) {
    std::fputs("tessera: warning: a kernel has locked stdout or stderr (flockfile) and not unlocked it\n", stderr);
  }
  int code = exit_code;
  if (facts.first() && (exit_code == 0 || signalled)) {
    if (!facts.options.quiet && exit_code == 0) {
      std::fputs(unread_report(facts.program, observing->totals().by_rank()).c_str(), stderr);
    }
    if (exit_code == 0 && tell_over != nullptr) tell_over();
    const std::vector<Totals> ranks = recalled_once(observing->totals().by_rank(), journal.get());
    const int wrote = write_results(observing->over(ranks, *links, signalled));
    if (exit_code == 0) code = wrote;
  }
  if (signalled) {
    transport.barrier(sink);
    if (journal != nullptr) journal->stop(true);
  }
  if (policy == nullptr) return code;
  const std::string wrong = policy->close();
  if (wrong.empty()) return code;
  std::fprintf(stderr, "tessera: error: %s\n", wrong.c_str());
  return code == kExitOk ? kExitEnvironment : code;
}

bool Node::all_workers_left() const { return left_.load() == static_cast<std::int32_t>(crew.workers.size()); }

}  // namespace tessera::runtime
