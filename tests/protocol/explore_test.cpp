// All orders in which messages, moves, evictions and ranks that leave can come in small worlds: each reader gets its
// value, nothing is freed while it is needed or kept after its scope, every run ends. And: a machine that is broken is
// found out.
#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/protocol/broken.hpp"
#include "tests/protocol/worlds.hpp"

namespace tessera::protocol {

void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }
void PrintTo(const Broken& b, std::ostream* out) { *out << b.name; }

namespace {

const auto by_number = [](const auto& of) { return std::to_string(of.index); };

class LargeWorld : public testing::TestWithParam<Setting> {};

TEST_P(LargeWorld, HasNoWayToGoWrong) {
  const Found found = explore(GetParam(), real(), 1'000'000);
  EXPECT_EQ(found.wrong, "");
  EXPECT_TRUE(found.complete || found.states == 1'000'000);
  EXPECT_GT(found.states, 200'000);
  std::printf("%lld states%s\n", static_cast<long long>(found.states), found.complete ? ", all" : "");
}

INSTANTIATE_TEST_SUITE_P(Protocol, LargeWorld, testing::ValuesIn(large_worlds()), by_number);

class NarrowWorld : public testing::TestWithParam<Setting> {};

TEST_P(NarrowWorld, HasNoWayToGoWrong) {
  const Found found = explore(GetParam(), real(), 2'000'000);
  EXPECT_EQ(found.wrong, "");
  EXPECT_TRUE(found.complete);
  std::printf("%lld states\n", static_cast<long long>(found.states));
}

INSTANTIATE_TEST_SUITE_P(Protocol, NarrowWorld, testing::ValuesIn(narrow_worlds()), by_number);

TEST(RandomWorlds, HaveNoWayToGoWrong) {
  std::int64_t states = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Found found = explore(random_world(seed), real(), 20'000);
    states += found.states;
    ASSERT_EQ(found.wrong, "");
  }
  EXPECT_GT(states, 500'000);
}

TEST(MovingWorlds, HaveNoWayToGoWrong) {
  std::int64_t states = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Found found = explore(moving_world(seed), real(), 40'000);
    states += found.states;
    ASSERT_EQ(found.wrong, "");
  }
  EXPECT_GT(states, 500'000);
}

TEST(DeepWorlds, AreWalkedThroughToTheirEnds) {
  std::int64_t steps = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Setting world = deep_world(seed);
    for (std::uint64_t way = 0; way < 100; ++way) {
      const Found found = walk(world, real(), way);
      steps += found.states;
      ASSERT_EQ(found.wrong, "");
    }
  }
  EXPECT_GT(steps, 1'000'000);
  std::printf("%lld steps\n", static_cast<long long>(steps));
}

class BrokenMachine : public testing::TestWithParam<Broken> {};

// Where most faults show comes first, and in small portions: a fault that one world would show late, another shows
// soon.
TEST_P(BrokenMachine, IsFoundOut) {
  const auto wrong = [](const Found& found) {
    if (!found.wrong.empty()) std::printf("%s\nis found by %s", GetParam().name.c_str(), found.wrong.c_str());
    return !found.wrong.empty();
  };
  const auto walked = [&wrong](const std::vector<Setting>& worlds, std::uint64_t ways) {
    for (const Setting& world : worlds) {
      for (std::uint64_t way = 0; way < ways; ++way) {
        if (wrong(walk(world, GetParam().step, way))) return true;
      }
    }
    return false;
  };
  std::vector<Setting> deep, random;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) deep.push_back(deep_world(seed));
  for (std::uint64_t seed = 0; seed < 150; ++seed) random.push_back(random_world(seed));
  const auto explored = [&wrong](const std::vector<Setting>& worlds, std::int64_t most_states) {
    for (const Setting& world : worlds) {
      if (wrong(explore(world, GetParam().step, most_states))) return true;
    }
    return false;
  };
  if (walked(narrow_worlds(), 2'000) || walked(large_worlds(), 2'000) || walked(deep, 10)) return;
  if (explored(random, 20'000) || explored(narrow_worlds(), 500'000)) return;
  if (walked(deep, 100) || explored(random, 500'000)) return;
  FAIL() << "nothing goes wrong with: " << GetParam().name;
}

// All that a world looks at has been wrong once; what is about its scope's count has a test of its own
// (counting_test.cpp).
TEST(BrokenMachines, ShowEverythingThatAWorldLooksAt) {
  std::set<std::string> unseen = {"takes the value from nowhere",
                                  "sends a value that it has not",
                                  "sends to itself",
                                  "forgets what its scope will look for",
                                  "loses its links while it is on a list",
                                  "has the value, and somebody waits for it",
                                  "forgets what somebody waits for",
                                  "a reader waits for what is freed",
                                  "takes a program that is right for a wrong one",
                                  "reads what is freed",
                                  "what all have read stays until its scope ends",
                                  "never runs: the program is stuck",
                                  "keeps the value of name",
                                  "the home keeps name",
                                  "does not end"};
  std::vector<Setting> worlds = narrow_worlds();
  for (const Setting& world : large_worlds()) worlds.push_back(world);
  for (std::uint64_t seed = 0; seed < 400; ++seed) worlds.push_back(deep_world(seed));
  for (std::uint64_t way = 0; way < 40 && !unseen.empty(); ++way) {
    for (const Broken& broken : broken_machines()) {
      for (const Setting& world : worlds) {
        const std::string wrong = walk(world, broken.step, way).wrong;
        std::erase_if(unseen, [&](const std::string& what) { return wrong.find(what) != wrong.npos; });
      }
    }
  }
  for (const std::string& what : unseen) ADD_FAILURE() << "no broken machine shows: " << what;
}

INSTANTIATE_TEST_SUITE_P(Protocol, BrokenMachine, testing::ValuesIn(broken_machines()), by_number);

}  // namespace
}  // namespace tessera::protocol
