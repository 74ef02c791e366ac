// The simulator runs graphs in the order, and on the spot, as the live runtime would.
#include <gtest/gtest.h>

#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/graph.hpp"
#include "balancer/simulator/ready_items.hpp"
#include "times.hpp"

namespace tessera::balancer::simulator {
namespace {

Options quickly(std::int32_t ranks, const char* balancer) {
  Options o;
  o.ranks = ranks;
  o.balancer = balancer;
  o.latency = 5 * kUs;
  return o;
}

// Group 0 is a stack, 1 a queue, 2 a range that makes items of 1.
Workload empty_workload() {
  Workload w;
  w.groups.resize(3);
  w.groups[2].range = true;
  w.groups[2].body = {Group{1}};
  w.stacks = {Group{0}};
  return w;
}
std::size_t child(Workload& w, std::size_t parent, std::uint32_t group, Time weight) {
  const std::size_t f = w.add({.group = Group{group}, .weight = weight});
  w.fragments[parent].children.push_back(f);
  return f;
}

// Two calls that repeat: the second waits until the first has had all its turns, of which nobody else gets any.
TEST(Graph, WhatRepeatsGoesOnAtOnce) {
  Workload w = empty_workload();
  for (int chain = 0; chain < 2; ++chain) {
    std::size_t last = w.add({.group = Group{1}, .weight = kMs});
    w.births.push_back({0, Rank{0}, last});
    for (int turn = 0; turn < 9; ++turn) last = child(w, last, 1, kMs);
  }
  Options o = quickly(2, "none");
  Times recording;
  o.record = &recording;
  simulate(w, o);
  std::vector<std::uint64_t> order;
  for (const auto& bar : recording.bars) order.push_back(bar.fragment);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_LE(simulate(w, quickly(2, "steal")).moved, 1);
}

// Each has made one of its own group, which waits for a barrier: who runs that goes on with none of them.
TEST(Graph, WhatWaitedForOthersIsNoNextTurn) {
  Workload w = empty_workload();
  const std::size_t barrier = w.add({.group = Group{1}, .weight = 20 * kMs, .output = 8});
  for (int part = 0; part < 8; ++part) {
    const std::size_t first = w.add({.group = Group{1}, .weight = kMs});
    w.births.push_back({0, Rank{0}, first});
    const std::size_t next = child(w, first, 1, 5 * kMs);
    w.fragments[next].inputs = {{barrier, 8}};
    w.fragments[next].home = Rank{0};
  }
  w.births.push_back({0, Rank{0}, barrier});
  EXPECT_LT(simulate(w, quickly(2, "steal")).finished, 55 * kMs);
}

TEST(ReadyItems, WhatMakesOthersGoesFirstWhenAskedTo) {
  using Kind = ReadyItems::Kind;
  const std::vector<Kind> kinds = {Kind::stack, Kind::queue, Kind::range, Kind::range};
  ReadyItems items(&kinds);
  for (const std::uint16_t g : {1, 2, 3, 0, 1}) {
    Item i;
    i.group = g;
    i.state = g;
    items.push(i);
  }
  ReadyItems others = items;
  const auto order = [](ReadyItems& of, bool expand_first) {
    std::vector<std::uint64_t> groups;
    while (of.count() > 0) groups.push_back(of.pop(expand_first).state);
    return groups;
  };
  EXPECT_EQ(order(items, true), (std::vector<std::uint64_t>{0, 3, 2, 1, 1}));
  EXPECT_EQ(order(others, false), (std::vector<std::uint64_t>{1, 1, 0, 3, 2}));
}

// As in tests/runtime/ready_queue_test.cpp: what comes while something runs waits in its order, before what was there.
TEST(ReadyItems, StructuredOnesThatComeBetweenTwoPopsKeepTheirOrder) {
  using Kind = ReadyItems::Kind;
  const std::vector<Kind> kinds = {Kind::structured};
  ReadyItems items(&kinds);
  const auto push = [&](std::uint64_t state) {
    Item i;
    i.state = state;
    items.push(i);
  };
  for (const std::uint64_t s : {1, 2, 3, 4}) push(s);
  EXPECT_EQ(items.pop(true).state, 1u);
  for (const std::uint64_t s : {5, 6, 7}) push(s);
  std::vector<Item> shipped;
  EXPECT_EQ(items.take(0, 1, Program::Ships::oldest, shipped), 1);
  EXPECT_EQ(shipped.front().state, 5u);
  push(8);
  std::vector<std::uint64_t> order;
  while (items.count() > 0) order.push_back(items.pop(true).state);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{6, 7, 8, 2, 3, 4}));
}

TEST(ReadyItems, WhatIsMuchLighterGoesFirstUntilThereIsPlenty) {
  using Kind = ReadyItems::Kind;
  const std::vector<Kind> kinds(2, Kind::queue);
  ReadyItems items(&kinds, 3);
  items.weigh(0, 1000);
  items.weigh(1, 6000);
  for (const std::uint16_t g : {0, 1, 1, 1, 1}) {
    Item i;
    i.group = g;
    items.push(i);
  }
  std::vector<int> groups;
  while (items.count() > 0) groups.push_back(items.pop(false).group);
  EXPECT_EQ(groups, (std::vector<int>{1, 1, 0, 1, 1}));
}

TEST(ReadyItems, ABalancerSees4096AndNoMore) {
  using Kind = ReadyItems::Kind;
  const std::vector<Kind> kinds = {Kind::queue, Kind::range};
  ReadyItems items(&kinds);
  Item queued, iteration;
  iteration.group = 1;
  items.push(iteration);
  for (int i = 0; i < 4096; ++i) items.push(queued);
  EXPECT_EQ(items.pop(true).group, 0);
  EXPECT_EQ(items.pop(true).group, 1);
}

// As in tests/runtime/ready_queue_test.cpp: fragments (i, j) of two large inputs, row i and column j.
TEST(ReadyItems, WhatSharesInputsGoesTogether) {
  Workload w;
  w.groups.resize(1);
  for (int input = 0; input < 8; ++input) w.add({.group = Group{0}, .weight = 1, .output = 4096});
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      w.add({.group = Group{0}, .weight = 1, .inputs = {{i, 4096}, {4 + j, 4096}}});
    }
  }
  Graph graph(w, 4);
  const std::vector<ReadyItems::Kind> kinds(1, ReadyItems::Kind::queue);
  ReadyItems ready(&kinds);
  for (std::uint64_t f = 8; f < w.fragments.size(); ++f) {
    Item item;
    item.state = f;
    ready.push(item);
  }
  struct Nothing final : Effects {
    void ready(Rank, const Item&) override {}
    void send(Rank, Rank, std::int64_t, const Note&) override {}
  } nothing;
  const auto take = [&](std::int64_t n, std::int32_t to) {
    if (n < ready.count(0)) graph.nearest_first(ready.first(0), n, Rank{0}, Rank{to});
    std::vector<Item> taken;
    ready.take(0, n, Program::Ships::newest, taken);
    std::vector<std::uint64_t> numbers;
    for (const Item& item : taken) {
      graph.board(item, Rank{0}, Rank{to}, nothing);
      numbers.push_back((item.state - 8) / 4 * 10 + item.state % 4);
    }
    return numbers;
  };
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(take(1, 1), (Numbers{0}));
  // Row 0 and column 0 are left for rank 1.
  EXPECT_EQ(take(1, 2), (Numbers{11}));
  EXPECT_EQ(take(2, 1), (Numbers{2, 3}));
  // Rank 2 has row 1 and column 1; of that row rank 1 has all other columns.
  EXPECT_EQ(take(2, 2), (Numbers{21, 31}));
  // Rank 1 has row 0 and columns 0, 2 and 3; with column 1 it can end its row, with row 1 do the rest of that.
  EXPECT_EQ(take(3, 1), (Numbers{1, 10, 12}));
  EXPECT_EQ(take(2, 1), (Numbers{13, 20}));
  // Whoever takes all that is left takes it in order.
  EXPECT_EQ(take(9, 3), (Numbers{22, 23, 30, 32, 33}));
}

TEST(LiveQueueing, WhatMakesOthersIsNobodysToTake) {
  Workload w = empty_workload();
  w.births.push_back({0, Rank{0}, w.add({.group = Group{0}, .weight = kMs})});
  for (int i = 0; i < 10; ++i) child(w, 0, 0, kMs);
  const Outcome o = simulate(w, quickly(2, "steal"));
  EXPECT_TRUE(o.faults.empty());
  EXPECT_EQ(o.moved, 0);
  EXPECT_EQ(o.finished, 11 * kMs);
}

TEST(LiveQueueing, WhatIsKnownToBeTinyRunsOnTheSpot) {
  for (const Time tiny : {kUs, 20 * kUs}) {
    Workload w = empty_workload();
    std::size_t last = w.add({.group = Group{1}, .weight = tiny});
    w.births.push_back({0, Rank{0}, last});
    for (int i = 0; i < 5; ++i) last = child(w, last, 1, tiny);
    for (int i = 0; i < 20; ++i) child(w, last, 1, 5 * kMs);
    const Outcome o = simulate(w, quickly(2, "steal"));
    // The first of the long ones shows what the group is, but they are all taken by then.
    if (tiny == kUs) {
      EXPECT_EQ(o.moved, 0);
    } else {
      EXPECT_GT(o.moved, 4);
    }
  }
}

// What becomes ready at once is told when the host has woken up, what comes within half a millisecond after that by a
// timer.
TEST(LiveQueueing, HostsSleep) {
  const auto second_ends = [](Time born, Time wake, Time timer) {
    Workload w = empty_workload();
    for (const Time at : {5 * kMs, born}) {
      w.births.push_back({at, Rank{0}, w.add({.group = Group{1}, .weight = 10 * kMs})});
    }
    Options o = quickly(2, "steal");
    o.processing.wake = wake;
    o.processing.timer = timer;
    return simulate(w, o).ends[1];
  };
  const Time together = 5 * kMs, later = together + 100 * kUs;
  EXPECT_GT(second_ends(together, 0, 0), 15 * kMs);
  EXPECT_EQ(second_ends(together, 20 * kUs, 70 * kUs), second_ends(together, 0, 0) + 20 * kUs);
  EXPECT_EQ(second_ends(later, 20 * kUs, 70 * kUs), second_ends(later, 0, 0) + 90 * kUs);
}

// visit, then, when it is known how many children it has, that many of the same; as
// bench/programs/tree.fa is recorded.
void grow(Workload& w, std::size_t parent, int depth, std::uint64_t id) {
  const std::size_t node = child(w, parent, 0, 200);
  const std::size_t visit = child(w, node, 1, 2 * kMs + static_cast<Time>(id * 2654435761u % 16'000) * kUs);
  const std::size_t spread = child(w, node, 0, 300);
  w.fragments[spread].inputs.push_back({visit, 4});
  const std::uint64_t children = depth == 6 ? 6 : depth == 0 ? 0 : id * 40503u / 16'000 % 5;
  for (std::uint64_t c = 1; c <= children; ++c) {
    const std::size_t iteration = child(w, spread, 2, 200);
    grow(w, iteration, depth - 1, id * 5 + c);
  }
}

// A shipment of something that makes nothing and takes less than the host's attention: its rank must
// hear that it is idle as before, or it waits for ever. When hosts told of changes only, most seeds of
// `steal` left a rank idle from the first milliseconds on.
TEST(LiveQueueing, NobodyIsForgottenAfterABriefArrival) {
  Workload w = empty_workload();
  w.births.push_back({0, Rank{0}, w.add({.group = Group{0}, .weight = kUs})});
  grow(w, 0, 6, 1);
  ASSERT_GT(w.fragments.size(), 500u);
  for (const char* balancer : {"steal", "torus", "central", "auction", "tree", "mirror"}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      Options o = quickly(5, balancer);
      o.seed = seed;
      const Outcome out = simulate(w, o);
      EXPECT_TRUE(out.faults.empty());
      for (std::int32_t r = 0; r < out.executing; ++r) {
        EXPECT_GT(out.ends[static_cast<std::size_t>(r)], out.finished / 2)
            << balancer << " seed " << seed << ": rank " << r << " had nothing to do from then on";
      }
    }
  }
}

}  // namespace
}  // namespace tessera::balancer::simulator
