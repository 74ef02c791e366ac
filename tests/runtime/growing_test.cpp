// Which groups make values pile up.
#include "runtime/work/growing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/fragment/cf.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {
namespace {

constexpr std::int64_t kMuch = Growing::kMuch;

class Piles : public ::testing::Test {
 protected:
  Piles() {
    growing.join(one);
    growing.join(other);
    queue.set_growing(growing);
    for (std::uint32_t g = 0; g < 3; ++g) {
      blocks[g].index = blocks[g].group = g;
      blocks[g].layout = "i";
      blocks[g].frame_words = blocks[g].capacity = 1;
      blocks[g].kind = abi::Kind::atomic;
    }
  }
  ~Piles() override {
    for (abi::Value* v : values) abi::release(v);
    for (Cf* c : queue.take_all()) free_cf(c);
  }
  void hold(std::uint32_t group, std::int64_t bytes) {
    values.push_back(abi::value_bytes(static_cast<std::uint64_t>(bytes)));
    held->sample("x", group, values.back());
  }
  void push(std::uint32_t group, int count) {
    for (int k = 0; k < count; ++k) queue.push(allocate_cf(blocks[group], nullptr, {}));
  }
  int pop(Running running) {
    Work w;
    if (!queue.pop(w, Making::nothing, Making::nothing, 1, running)) return -1;
    const auto group = static_cast<int>(w.cf->block->group);
    free_cf(w.cf);
    return group;
  }

  std::shared_ptr<Held> held = std::make_shared<Held>(3);
  GroupStats one{3}, other{3};
  Growing growing{*held, false};
  ReadyQueue queue{3};
  abi::Block blocks[3]{};
  std::vector<abi::Value*> values;
};

TEST_F(Piles, WhatMakesMoreThanItFreesAndHoldsMuch) {
  one.grew(0, 8000);
  EXPECT_FALSE(growing.grows(0)) << "they hold nothing";
  hold(0, kMuch / 2);
  EXPECT_FALSE(growing.grows(0));
  hold(0, kMuch / 2);
  EXPECT_TRUE(growing.grows(0));
  EXPECT_FALSE(growing.grows(1));
  hold(1, kMuch);
  EXPECT_FALSE(growing.grows(1)) << "nothing is known of it";
  one.grew(1, -8000);
  EXPECT_FALSE(growing.grows(1)) << "it frees more";
}

TEST_F(Piles, OnAllWorkersTogether) {
  hold(0, kMuch);
  for (int k = 0; k < 100; ++k) one.grew(0, 8000), other.grew(0, -9000);
  EXPECT_FALSE(growing.grows(0));
  for (int k = 0; k < 100; ++k) other.grew(0, -7000);
  EXPECT_TRUE(growing.grows(0));
}

// Of what is there for long a part is much.
TEST_F(Piles, OfAll) {
  hold(0, kMuch);
  one.grew(0, 8000);
  EXPECT_TRUE(growing.grows(0));
  hold(2, Growing::kPart * kMuch);
  EXPECT_FALSE(growing.grows(0));
}

// Stages of a pipeline free as much as they make: the first one is the source.
TEST_F(Piles, SourcesOfWhatOthersPassOn) {
  one.grew(0, 8000);
  one.grew(1, 0);
  hold(1, Growing::kMuchPassedOn);
  Growing of_one{*held, true};
  of_one.join(one);
  for (Growing* g : {&growing, &of_one}) {
    EXPECT_FALSE(g->grows(0));
    g->look(true);
    EXPECT_EQ(g->does(0), Growing::Does::grows);
    EXPECT_EQ(g->does(1), Growing::Does::keeps);
    EXPECT_FALSE(g->grows(1));
  }
  EXPECT_TRUE(of_one.grows(0));
  EXPECT_FALSE(growing.grows(0)) << "others may run what reads them: it comes last, but need not wait";
}

// Of several ranks: what stages pass on piles up before them, where who sends it hears of it.
TEST_F(Piles, WherePressedAllThatMakesLargeValues) {
  const auto makes = [&](std::uint32_t group, std::int64_t bytes, std::int64_t more) {
    for (int k = 0; k < 10; ++k) {
      one.begin(group);
      one.add_bytes_out(group, bytes);
      one.grew(group, more);
    }
    one.pause();
  };
  makes(0, Growing::kLarge, 0);
  makes(1, Growing::kLarge / 2, 0);
  makes(2, Growing::kLarge, -8000);
  EXPECT_FALSE(growing.grows(0));
  growing.press(true, false);
  EXPECT_TRUE(growing.grows(0));
  EXPECT_FALSE(growing.grows(1)) << "they are small";
  EXPECT_FALSE(growing.grows(2)) << "it frees more";
  growing.press(false, true);
  EXPECT_FALSE(growing.grows(0));
  hold(0, Growing::kMuchPassedOn);
  EXPECT_TRUE(growing.grows(0));
  hold(2, Growing::kMuchPassedOn);
  EXPECT_FALSE(growing.grows(2));
  growing.press(false, false);
  EXPECT_FALSE(growing.grows(0)) << "nothing is sent";
}

// Of several ranks: how far loops around others may go ahead.
TEST_F(Piles, HowLargeValuesAre) {
  const auto makes = [&](std::uint32_t group, std::int64_t bytes) {
    one.begin(group);
    one.add_bytes_out(group, bytes);
    one.pause();
  };
  EXPECT_EQ(growing.weight(), Growing::kMostWeight);
  growing.weigh();
  EXPECT_EQ(growing.weight(), Growing::kMostWeight) << "nothing has run";
  for (int k = 0; k < 2; ++k) makes(0, 8);  // of the last one it is not known whether it has ended
  growing.weigh();
  EXPECT_EQ(growing.weight(), 1);
  for (int k = 0; k < 3; ++k) makes(1, 8 * Growing::kLarge);
  growing.weigh();
  EXPECT_GT(growing.weight(), 3) << "on average";
  EXPECT_LT(growing.weight(), Growing::kMostWeight);
  for (int k = 0; k < 10; ++k) makes(2, 8 << 20);
  growing.weigh();
  EXPECT_EQ(growing.weight(), Growing::kMostWeight);
}

TEST_F(Piles, ItsFragmentsMayBeLeft) {
  hold(1, kMuch);
  one.grew(1, 8000);
  push(0, 1);
  push(1, 2);
  EXPECT_EQ(pop(Running::no_growing), 0);
  EXPECT_EQ(pop(Running::no_growing), -1);
  EXPECT_FALSE(queue.has(Making::nothing, Running::no_growing));
  EXPECT_TRUE(queue.has(Making::nothing));
  EXPECT_EQ(pop(Running::usual), 1);
}

TEST_F(Piles, WhatLetsGoComesFirstThenWhatStandsLastThenWhatGrows) {
  for (int k = 0; k < 20; ++k) one.grew(0, -4 * Growing::kLarge);
  push(0, 3);
  push(1, 2);
  push(2, 1);
  EXPECT_EQ(pop(Running::last_first), 0) << "it lets values go";
  EXPECT_EQ(pop(Running::no_growing), 0);
  EXPECT_EQ(pop(Running::last_first), 0);
  EXPECT_EQ(pop(Running::last_first), 2);
  push(2, 1);
  hold(2, kMuch);
  one.grew(2, 8000);
  EXPECT_EQ(pop(Running::no_growing), 1);
  EXPECT_EQ(pop(Running::last_first), 1);
  EXPECT_EQ(pop(Running::no_growing), -1);
  EXPECT_EQ(pop(Running::last_first), 2) << "what grows comes last";
}

// Values of swept names go long after who read them has run, and for whoever makes the next ones.
class Swept : public Piles {
 protected:
  Swept() {
    blocks[1].fed_by = blocks[2].fed_by = feeds;
    program.block_count = 3;
    program.blocks = all;
    growing.join(program);
    for (const std::uint32_t g : {0u, 1u, 2u}) one.grew(g, 8000), other.grew(g, 8000);
  }
  void run(std::uint32_t group, int count) {
    for (int k = 0; k < count; ++k) {
      one.begin(group);
      one.timed(group, 0, 1'000'000);
    }
  }
  const std::uint32_t feeds[2] = {0, ~0u};
  const abi::Block* const all[3] = {&blocks[0], &blocks[1], &blocks[2]};
  abi::Program program{};
};

TEST_F(Swept, WhoReadsThemLetsThemGo) {
  EXPECT_EQ(growing.growth(1), 8000);
  growing.makes_swept(0, 20'000);
  EXPECT_EQ(growing.growth(1), -12'000) << "until something has gone it is expected";
  EXPECT_EQ(growing.growth(0), 8000);
  hold(1, kMuch);
  EXPECT_FALSE(growing.grows(1));
  // Each value of 20,000 bytes is read by both.
  for (int k = 0; k < 8; ++k) {
    run(1, 50);
    run(2, 50);
    growing.swept(0, 50 * 20'000);
  }
  EXPECT_NEAR(growing.growth(1), 0, 1) << "10,000 is about as much as it makes: it is taken to be that";
  run(1, 400);
  growing.swept(0, 0);
  run(1, 400);
  growing.swept(0, 0);
  EXPECT_GT(growing.growth(1), 4000) << "they let nothing go any more";
}

TEST_F(Swept, NobodyIsKnownToReadThem) {
  growing.makes_swept(1, 20'000);
  growing.swept(1, 20'000);
  EXPECT_EQ(growing.growth(0), 8000);
  EXPECT_EQ(growing.growth(2), 8000);
}

// Who may read them makes none of large ones: what has been passed on is much, and somebody makes large values.
TEST_F(Swept, WhatIsPassedOnIsLarge) {
  growing.makes_swept(0, 8000);
  hold(1, Growing::kMuchPassedOn / 2);
  growing.look(true);
  EXPECT_FALSE(growing.large());
  hold(2, Growing::kMuchPassedOn / 2);
  growing.look(false);
  EXPECT_FALSE(growing.large()) << "others may have what is read here";
  hold(2, 1);
  growing.look(true);
  EXPECT_TRUE(growing.large());
}

// Who reads what piles up may have to be made first: loops by what their iterations do.
class PiledLoops : public Piles {
 protected:
  PiledLoops() {
    const std::uint32_t of[3][2] = {{0, ~0u}, {1, ~0u}, {2, ~0u}};
    for (std::uint32_t k = 0; k < 3; ++k) {
      body[k][0] = of[k][0], body[k][1] = of[k][1];
      loops[k].index = loops[k].group = k;
      loops[k].layout = "ii";
      loops[k].frame_words = loops[k].capacity = 2;
      loops[k].kind = abi::Kind::range;
      loops[k].body_groups = body[k];
    }
    hold(0, kMuch);
    one.grew(0, 8000);
    one.grew(2, -8000);
    growing.look(true);
    EXPECT_TRUE(growing.large());
    for (std::uint32_t k : {2u, 1u, 0u}) {  // the last one that is pushed stands first
      Cf* c = allocate_cf(loops[k], nullptr, {});
      abi::frame_int(c, 0) = 1, abi::frame_int(c, 1) = 100;
      queue.push(c);
      Work nothing;
      queue.pop(nothing, Making::nothing, Making::nothing, 1);
    }
  }
  int maker(bool in_vain, std::int64_t iterations = 1) {
    Work w;
    if (!queue.pop_maker(w, Making::all, iterations, true)) return -1;
    EXPECT_EQ(w.tried, &queue);
    const abi::Block& block = *w.cf->block;
    ReadyQueue::chunk_done(w.cf);
    queue.has_made(block, in_vain);
    return static_cast<int>(block.group);
  }
  int next(Running running) {
    Work w;
    EXPECT_TRUE(queue.pop(w, Making::nothing, Making::all, 1, running));
    ReadyQueue::chunk_done(w.cf);
    return static_cast<int>(w.cf->block->group);
  }
  std::uint32_t body[3][2];
  abi::Block loops[3]{};
};

TEST_F(PiledLoops, WhoReadsIsMadeBeforeWhoMakes) {
  EXPECT_EQ(next(Running::usual), 0) << "the order of the program";
  EXPECT_EQ(maker(false), 2) << "lets go";
  EXPECT_EQ(maker(true), 2);
  EXPECT_EQ(maker(true), 1) << "keeps; 2 only waits";
  EXPECT_EQ(maker(false), -1) << "what is left makes values grow";
  EXPECT_EQ(next(Running::last_first), 0);
  EXPECT_EQ(maker(false), 2) << "in the next round";
  // Of what makes them grow the last of the program, in turn with what stands before it where it only waits.
  one.grew(1, 8000), one.grew(1, 8000), one.grew(1, 8000);
  hold(1, kMuch);
  EXPECT_EQ(maker(true), 2);
  EXPECT_EQ(next(Running::last_first), 1);
  queue.has_made(loops[2], true);
  queue.has_made(loops[1], true);
  EXPECT_EQ(next(Running::last_first), 0);
}

// Of two sources, of which one piles up for what the other one is to make: the other one.
TEST_F(PiledLoops, WhatIsNeededComesFirstOfWhatGrows) {
  for (int k = 0; k < 3; ++k) one.grew(1, 8000);
  hold(1, kMuch);
  EXPECT_EQ(maker(true), 2);
  EXPECT_EQ(next(Running::last_first), 1) << "nearest to the end";
  queue.loop_first_of({0});
  EXPECT_EQ(maker(true), 2);
  EXPECT_EQ(next(Running::last_first), 0);
  push(0, 1);
  push(1, 1);
  EXPECT_EQ(pop(Running::last_first), 0);
  queue.loop_first_of({1});
  push(0, 1);
  EXPECT_EQ(pop(Running::last_first), 1);
}

// ... and before a loop around others that is needed the one that it has made: it would make one after the other, and
// what is in them never.
TEST_F(PiledLoops, OfWhatIsNeededWhatIsWithinComesFirst) {
  const std::uint32_t within[] = {2, 3, ~0u};
  loops[1].flags = abi::kNested;
  loops[1].within = within;
  for (int k = 0; k < 4; ++k) one.grew(2, 8000), one.grew(1, 8000);
  queue.loop_first_of({1});
  EXPECT_EQ(maker(false), 2);
  EXPECT_EQ(maker(false), 2);
  queue.loop_first_of({0});
  hold(2, kMuch);
  EXPECT_EQ(maker(false), -1) << "all make values grow";
  EXPECT_EQ(next(Running::last_first), 0);
}

// A loop around others makes the next one when those that it has made have come to their end; and when all have been in
// vain the next round begins.
TEST_F(PiledLoops, WhatIsAroundOthersWaitsForThese) {
  const std::uint32_t within[] = {2, 3, ~0u};
  loops[1].flags = abi::kNested;
  loops[1].within = within;
  EXPECT_EQ(maker(true), 2);
  EXPECT_EQ(maker(false), -1) << "1 is around 2";
  EXPECT_EQ(next(Running::last_first), 0);
  queue.has_made(loops[2], true);
  queue.has_made(loops[0], true);
  EXPECT_EQ(next(Running::last_first), 2);
}

// ... and the next one, as long as what they make runs. (It made one in 16 fragments that grow: most of all values
// piled up before a loop around others that reads them.)
TEST_F(PiledLoops, WhatIsAroundOthersGoesOn) {
  const std::uint32_t within[] = {2, 3, ~0u};
  loops[1].flags = abi::kNested;
  loops[1].within = within;
  EXPECT_EQ(maker(false, 100), 2) << "all of it: it is not listed any more";
  EXPECT_EQ(maker(false), 1);
  EXPECT_EQ(maker(false), 1);
  queue.has_made(loops[2], true);
  EXPECT_EQ(maker(false), 1) << "perhaps the next ones can run";
  EXPECT_EQ(maker(false), -1) << "they can't: who makes what they read comes first";
  EXPECT_EQ(next(Running::last_first), 0);
  EXPECT_EQ(maker(false), 1) << "in the next round";
}

// Of a loop that each iteration of another one makes the first: what it makes is read before what the next one makes.
TEST_F(PiledLoops, OfOneLoopWhatHasBeenListedLongestComesFirst) {
  Cf* newer = allocate_cf(loops[2], nullptr, {});
  abi::frame_int(newer, 0) = 1001, abi::frame_int(newer, 1) = 1100;
  queue.push(newer);
  for (const Running running : {Running::no_growing, Running::last_first}) {
    Work w;
    EXPECT_TRUE(running == Running::no_growing ? queue.pop_maker(w, Making::all, 1, true)
                                               : queue.pop(w, Making::nothing, Making::all, 1, running));
    EXPECT_LE(w.last, 100);
    ReadyQueue::chunk_done(w.cf);
  }
}

// What somebody else waits for may be made by a loop that stands behind others.
TEST_F(PiledLoops, WhoMakesWhatIsNeededComesFirst) {
  EXPECT_EQ(next(Running::usual), 0);
  queue.loop_first_of({1});
  EXPECT_EQ(next(Running::usual), 1);
  queue.loop_first_of({7});
  EXPECT_EQ(next(Running::usual), 1) << "nobody makes it here";
  queue.loop_first_of({0, 2});
  EXPECT_EQ(next(Running::usual), 0);
}

// What somebody waits for (node/needs.hpp) is popped before all others, whatever else may run.
TEST_F(Piles, WhatIsNeededComesFirst) {
  hold(0, kMuch);
  one.grew(0, 8000);
  push(0, 3);
  push(1, 2);
  std::vector<const Cf*> seen;
  EXPECT_FALSE(queue.put_first([&](const Cf* c) {
    seen.push_back(c);
    return false;
  }));
  ASSERT_EQ(seen.size(), 5u);
  const Cf* const last = *std::find_if(seen.rbegin(), seen.rend(), [](const Cf* c) { return c->block->group == 0; });
  EXPECT_TRUE(queue.put_first([last](const Cf* c) { return c == last; }));
  EXPECT_EQ(queue.atomics(), 5);
  EXPECT_TRUE(queue.has(Making::nothing, Running::no_growing));
  EXPECT_EQ(pop(Running::no_growing), 0);
  EXPECT_EQ(pop(Running::no_growing), 1);
  push(0, 1);  // behind those that are left
  EXPECT_TRUE(queue.put_first([](const Cf*) { return true; }));
  // It stays here, unless all have to go.
  std::vector<Cf*> out, exhausted;
  EXPECT_EQ(queue.take(0, 4, balancer::Rank{1}, out, exhausted, Making::movable), 0);
  EXPECT_EQ(queue.take(0, 4, balancer::Rank{1}, out, exhausted, Making::all), 3);
  for (Cf* c : out) free_cf(c);
  EXPECT_EQ(pop(Running::usual), 1);
  EXPECT_EQ(pop(Running::usual), -1);
}

}  // namespace
}  // namespace tessera::runtime
