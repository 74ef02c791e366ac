// What the workers and the coordinator of `central` say to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// Tickets of thefts that a coordinator hears of have the highest bit and the number of the rank that they were taken
// from; those of orders have not.
inline constexpr std::uint64_t kTheft = std::uint64_t{1} << 63;
constexpr std::uint64_t theft_from(Rank from) { return kTheft | static_cast<std::uint64_t>(index(from)) << 40; }
constexpr bool is_theft(std::uint64_t ticket) { return (ticket & kTheft) != 0; }
constexpr Rank taken_from(std::uint64_t theft) { return Rank{static_cast<std::int32_t>((theft & ~kTheft) >> 40)}; }

// worker -> coordinator: this worker's state, coalesced.
struct Report {
  std::vector<GroupLoad> ready;     // absolute, changed groups only
  std::vector<GroupDone> finished;  // since the last report
  bool idle = false;
  std::int32_t workers = 1;            // threads that run fragments there
  Time unmoved = 0;                    // ns of ready work in groups that are never reported
  std::vector<std::uint64_t> arrived;  // tickets of shipments that came in since the last report;
                                       // `ready` includes them
  friend bool operator==(const Report&, const Report&) = default;
};
// coordinator -> worker: the worker may send its next report.
struct ReportSeen {
  Time hold = 0;  // ns to wait before it, unless the worker goes idle
  friend bool operator==(const ReportSeen&, const ReportSeen&) = default;
};
// coordinator -> source worker: ship these to `to`.
struct Order {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  friend bool operator==(const Order&, const Order&) = default;
};
// source worker -> coordinator: what the order really moved, or what a thief has taken (`auto`).
struct Confirm {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  std::int64_t bytes = 0;
  friend bool operator==(const Confirm&, const Confirm&) = default;
};
// worker -> coordinator: a measured link of this worker.
struct LinkReport {
  Rank peer{-1};  // -1: what this worker sees towards anybody
  Time latency = 0;
  double bandwidth = 0;
  friend bool operator==(const LinkReport&, const LinkReport&) = default;
};

// One line of a transcript.
std::string text(const Report&);
std::string text(const ReportSeen&);
std::string text(const Order&);
std::string text(const Confirm&);
std::string text(const LinkReport&);

}  // namespace tessera::balancer
