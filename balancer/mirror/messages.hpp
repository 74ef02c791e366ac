// What the ranks of `mirror` tell each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// a rank -> all others: its row of the state table.
struct MirrorState {
  double speed = 1;        // power times threads: work units per ns
  double tasks = 1;        // that share its cores, itself included; smoothed
  std::int64_t units = 0;  // assigned and not begun: ns of one thread on a rank of power 1
  friend bool operator==(const MirrorState&, const MirrorState&) = default;
};
// a rank that ran dry -> one of the others: give me some of yours.
struct MirrorRequest {
  std::uint64_t number = 0;  // to recognise late refusals
  double speed = 1;
  double tasks = 1;
  bool idle = false;      // nothing runs at the asker; else it asks ahead
  std::int64_t done = 0;  // it has run so many units, which it still has to post-process
  friend bool operator==(const MirrorRequest&, const MirrorRequest&) = default;
};
// the answer to a request when there is too little to give.
struct MirrorRefusal {
  std::uint64_t number = 0;
  friend bool operator==(const MirrorRefusal&, const MirrorRefusal&) = default;
};

// One line of a transcript.
std::string text(const MirrorState&);
std::string text(const MirrorRequest&);
std::string text(const MirrorRefusal&);

}  // namespace tessera::balancer
