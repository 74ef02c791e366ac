#include "runtime/node/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "runtime/node/end_of_run.hpp"
#include "runtime/node/node.hpp"
#include "runtime/start/agreement.hpp"

namespace tessera::runtime {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// Of very many ranks each is asked less often.
constexpr std::int64_t kPerRank = kSecond / 1000;

Silence::Settings settings_of(const Node& node) {
  Silence::Settings s;
  s.period = std::max(kSecond, kPerRank * node.ranks());
  s.end_after = node.options.silence_limit * kSecond;
  return s;
}

Silence::Time since_epoch(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

Watch::Watch(Node& node, Clock::time_point now)
    : node_(node), silence_(node.self(), node.ranks(), settings_of(node), since_epoch(now)) {}

Clock::time_point Watch::next() const { return Clock::time_point(std::chrono::nanoseconds(silence_.next())); }

void Watch::turn(Clock::time_point now) {
  if (now >= next()) carry_out(silence_.tick(since_epoch(now)));
}

void Watch::on(Rank from, Beat&& m) {
  if (!node_.end->stopped()) carry_out(silence_.heard(from, m.kind));
}

void Watch::carry_out(const Silence::Actions& actions) {
  for (const Silence::Action& a : actions) {
    const std::string who = a.what == Silence::Action::What::send ? "" : rank_names(a.ranks, node_.hosts);
    const char* has = a.ranks.size() == 1 ? "has" : "have";
    const std::int64_t seconds = a.silent / kSecond;
    switch (a.what) {
      case Silence::Action::What::send:
        for (const Rank to : a.ranks) node_.comm.send(to, Beat{a.kind});
        break;
      case Silence::Action::What::say:
        if (node_.options.quiet) break;
        std::fprintf(stderr,
                     "tessera: warning: %s %s been silent for %ld s: stopped (by a debugger, by SIGSTOP), or the host "
                     "is overloaded or out of reach. "
                     "The run waits%s\n",
                     who.c_str(), has, static_cast<long>(seconds),
                     node_.options.silence_limit > 0
                         ? fmt::format(" up to {} s (--silence-limit)", node_.options.silence_limit).c_str()
                         : "; --silence-limit SECONDS would end it");
        break;
      case Silence::Action::What::again:
        if (!node_.options.quiet)
          std::fprintf(stderr, "tessera: %s answers again, after %ld s\n", who.c_str(), static_cast<long>(seconds));
        break;
      case Silence::Action::What::end:
        std::fprintf(stderr, "tessera: error: %s %s been silent for %ld s: the run ends (--silence-limit %ld)\n",
                     who.c_str(), has, static_cast<long>(seconds), static_cast<long>(node_.options.silence_limit));
        node_.transport.abort(kExitEnvironment);
    }
  }
}

}  // namespace tessera::runtime
