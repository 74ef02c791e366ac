// Ids: no two names collide on the shapes programs really use, and they never change.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::abi {
namespace {

bool less(const Id& a, const Id& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }

TEST(Identity, IsFrozen) {
  const Id x = mix(mix(Id{1, 2}, 3), 4);
  EXPECT_EQ(x, mix(mix(Id{1, 2}, 3), 4));
  EXPECT_FALSE(x == mix(mix(Id{1, 2}, 4), 3));
}

TEST(Identity, GridsDoNotCollide) {
  std::vector<Id> ids;
  const Id root{7, 9};
  for (std::uint64_t s = 0; s < 4; ++s) {
    const Id name = mix(root, s);
    for (std::int64_t i = -300; i < 300; ++i) {
      const Id row = mix(name, static_cast<std::uint64_t>(i));
      ids.push_back(row);
      for (std::int64_t j = -300; j < 300; ++j) ids.push_back(mix(row, static_cast<std::uint64_t>(j)));
    }
  }
  std::sort(ids.begin(), ids.end(), less);
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

// The low bits choose the slot in a table: neighbours must spread.
TEST(Identity, NeighboursSpreadOverSlots) {
  const Id x = mix(Id{1, 1}, 0);
  std::vector<int> slots(1024);
  for (std::uint64_t i = 0; i < 1024 * 64; ++i) ++slots[mix(x, i).lo & 1023];
  const auto [least, most] = std::minmax_element(slots.begin(), slots.end());
  EXPECT_GT(*least, 20);
  EXPECT_LT(*most, 120);
  std::vector<int> shards(256);
  for (std::uint64_t i = 0; i < 256 * 64; ++i) ++shards[mix(x, i).hi >> 56];
  const auto [low, high] = std::minmax_element(shards.begin(), shards.end());
  EXPECT_GT(*low, 20);
  EXPECT_LT(*high, 120);
}

}  // namespace
}  // namespace tessera::abi
