// What the root and the leaves of `hierarchical` say to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// A transfer between groups that one side's numbers include, and the work (ns) that it ordered for it
// (giving side).
struct TransferSeen {
  std::uint64_t transfer = 0;
  Time given = 0;
  friend bool operator==(const TransferSeen&, const TransferSeen&) = default;
};
// leaf -> root: its group as a whole.
struct GroupReport {
  Time load = 0;                   // ns of work: ready, running and on its way
  Time movable = 0;                // the part of it that may go elsewhere
  std::int64_t fragments = 0;      // in `movable`
  double capacity = 0;             // threads times relative speed of all that take work
  std::vector<TransferSeen> seen;  // transfers that the numbers above include
  friend bool operator==(const GroupReport&, const GroupReport&) = default;
};
// root -> leaf: the leaf may send its next report.
struct GroupReportSeen {
  friend bool operator==(const GroupReportSeen&, const GroupReportSeen&) = default;
};
// root -> receiving leaf: `count` fragments of about `weight` ns each are to come
// from the group of leaf `giver`.
struct GroupInvite {
  std::uint64_t transfer = 0;
  Rank giver{-1};
  std::int64_t count = 0;
  Time weight = 0;
  friend bool operator==(const GroupInvite&, const GroupInvite&) = default;
};
// receiving leaf -> giving leaf: who takes how many of them.
struct RankCount {
  Rank rank{-1};
  std::int64_t count = 0;
  friend bool operator==(const RankCount&, const RankCount&) = default;
};
struct GroupNeed {
  std::uint64_t transfer = 0;
  Time weight = 0;
  std::vector<RankCount> receivers;
  friend bool operator==(const GroupNeed&, const GroupNeed&) = default;
};
// giving leaf -> receiving leaf: one order of the transfer was carried out, with
// this; `last`: no more will come.
struct GroupSent {
  std::uint64_t transfer = 0;
  std::uint64_t ticket = 0;  // 0: no order, only the end
  Rank from{-1};
  Rank to{-1};
  std::vector<GroupCount> fragments;
  std::int64_t bytes = 0;
  bool last = false;
  friend bool operator==(const GroupSent&, const GroupSent&) = default;
};

// One line of a transcript.
std::string text(const GroupReport&);
std::string text(const GroupReportSeen&);
std::string text(const GroupInvite&);
std::string text(const GroupNeed&);
std::string text(const GroupSent&);

}  // namespace tessera::balancer
