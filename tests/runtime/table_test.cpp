#include "runtime/data/table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tessera::runtime {
namespace {

// A shard against std::set under random insertions and removals, with keys that crowd together.
TEST(Shard, AgreesWithASet) {
  std::mt19937 random(1);
  Shard shard;
  std::set<std::uint64_t> model;
  for (int step = 0; step < 200000; ++step) {
    const std::uint64_t key = random() % 700 * 16;  // collide in the low bits
    const abi::Id id{key, 5};
    if (random() % 2 == 0) {
      if (model.insert(key).second) {
        ASSERT_EQ(shard.find(id), nullptr);
        shard.insert(id, 0);
      }
    } else {
      DfEntry* e = shard.remove(id);
      ASSERT_EQ(e != nullptr, model.erase(key) == 1);
      if (e != nullptr) free_entry(e);
    }
    ASSERT_EQ(shard.find(id) != nullptr, model.count(key) == 1);
  }
  std::size_t seen = 0;
  shard.for_each([&](DfEntry& e) { seen += model.count(e.id.lo); });
  EXPECT_EQ(seen, model.size());
}

TEST(Shard, SameLowHalfIsAnotherFragment) {
  Shard shard;
  DfEntry* a = shard.insert({1, 1}, 0);
  DfEntry* b = shard.insert({1, 2}, 0);
  EXPECT_EQ(shard.find({1, 1}), a);
  EXPECT_EQ(shard.find({1, 2}), b);
  EXPECT_EQ(shard.find({1, 3}), nullptr);
}

}  // namespace
}  // namespace tessera::runtime
