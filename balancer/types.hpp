// Words shared by every policy.
#pragma once

#include <cstdint>

namespace tessera::balancer {

using Time = std::int64_t;  // nanoseconds; absolute times count from the start of the run

enum class Rank : std::int32_t {};
enum class Group : std::uint32_t {};

constexpr std::int32_t index(Rank r) { return static_cast<std::int32_t>(r); }
constexpr std::uint32_t index(Group g) { return static_cast<std::uint32_t>(g); }

struct GroupCount {
  Group group;
  std::int64_t count;
  friend bool operator==(const GroupCount&, const GroupCount&) = default;
};

// Ready fragments of one group on one rank. `bytes` is the sum over them of the input bytes that
// would have to travel with them (a value that several use counts once), and of
// what their like has produced so far, which mostly travels on. A range of a `for` counts as its remaining iterations.
struct GroupLoad {
  Group group;
  std::int64_t ready;
  std::int64_t bytes;
  friend bool operator==(const GroupLoad&, const GroupLoad&) = default;
};

// Completed fragments of one group: how many, the sum of their weights (ns) and of their squares, and the bytes of
// what they have produced.
struct GroupDone {
  Group group;
  std::int64_t count;
  Time weight;
  double weight_squared;
  std::int64_t bytes = 0;
  friend bool operator==(const GroupDone&, const GroupDone&) = default;
};

// A fragment of a series: what is the same in each step of an iteration, by a number of the host's own. It belongs to
// the rank `home`, and runs there unless it has been settled elsewhere.
struct SeriesWork {
  std::uint64_t series;
  Group group;
  Rank home;
  Time weight;             // of one, ns
  std::int64_t bytes = 0;  // that one produces
  friend bool operator==(const SeriesWork&, const SeriesWork&) = default;
};
struct SeriesPlace {
  std::uint64_t series;
  Rank to;
  friend bool operator==(const SeriesPlace&, const SeriesPlace&) = default;
};

}  // namespace tessera::balancer
