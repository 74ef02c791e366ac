#include "tests/protocol/worlds.hpp"

#include "balancer/random.hpp"

namespace tessera::protocol {
namespace {

// With the limits of Setting.
constexpr std::uint64_t kStays = 1, kEager = 5, kNotEager = 50, kRelayed = 500, kLate = 5000;

}  // namespace

std::vector<Setting> large_worlds() {
  std::vector<Setting> worlds{
      {.name = "counted, large, moved twice, evicted",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kRelayed}, {.uses_known = true, .size = kEager}},
       .fragments =
           {{.makes = 3, .place = 1}, {.reads = 3, .place = 2}, {.reads = 3, .place = 0}, {.reads = 1, .place = 1}},
       .moves = 2,
       .evictions = 1},
      {.name = "counted late, moved to and fro",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kLate}, {.uses_known = true, .size = kNotEager}},
       .fragments = {{.makes = 1, .place = 0},
                     {.reads = 1, .makes = 2, .place = 1},
                     {.reads = 3, .place = 0},
                     {.reads = 1, .place = 2}},
       .moves = 3},
      {.name = "sent unasked to where the readers are placed",
       .ranks = 3,
       .names = {{.size = kEager, .deleted = true}, {.uses_known = true, .size = kRelayed, .awaited = true}},
       .fragments = {{.makes = 3, .place = 1},
                     {.reads = 3, .place = 2, .expects = 3},
                     {.reads = 2, .place = 1},
                     {.reads = 1, .place = 0, .expects = 1}},
       .moves = 2,
       .evictions = 1},
      {.name = "a delete of a large value that its readers pass on",
       .ranks = 3,
       .names = {{.size = kRelayed, .deleted = true}, {.size = kStays}},
       .fragments =
           {{.makes = 3, .place = 2}, {.reads = 1, .place = 1}, {.reads = 3, .place = 0}, {.reads = 1, .place = 2}},
       .moves = 2,
       .evictions = 1},
      {.name = "a rank leaves and joins again",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kRelayed}, {.size = kEager, .deleted = true}},
       .fragments = {{.makes = 3, .place = 1}, {.reads = 3, .place = 2}, {.reads = 1, .place = 0}},
       .moves = 1,
       .evictions = 1,
       .leaves = {2},
       .joins = true},
      {.name = "the home leaves",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kNotEager}, {.size = kRelayed}},
       .fragments = {{.makes = 3, .place = 1},
                     {.reads = 3, .place = 2, .expects = 1},
                     {.reads = 2, .place = 0},
                     {.reads = 1, .place = 1}},
       .moves = 1,
       .evictions = 1,
       .leaves = {0},
       .joins = true},
      {.name = "the maker's rank leaves",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kStays, .awaited = true}, {.uses_known = true, .size = kLate}},
       .fragments = {{.makes = 1, .place = 1},
                     {.reads = 1, .makes = 2, .place = 2},
                     {.reads = 3, .place = 1},
                     {.reads = 2, .place = 0}},
       .moves = 2,
       .evictions = 1,
       .leaves = {1}},
      {.name = "two ranks, three readers, moved four times",
       .ranks = 2,
       .names = {{.uses_known = true, .size = kRelayed}, {.uses_known = true, .size = kEager, .deleted = true}},
       .fragments =
           {{.makes = 3, .place = 1}, {.reads = 3, .place = 1}, {.reads = 3, .place = 0}, {.reads = 2, .place = 1}},
       .moves = 4,
       .evictions = 2,
       .leaves = {1},
       .joins = true},
      {.name = "a reader comes home with what its copies are being dropped of, and the home leaves",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kRelayed}},
       .fragments = {{.makes = 1, .place = 0}, {.reads = 1, .place = 1}, {.reads = 1, .place = 2}},
       .moves = 6,
       .evictions = 2,
       .leaves = {0}},
  };
  for (Setting& s : worlds) s.aheads = 1;
  return worlds;
}

std::vector<Setting> narrow_worlds() {
  return {
      {.name = "sent for before it is waited for, and read at home or elsewhere",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kNotEager}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 0}, {.reads = 1, .place = 2}},
       .moves = 1,
       .aheads = 2},
      {.name = "sent for before it is waited for, and its maker's rank leaves",
       .ranks = 2,
       .names = {{.size = kNotEager}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 0}},
       .moves = 1,
       .aheads = 2,
       .leaves = {1},
       .joins = true},
      {.name = "a reader moves to and fro with what is made and read on one rank only",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kEager}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 1}},
       .moves = 5,
       .evictions = 1},
      {.name = "a reader moves to and fro with what its home has dropped, and an old copy comes home",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kEager}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 0}},
       .moves = 6,
       .evictions = 1},
      {.name = "a reader has that and waits for something else when its rank leaves",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kEager}, {.size = kEager}},
       .fragments = {{.makes = 1, .place = 1}, {.makes = 2, .place = 0}, {.reads = 3, .place = 1}},
       .leaves = {1}},
      {.name = "the home leaves, and then who keeps the value for it",
       .ranks = 3,
       .names = {{.size = kNotEager}},
       .fragments = {{.makes = 1, .place = 0}, {.reads = 1, .place = 2}, {.reads = 1, .place = 1}},
       .moves = 1,
       .leaves = {0, 2}},
      {.name = "what was to come unasked does not, since the maker's rank leaves",
       .ranks = 3,
       .names = {{.size = kEager, .awaited = true}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 2, .expects = 1}, {.reads = 1, .place = 1}},
       .moves = 1,
       .leaves = {1}},
      {.name = "readers here and there, counted when they begin to run",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kLate}},
       .fragments =
           {{.makes = 1, .place = 1}, {.reads = 1, .place = 2}, {.reads = 1, .place = 0}, {.reads = 1, .place = 1}},
       .moves = 1},
      {.name = "readers that are not made after all",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kNotEager}},
       .fragments = {{.makes = 1, .place = 1},
                     {.place = 1, .takes_back = 1},
                     {.reads = 1, .place = 2, .expects = 1},
                     {.place = 2, .expects = 1, .takes_back = 1}},
       .moves = 1},
      {.name = "uses are taken back before and after the assignment, and nothing moves",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kEager}},
       .fragments = {{.makes = 1, .place = 0},
                     {.place = 1, .takes_back = 1},
                     {.place = 0, .takes_back = 1},
                     {.reads = 1, .place = 2}}},
      {.name = "nobody reads it after all, and the ranks that say so leave",
       .ranks = 3,
       .names = {{.uses_known = true, .size = kEager}},
       .fragments = {{.place = 1, .takes_back = 1}, {.makes = 1, .place = 2}, {.takes_back = 1}},
       .moves = 1,
       .leaves = {1, 0}},
      {.name = "counted, and deleted by who reads it last: at home, with what came along",
       .ranks = 2,
       .names = {{.uses_known = true, .size = kEager, .deleted = true}},
       .fragments = {{.makes = 1, .place = 1}, {.reads = 1, .place = 1}, {.reads = 1, .place = 1}},
       .moves = 4,
       .evictions = 1},
      {.name = "a large value is passed on by who has not got it yet",
       .ranks = 5,
       .names = {{.size = kRelayed}},
       .fragments = {{.makes = 1, .place = 0},
                     {.reads = 1, .place = 1},
                     {.reads = 1, .place = 2},
                     {.reads = 1, .place = 3},
                     {.reads = 1, .place = 4}}},
  };
}

Setting random_world(std::uint64_t seed) {
  balancer::Random random(seed), decides(seed + (std::uint64_t{1} << 40));
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<std::uint64_t>(n))); };
  constexpr std::uint64_t sizes[] = {kStays, kEager, kNotEager, kRelayed, kLate};
  Setting s;
  s.name = "seed " + std::to_string(seed);
  s.ranks = 2 + below(2);
  const int names = 1 + below(2), readers = 1 + below(3);
  for (int n = 0; n < names; ++n) {
    const bool counted = below(2) == 1;
    s.names.push_back({.uses_known = counted,
                       .size = sizes[below(5)],
                       .deleted = counted ? decides.below(3) == 0 : below(2) == 1,
                       .awaited = below(3) == 0});
  }
  if (names == 1 || below(2) == 0) {
    s.fragments.push_back({.makes = static_cast<std::uint8_t>((1 << names) - 1), .place = below(s.ranks)});
  } else {
    s.fragments.push_back({.makes = 1, .place = below(s.ranks)});
    s.fragments.push_back({.reads = static_cast<std::uint8_t>(below(2)), .makes = 2, .place = below(s.ranks)});
  }
  while (static_cast<int>(s.fragments.size()) < 1 + readers) {
    FragmentOf f{.reads = static_cast<std::uint8_t>(1 + below((1 << names) - 1)), .place = below(s.ranks)};
    f.expects = f.reads & static_cast<std::uint8_t>(below(4));
    for (int n = 0; n < names; ++n) {
      if (s.names[static_cast<std::size_t>(n)].uses_known && decides.below(6) == 0)
        f.takes_back |= static_cast<std::uint8_t>(1 << n);
    }
    s.fragments.push_back(f);
  }
  // The fewer fragments, the more can happen to them.
  s.moves = below(readers == 1 ? 6 : 3);
  s.evictions = below(2);
  s.aheads = static_cast<int>(seed % 3);
  if (below(2) == 1) {
    s.leaves.push_back(below(s.ranks));
    if (const int other = below(s.ranks); s.ranks == 3 && other != s.leaves[0] && below(2) == 1)
      s.leaves.push_back(other);
    s.joins = below(2) == 1;
  }
  if (below(3) == 0) s.limits.relay = 0;
  if (s.ranks == 3 && below(4) == 0) {
    s.spare = 2;
    std::erase(s.leaves, s.spare);
    for (FragmentOf& f : s.fragments) f.place %= s.spare;
  }
  return s;
}

Setting moving_world(std::uint64_t seed) {
  balancer::Random random(seed + (std::uint64_t{1} << 42));
  const auto below = [&](int n) { return static_cast<int>(random.below(static_cast<std::uint64_t>(n))); };
  constexpr std::uint64_t sizes[] = {kStays, kEager, kNotEager, kRelayed, kLate};
  Setting s;
  s.name = "moving seed " + std::to_string(seed);
  s.ranks = 2 + below(2);
  s.names.push_back({.uses_known = below(4) != 0, .size = sizes[below(5)], .deleted = below(3) == 0});
  s.fragments.push_back({.makes = 1, .place = below(s.ranks)});
  const int together = below(s.ranks);
  for (int readers = 1 + below(3); readers > 0; --readers)
    s.fragments.push_back({.reads = 1, .place = below(4) != 0 ? together : below(s.ranks)});
  s.moves = 6 - static_cast<int>(s.fragments.size()) + below(2);
  s.evictions = below(3);
  s.aheads = static_cast<int>(seed % 3);
  if (below(3) == 0) s.leaves.push_back(below(s.ranks));
  s.joins = !s.leaves.empty() && below(2) == 1;
  return s;
}

Setting deep_world(std::uint64_t seed) {
  Setting s = random_world(seed);
  balancer::Random random(seed + (std::uint64_t{1} << 41));
  s.name = "deep " + s.name;
  s.moves = 4 + static_cast<int>(random.below(20));
  s.evictions = static_cast<int>(random.below(6));
  s.aheads = static_cast<int>(seed % 4);
  return s;
}

}  // namespace tessera::protocol
