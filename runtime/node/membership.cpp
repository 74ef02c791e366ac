#include "runtime/node/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "runtime/balance/policy_host.hpp"
#include "runtime/control/control_point.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/report/status_board.hpp"
#include "runtime/start/agreement.hpp"

namespace tessera::runtime {
namespace {

// Set by signals. The handler may only touch these and ring the transport's bell, which is an
// atomic and a system call.
std::atomic<bool> wants_to_leave{false}, wants_to_join{false};
std::atomic<Transport*> to_wake{nullptr};

void on_member_signal(int number) {
  const int error = errno;
  (number == SIGUSR1 ? wants_to_leave : wants_to_join).store(true);
  if (Transport* t = to_wake.load()) t->wake();
  errno = error;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_member_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
}

// A rank that is told to leave while it starts must not die of it; the wish waits. When this library is loaded, since
// MPI takes its time to start.
[[gnu::constructor]] void catch_signals_of_start() {
  if (started_by_launcher()) catch_signals();
}

}  // namespace

void catch_member_signals(Transport& transport) {
  to_wake.store(&transport);
  catch_signals();
}

void ignore_member_signals() {
  for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, SIG_IGN);
  to_wake.store(nullptr);
}

Membership::~Membership() = default;

void Membership::listen() {
  control_ = std::make_unique<ControlPoint>(
      fmt::format("{} on {} rank{}", node_.facts.program.name, node_.ranks(), node_.ranks() == 1 ? "" : "s"),
      [](void* transport) { static_cast<Transport*>(transport)->wake(); }, &node_.transport);
}

void Membership::stop_listening() { control_.reset(); }

Membership::Membership(Node& node) : node_(node), start_(Clock::now()) {
  if (node_.self() != Rank{0}) return;
  plan_ = node_.facts.options.member_plan;
  std::stable_sort(plan_.begin(), plan_.end(), [](const MemberPlan& a, const MemberPlan& b) { return a.at > b.at; });
}

// Empty: nothing speaks against it.
std::string Membership::refusal(Rank rank, bool joins) const {
  const Members& members = node_.members;
  const std::int32_t r = balancer::index(rank);
  if (r < 0 || r >= node_.ranks()) {
    return fmt::format("there is no rank {}: this run has ranks 0 to {}", r, node_.ranks() - 1);
  }
  const std::string name = rank_name(rank, node_.facts.hosts);
  if (r >= members.workers()) {
    return fmt::format(
        "{} coordinates ({}) and runs no fragments, so it can neither leave nor "
        "join; with --set coordinator=colocated the last rank works as well and can leave",
        name, node_.facts.policy.name);
  }
  if (joins) return members.takes_part(rank) ? name + " takes part already" : "";
  if (!members.takes_part(rank)) return name + " takes no part now";
  bool replaced = false;
  for (std::int32_t s = members.placed(); s < members.workers(); ++s) {
    replaced = replaced || (Rank{s} != rank && !members.takes_part(Rank{s}));
  }
  if (!replaced && members.others(rank).empty()) {
    return name + " is the last one that runs fragments: it can't leave";
  }
  return "";
}

void Membership::request(Rank rank, bool joins, const Answer& to) {
  if (const std::string why = refusal(rank, joins); !why.empty()) return to(why, false, true);
  if (joins) {
    // Whoever still waits for it to have left waits in vain.
    answer_all(rank, rank_name(rank, node_.facts.hosts) + " was asked to join again before it had left", false);
    change(rank, true);
    return to(rank_name(rank, node_.facts.hosts) + " joins", true, true);
  }
  // A spare takes the place of the rank: first, so that there is always somebody to send to.
  std::string text = rank_name(rank, node_.facts.hosts) + " leaves";
  const Members& members = node_.members;
  for (std::int32_t s = members.placed(); s < members.workers(); ++s) {
    if (Rank{s} == rank || members.takes_part(Rank{s})) continue;
    change(Rank{s}, true);
    text += ", spare " + rank_name(Rank{s}, node_.facts.hosts) + " joins";
    break;
  }
  waiting_.emplace(rank, to);
  to(text, true, false);
  change(rank, false);
}

void Membership::change(Rank rank, bool joins) {
  for (std::int32_t r = 1; r < node_.ranks(); ++r) {
    node_.comm.send(Rank{r}, MemberChange{rank, joins});
  }
  on(Rank{0}, MemberChange{rank, joins});
}

void Membership::on(Rank, AskChange&& m) {
  request(m.rank, m.joins, [this](const std::string& text, bool, bool) { announce(text); });
}

void Membership::on(Rank, MemberChange&& m) {
  const bool first = node_.members.steady();
  node_.members.set(m.rank, m.joins);
  if (first) node_.data.ask_for_all();
  if (m.joins && m.rank == node_.self()) node_.evacuation->end();
  if (node_.policy != nullptr) node_.policy->member(m.rank, m.joins);
  // What the policy does not give away by itself goes now.
  if (!m.joins && m.rank == node_.self()) node_.evacuation->begin();
}

void Membership::on(Rank from, Left&& m) {
  const std::string text = fmt::format(
      "{} has left: {} fragments and {} values ({} bytes) went to others; {} names stay in "
      "its "
      "directory, with {} bytes of small values",
      rank_name(from, node_.facts.hosts), m.fragments, m.values, m.bytes, m.names_kept, m.bytes_kept);
  answer_all(from, text, true);
}

void Membership::answer_all(Rank rank, const std::string& text, bool accepted) {
  const auto [first, last] = waiting_.equal_range(rank);
  for (auto at = first; at != last; ++at) at->second(text, accepted, true);
  waiting_.erase(first, last);
}

void Membership::announce(const std::string& text) const {
  if (!node_.facts.options.quiet) std::fprintf(stderr, "tessera: %s\n", text.c_str());
}

void Membership::turn(Clock::time_point now) {
  // In one process there are several ranks and no telling which one is meant: no signals are
  // caught.
  for (const bool joins : {false, true}) {
    std::atomic<bool>& wish = joins ? wants_to_join : wants_to_leave;
    if (!wish.load(std::memory_order_relaxed) || !wish.exchange(false)) continue;
    if (node_.self() == Rank{0}) {
      on(Rank{0}, AskChange{node_.self(), joins});
    } else {
      node_.comm.send(Rank{0}, AskChange{node_.self(), joins});
    }
  }
  if (control_ != nullptr) {
    for (const ControlPoint::Request& r : control_->take()) {
      if (r.verb == ControlPoint::Verb::status || r.verb == ControlPoint::Verb::waits) {
        node_.observing->status()->ask(r.verb == ControlPoint::Verb::waits, [this, r](const std::string& text) {
          if (control_ != nullptr) control_->answer(r.connection, true, text, true);
        });
        continue;
      }
      request(r.rank, r.verb == ControlPoint::Verb::join, [this, r](const std::string& text, bool accepted, bool last) {
        if (control_ != nullptr) control_->answer(r.connection, accepted, text, last);
      });
    }
  }
  while (!plan_.empty() && start_ + plan_.back().at <= now) {
    const MemberPlan p = plan_.back();
    plan_.pop_back();
    on(Rank{0}, AskChange{p.rank, p.joins});
  }
}

Clock::time_point Membership::next(Clock::time_point now) const {
  return plan_.empty() ? now + std::chrono::hours(1) : start_ + plan_.back().at;
}

}  // namespace tessera::runtime
