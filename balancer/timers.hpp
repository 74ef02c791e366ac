// Timers: those that one policy has set. Setting one again replaces it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

struct Timer {
  std::uint32_t number = 0;  // the policy's own
  Time at = 0;
  std::uint64_t setting = 0;  // tells it from an earlier one of the same number
  friend bool operator==(const Timer&, const Timer&) = default;
};

class Timers {
 public:
  Timer set(std::uint32_t number, Time at) {
    cancel(number);
    return pending_.emplace_back(Timer{number, at, ++settings_});
  }
  void cancel(std::uint32_t number) {
    std::erase_if(pending_, [number](const Timer& t) { return t.number == number; });
  }
  // False: cancelled, or set anew.
  bool take(const Timer& t) {
    return std::erase_if(pending_, [&t](const Timer& p) { return p.number == t.number && p.setting == t.setting; }) !=
           0;
  }
  // The earliest; of several at one time the one that was set first.
  std::optional<Timer> next() const {
    const auto first =
        std::min_element(pending_.begin(), pending_.end(), [](const Timer& a, const Timer& b) { return a.at < b.at; });
    return first == pending_.end() ? std::nullopt : std::optional(*first);
  }

 private:
  std::vector<Timer> pending_;  // in the order they were set
  std::uint64_t settings_ = 0;
};

}  // namespace tessera::balancer
