// The order in which a rank takes what is ready, in the live ready queue and in the simulator's.
//
// Of several groups the one that became ready last runs first. Where there is a balancer, one that is much lighter goes
// before it, for it may be what others wait for; until there is plenty to share out.
#pragma once

#include <cstdint>

namespace tessera::balancer {

inline constexpr double kMuchLighter = 4;               // times
inline constexpr std::int64_t kPlenty = 4;              // ready fragments of the group, for each rank; or
inline constexpr std::int64_t kPlentyBytes = 64 << 20;  // their inputs, in bytes

// So many ready fragments the balancer is to see before a rank runs any that makes no others.
inline constexpr std::int64_t kVisible = 4096;
// So many of a group are looked at for those whose inputs are near.
inline constexpr std::int64_t kSeen = 256;
// An input below this many bytes decides where a fragment goes only if it is one of a series, whose neighbours are
// asked for it in each step.
inline constexpr std::uint64_t kLargeInput = 4096;

// next_group returns the group to run next: `newest`, which became ready last and of which there is not plenty, or the
// lightest of those much lighter. `older(f)` calls f(group) for the other ready groups, the later ones first;
// `weight(group)` is the mean one.
template <class Group, class Older, class Weight>
Group next_group(Group newest, Older older, Weight weight) {
  Group lightest = newest;
  double least = weight(newest) / kMuchLighter;
  older([&](Group g) {
    if (const double w = weight(g); w < least) {
      lightest = g;
      least = w;
    }
  });
  return lightest;
}

}  // namespace tessera::balancer
