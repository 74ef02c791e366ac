// What policies say to each other: plain structs, one closed variant. Tags (the variant index) are
// frozen by a test; append, never reorder.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// central, worker -> coordinator: this worker's state, coalesced.
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
// central, coordinator -> worker: the worker may send its next report.
struct ReportSeen {
  Time hold = 0;  // ns to wait before it, unless the worker goes idle
  friend bool operator==(const ReportSeen&, const ReportSeen&) = default;
};
// central, coordinator -> source worker: ship these to `to`.
struct Order {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  friend bool operator==(const Order&, const Order&) = default;
};
// central, source worker -> coordinator: what the order really moved.
struct Confirm {
  std::uint64_t ticket = 0;
  Rank to{-1};
  std::vector<GroupCount> fragments;
  std::int64_t bytes = 0;
  friend bool operator==(const Confirm&, const Confirm&) = default;
};
// central, worker -> coordinator: a measured link of this worker.
struct LinkReport {
  Rank peer{-1};  // -1: what this worker sees towards anybody
  Time latency = 0;
  double bandwidth = 0;
  friend bool operator==(const LinkReport&, const LinkReport&) = default;
};
// steal, thief -> victim.
struct StealRequest {
  std::uint64_t number = 0;  // the thief's request count, to recognise late answers
  bool idle = false;         // nothing runs at the thief; else it asks ahead
  friend bool operator==(const StealRequest&, const StealRequest&) = default;
};
// steal, victim -> thief: nothing to give now (default mode).
struct StealRefuse {
  std::uint64_t number = 0;
  friend bool operator==(const StealRefuse&, const StealRefuse&) = default;
};
// steal, thief -> victim: no longer needed (faithful mode).
struct StealRevoke {
  std::uint64_t number = 0;
  friend bool operator==(const StealRevoke&, const StealRevoke&) = default;
};
// steal, victim -> sleeping thief: there is something to steal again.
struct StealWake {
  friend bool operator==(const StealWake&, const StealWake&) = default;
};

using Message = std::variant<Report, ReportSeen, Order, Confirm, LinkReport, StealRequest,
                             StealRefuse, StealRevoke, StealWake>;

}  // namespace tessera::balancer
