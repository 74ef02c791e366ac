#include "runtime/node/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "runtime/start/agreement.hpp"

namespace tessera::runtime {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Of very many ranks each is asked less often.
constexpr std::int64_t kPerRank = kSecond / 1000;

Silence::Settings settings_of(const RunFacts& facts) {
  Silence::Settings s;
  s.period = std::max(kSecond, kPerRank * facts.ranks);
  s.end_after = facts.options.silence_limit * kSecond;
  return s;
}

Silence::Time since_epoch(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

Watch::Watch(const RunFacts& facts, Communicator& comm, Transport& transport, Clock::time_point now)
    : facts_(facts),
      comm_(comm),
      transport_(transport),
      silence_(facts.self, facts.ranks, settings_of(facts), since_epoch(now)) {}

Clock::time_point Watch::next() const { return Clock::time_point(std::chrono::nanoseconds(silence_.next())); }

void Watch::turn(Clock::time_point now) {
  if (now >= next()) carry_out(silence_.tick(since_epoch(now)));
}

void Watch::on(Rank from, Beat&& m) { carry_out(silence_.heard(from, m.kind)); }

void Watch::carry_out(const Silence::Actions& actions) {
  for (const Silence::Action& a : actions) {
    const std::string who = a.what == Silence::Action::What::send ? "" : rank_names(a.ranks, facts_.hosts);
    const char* has = a.ranks.size() == 1 ? "has" : "have";
    const std::int64_t seconds = a.silent / kSecond;
    switch (a.what) {
      case Silence::Action::What::send:
        for (const Rank to : a.ranks) comm_.send(to, Beat{a.kind});
        break;
      case Silence::Action::What::say:
        if (facts_.options.quiet) break;
        std::fprintf(stderr,
                     "tessera: warning: %s %s been silent for %ld s: stopped (by a debugger, by SIGSTOP), or the host "
                     "is overloaded or out of reach. "
                     "The run waits%s\n",
                     who.c_str(), has, static_cast<long>(seconds),
                     facts_.options.silence_limit > 0
                         ? fmt::format(" up to {} s (--silence-limit)", facts_.options.silence_limit).c_str()
                         : "; --silence-limit SECONDS would end it");
        break;
      case Silence::Action::What::again:
        if (!facts_.options.quiet)
          std::fprintf(stderr, "tessera: %s answers again, after %ld s\n", who.c_str(), static_cast<long>(seconds));
        break;
      case Silence::Action::What::end:
        std::fprintf(stderr, "tessera: error: %s %s been silent for %ld s: the run ends (--silence-limit %ld)\n",
                     who.c_str(), has, static_cast<long>(seconds), static_cast<long>(facts_.options.silence_limit));
        transport_.abort(kExitEnvironment);
    }
  }
}

}  // namespace tessera::runtime
