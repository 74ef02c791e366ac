// LogCheck: could the host of a policy have told this? A policy trusts its host: it indexes lists by group and by
// rank, and loops over counts. A log may be damaged, so all that is read from one is checked here, before a policy sees
// it.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "balancer/policy.hpp"
#include "runtime/record/json_archive.hpp"

namespace tessera::runtime {

// LogBounds is an archive (json_archive.hpp) that only looks: at ranks, groups and numbers wherever they stand. Throws
// std::runtime_error.
class LogBounds {
 public:
  static constexpr std::int64_t kMost = std::int64_t{1} << 53;         // bytes, ns: 104 days
  static constexpr std::int64_t kMostCounted = std::int64_t{1} << 40;  // fragments
  static constexpr std::int32_t kMostRanks = 1 << 20;

  LogBounds(std::int32_t ranks, std::size_t groups) : ranks_(ranks), groups_(groups) {}

  template <class... T>
  void operator()(T&... x) {
    (look(x), ...);
  }

  static void number(std::int64_t x, std::int64_t least, std::int64_t most, const char* what) {
    if (x < least || x > most) {
      throw std::runtime_error(std::string(what) + " is " + std::to_string(x) + "; it is " + std::to_string(least) +
                               " to " + std::to_string(most));
    }
  }

 private:
  void look(balancer::Rank& x) { number(balancer::index(x), nobody_ ? -1 : 0, ranks_ - 1, "a rank"); }
  void look(balancer::Group& x) { number(balancer::index(x), 0, static_cast<std::int64_t>(groups_) - 1, "a group"); }
  void look(balancer::GroupCount& x) { counted(x, x.count); }
  void look(balancer::GroupLoad& x) { counted(x, x.ready); }
  void look(balancer::GroupDone& x) { counted(x, x.count); }
  void look(balancer::RankCount& x) { counted(x, x.count); }
  void look(balancer::GroupInvite& x) { counted(x, x.count); }
  void look(balancer::GroupReport& x) { counted(x, x.fragments); }
  void look(balancer::ShareDone& x) { counted(x, x.units); }
  template <class T>
  void counted(T& x, std::int64_t fragments) {
    number(fragments, 0, kMostCounted, "a number of fragments");
    serialize(*this, x);
  }
  void look(balancer::Offspring& x) {
    number(static_cast<std::int64_t>(x), 0, static_cast<std::int64_t>(balancer::Offspring::some),
           "a kind of offspring");
  }
  // -1: towards anybody; of nobody, for it only says that it is the last.
  void look(balancer::LinkReport& x) {
    nobody_ = true;
    serialize(*this, x);
    nobody_ = false;
  }
  void look(balancer::GroupSent& x) {
    nobody_ = x.fragments.empty();
    serialize(*this, x);
    nobody_ = false;
  }
  void look(std::string&) {}
  template <class T>
  void look(std::vector<T>& x) {
    for (T& one : x) look(one);
  }
  template <class... T>
  void look(std::variant<T...>& x) {
    std::visit([this](auto& one) { this->look(one); }, x);
  }
  template <class T>
  void look(T& x) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::int32_t>) {
      number(x, -kMost, kMost, "a number");
    } else if constexpr (std::is_class_v<T>) {
      serialize(*this, x);
    }  // tickets and numbers of requests are only compared; reals may be anything
  }

  std::int32_t ranks_;
  std::size_t groups_;
  bool nobody_ = false;
};

class LogCheck {
 public:
  // Throws std::runtime_error, as everything here, with what cannot be, for a person.
  LogCheck(const balancer::PolicyInfo& info, balancer::Setup& s) : bounds_(s.ranks, s.groups.size()) {
    LogBounds::number(s.ranks, 1, LogBounds::kMostRanks, "the number of ranks");
    LogBounds::number(s.workers, 0, LogBounds::kMostRanks, "the number of workers");
    LogBounds::number(s.ship_cost, 0, LogBounds::kMost, "the cost of a shipment");
    bounds_(s.rank);
    for (balancer::GroupInfo& g : s.groups) {
      bounds_(g.body, g.below, g.profile_weight);
      LogBounds::number(g.profile_count, 0, LogBounds::kMostCounted, "a number of fragments");
    }
    if (balancer::executing_ranks(info, s.settings, s.ranks) < 1) {
      throw std::runtime_error("balancer `" + std::string(info.name) + "` needs more than " + std::to_string(s.ranks) +
                               " ranks");
    }
  }

  // A policy of this log is about to be told `event`.
  void told(balancer::Time now, balancer::Event& event) {
    LogBounds::number(now, 0, LogBounds::kMost, "the time");
    bounds_(event);
    if (const auto* shipped = std::get_if<balancer::Shipped>(&event)) answers(*shipped);
    if (const auto* fired = std::get_if<balancer::TimerFired>(&event); fired && timers_.erase(fired->timer) == 0) {
      throw std::runtime_error("timer " + std::to_string(fired->timer) + " was not set");
    }
  }

  // The policy has answered so.
  void answered(const balancer::Actions& actions) {
    for (const balancer::Action& a : actions) {
      if (const auto* ship = std::get_if<balancer::Ship>(&a)) ships_.push_back(*ship);
      if (const auto* set = std::get_if<balancer::SetTimer>(&a)) timers_.insert(set->timer);
      if (const auto* cancel = std::get_if<balancer::CancelTimer>(&a)) timers_.erase(cancel->timer);
    }
  }

 private:
  // Each order is carried out once, with no more than was ordered.
  void answers(const balancer::Shipped& done) {
    const auto order = std::find_if(ships_.begin(), ships_.end(), [&](const balancer::Ship& s) {
      return s.ticket == done.ticket && s.to == done.to;
    });
    if (order == ships_.end()) {
      throw std::runtime_error("nothing was to be shipped with ticket " + std::to_string(done.ticket) + " to rank " +
                               std::to_string(balancer::index(done.to)));
    }
    for (const balancer::GroupCount& f : done.fragments) {
      std::int64_t ordered = 0;
      for (const balancer::GroupCount& o : order->fragments) ordered += o.group == f.group ? o.count : 0;
      LogBounds::number(f.count, 0, ordered, "a number of fragments that were shipped");
    }
    ships_.erase(order);
  }

  LogBounds bounds_;
  std::vector<balancer::Ship> ships_;  // not carried out yet
  std::set<std::uint32_t> timers_;     // set, and not fired
};

}  // namespace tessera::runtime
