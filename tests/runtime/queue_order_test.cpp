// In which order a queue makes fragments by its loops.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/runtime/queue_fragments.hpp"

namespace tessera::runtime {
namespace {

TEST(QueueOrder, WhatTheNewestBodyMadeGoesFirstInItsOrder) {
  ReadyQueue q(4);
  q.push(range(1, 1));
  q.push(range(2, 2));
  Work w;
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
  EXPECT_EQ(w.first, 1);
  free_cf(w.cf);
  q.push(range(11, 11));  // of the iteration that was popped
  q.push(range(12, 12));
  for (const int expected : {11, 12, 2}) {
    ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
    EXPECT_EQ(w.first, expected);
    free_cf(w.cf);
  }
  EXPECT_TRUE(q.empty());
}

TEST(QueueOrder, WhatIsTakenAwayIsNoPlaceToGoBehind) {
  ReadyQueue q(4);
  q.push(range(1, 1));
  q.push(range(2, 2));
  std::vector<Cf*> out, exhausted;
  EXPECT_EQ(q.take(3, 2, balancer::Rank{1}, out, exhausted), 2);
  for (Cf* c : out) free_cf(c);
  for (Cf* c : exhausted) free_cf(c);
  q.push(range(3, 3));
  Work w;
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
  EXPECT_EQ(w.first, 3);
  free_cf(w.cf);
  EXPECT_TRUE(q.empty());
}

// A body makes two loops, and meanwhile another worker takes an iteration of the first.
TEST(QueueOrder, WhatAnotherWorkerTakesChangesNoOrder) {
  ReadyQueue q(4);
  Cf *first = range(1, 10), *second = range(100, 110);
  q.push(first);
  Work w;
  ASSERT_TRUE(q.steal(w, Making::all, 1));
  EXPECT_EQ(w.first, 1);
  q.push(second);
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
  EXPECT_EQ(w.first, 2);
  free_cf(first);
  free_cf(second);
}

// A turn makes the loop on the way to the next turn, and one beside it. The loop around the `while` comes last.
TEST(QueueOrder, TheLoopsOfAWhileComeInTheOrderOfItsTurns) {
  ReadyQueue q(4);
  Cf* around = range(1, 9);
  constexpr std::uint64_t kTurns = 7, kOthers = 8;
  const auto push = [&](std::int64_t at, std::uint64_t of) {
    Cf* c = range(at, at);
    c->flags |= family_of(of);
    q.push(c);
  };
  Work w;
  const auto next = [&] {
    EXPECT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
    if (w.cf != around) free_cf(w.cf);
    return w.first;
  };
  ASSERT_NE(family_of(kTurns), family_of(kOthers));
  q.push(around);
  q.pop(w, Making::nothing, Making::nothing, 1);  // what comes now is of another body
  push(10, kTurns), push(11, kTurns);
  EXPECT_EQ(next(), 10);
  push(20, kTurns), push(21, kTurns);
  EXPECT_EQ(next(), 11);
  push(100, kOthers);  // a `while` inside the turn: depth first
  EXPECT_EQ(next(), 100);
  EXPECT_EQ(next(), 20);
  EXPECT_EQ(next(), 21);
  EXPECT_EQ(next(), 1);
  free_cf(around);
}

// What an iteration of the turn's loop has made goes first, and the next turn's loops go behind both.
TEST(QueueOrder, TheLoopsOfAFamilyStayInOrderWhateverStandsBeforeThem) {
  ReadyQueue q(4);
  constexpr std::uint64_t kTurns = 7;
  const auto push = [&](std::int64_t at, std::uint16_t flags) {
    Cf* c = range(at, at);
    c->flags |= flags;
    q.push(c);
  };
  Work w;
  const auto next = [&] {
    EXPECT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
    free_cf(w.cf);
    return w.first;
  };
  push(10, family_of(kTurns)), push(11, family_of(kTurns)), push(12, family_of(kTurns));
  EXPECT_EQ(next(), 10);
  push(100, family_of(kTurns) | kWithin);
  q.pop(w, Making::nothing, Making::nothing, 1);
  push(50, 0);
  q.pop(w, Making::nothing, Making::nothing, 1);
  push(20, family_of(kTurns));
  for (const std::int64_t first : {50, 100, 11, 12, 20}) EXPECT_EQ(next(), first);
}

TEST(QueueOrder, WhoMakesMoreFoundsAFamilyOrJoinsOne) {
  Cf *turns = fragment(1, 0), *loop = range(1, 2), *made = range(1, 2), *deep = range(1, 2), *plain = range(1, 2);
  const abi::Block& block = *turns->block;
  abi::Block of_while = block;
  of_while.kind = abi::Kind::loop;
  turns->block = &of_while;
  join_family(loop, turns);
  EXPECT_EQ(loop->flags & (kFamily | kWithin), family_of(turns->id.lo));
  join_family(made, loop);
  EXPECT_EQ(made->flags & (kFamily | kWithin), family_of(turns->id.lo) | kWithin);
  join_family(deep, made);
  EXPECT_EQ(deep->flags & (kFamily | kWithin), family_of(turns->id.lo) | kWithin);
  turns->block = &block;
  join_family(plain, turns);  // by what has none
  EXPECT_EQ(plain->flags & kFamily, 0);
  for (Cf* c : {turns, loop, made, deep, plain}) free_cf(c);
}

TEST(QueueOrder, WhatIsToComeBehindComesBehindTheLoopsOfItsBody) {
  ReadyQueue q(4);
  q.push(range(1, 2));
  q.push(fragment(2, 7), true);
  q.push(range(8, 8));
  EXPECT_EQ(q.loops(), 3);
  q.push(fragment(2, 5));
  EXPECT_EQ(q.loops(), 3);
  std::vector<std::int64_t> made;
  Work w;
  while (q.pop(w, Making::nothing, Making::all, 10)) {
    const bool loop = w.cf->block->kind == abi::Kind::range;
    made.push_back(loop ? w.first : abi::frame_int(w.cf, 0));
    if (!loop || ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
  }
  EXPECT_EQ(made, (std::vector<std::int64_t>{5, 1, 7, 8}));
  EXPECT_EQ(q.loops(), 0);
}

// A loop of one iteration, `of` being the third word of its frame if there is one; what is pushed next is another
// body's.
void push_by_a_body(ReadyQueue& q, const abi::Block& loop, std::int64_t first, std::int64_t of = 0) {
  Cf* const c = allocate_cf(loop, nullptr, {});
  abi::frame_int(c, 0) = abi::frame_int(c, 1) = first;
  if (loop.frame_words > 2) abi::frame_int(c, 2) = of;
  q.push(c);
  q.push(fragment(0, first));
  EXPECT_EQ(next_number(q), first);
}

// Loops, by number and first index, are pushed by a body each, the newest one last; then another one comes first.
using Made = std::vector<std::int64_t>;
Made made_after_another(const std::vector<std::pair<std::size_t, std::int64_t>>& loops) {
  const std::vector<abi::Block> blocks(4, block(3));
  ReadyQueue q(4);
  for (const auto& [loop, first] : loops) {
    push_by_a_body(q, blocks[loop], first);
  }
  q.another_loop_first();
  Made made;
  for (Work w; q.pop(w, Making::nothing, Making::all, 1); free_cf(w.cf)) made.push_back(w.first);
  EXPECT_TRUE(q.empty());
  return made;
}

TEST(QueueOrder, AnotherLoopMayComeFirst) {
  EXPECT_EQ(made_after_another({}), Made());
  EXPECT_EQ(made_after_another({{1, 5}}), Made({5}));
  EXPECT_EQ(made_after_another({{1, 5}, {2, 3}, {3, 1}}), Made({5, 1, 3})) << "that which has been listed longest";
  EXPECT_EQ(made_after_another({{1, 5}, {2, 3}, {1, 4}, {2, 1}}), Made({4, 1, 3, 5})) << "its part with low indices";
  EXPECT_EQ(made_after_another({{1, 5}, {1, 3}, {1, 4}}), Made({3, 4, 5})) << "parts of one loop";
  EXPECT_EQ(made_after_another({{1, 5}, {1, 4}, {1, 3}}), Made({3, 4, 5}));
}

// `for k { for i; for j { for l } }`, by their numbers: what has been listed of earlier iterations goes before what a
// loop around it makes next. Ranks made all of an LU factorisation ahead, since the loop over its steps came first
// whenever nothing ran.
TEST(QueueOrder, AnotherLoopIsNoneThatStandsAroundMany) {
  std::vector<abi::Block> blocks(4, block(3));
  for (std::uint32_t k = 0; k < 4; ++k) blocks[k].index = k;
  constexpr std::uint32_t kOfK[] = {1, 3, 3, 4, ~0u}, kOfJ[] = {3, 4, ~0u};
  blocks[0].within = kOfK;
  blocks[2].within = kOfJ;
  const auto first_of = [&](const std::vector<std::pair<std::size_t, std::int64_t>>& listed) {
    ReadyQueue q(4);
    for (auto l = listed.rbegin(); l != listed.rend(); ++l) push_by_a_body(q, blocks[l->first], l->second);
    q.another_loop_first();
    Work w;
    EXPECT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
    free_cf(w.cf);
    for (Cf* c : q.take_all()) free_cf(c);
    return w.first;
  };
  EXPECT_EQ(first_of({{3, 30}, {1, 10}, {2, 20}, {0, 0}}), 10) << "neither 2, around 3, nor 0, around all";
  EXPECT_EQ(first_of({{3, 30}, {2, 20}, {0, 0}}), 20) << "of those that are around others the innermost";
  EXPECT_EQ(first_of({{3, 30}, {0, 0}}), 0) << "around one: a step of a time loop may read what the one before makes";
  EXPECT_EQ(first_of({{3, 30}, {3, 31}, {3, 32}, {3, 29}, {3, 34}, {0, 0}}), 29)
      << "around five: the part with low indices";
}

// Of several instances of one loop the oldest, and of its parts that with the lowest indices.
TEST(QueueOrder, OfALoopTheOldestComesFirst) {
  abi::Block loop = block(3);
  loop.frame_words = loop.capacity = 3;
  ReadyQueue q(4);
  for (const auto& [of, first] : {std::pair{0, 9}, {0, 8}, {1, 4}, {2, 5}}) push_by_a_body(q, loop, first, of);
  EXPECT_TRUE(q.another_loop_first()) << "it makes few, and another one may come after it";
  Work w;
  EXPECT_TRUE(q.pop(w, Making::nothing, Making::all, 1));
  EXPECT_EQ(w.first, 8);
  free_cf(w.cf);
  for (Cf* c : q.take_all()) free_cf(c);
}

// While values pile up: of loops only those with at most 64 iterations left, wherever they stand.
TEST(QueueOrder, OfManyIterationsNoneIsMadeByWhoMakesFew) {
  const abi::Block many = block(3), few = block(3);
  const auto loop = [](const abi::Block& b, std::int64_t iterations) {
    Cf* const c = allocate_cf(b, nullptr, {});
    abi::frame_int(c, 0) = 1, abi::frame_int(c, 1) = iterations;
    return c;
  };
  ReadyQueue q(4);
  Work w;
  q.push(loop(many, 65));
  EXPECT_FALSE(q.has(Making::few));
  EXPECT_FALSE(q.pop(w, Making::nothing, Making::few, 64));
  q.push(loop(few, 64));
  q.push(loop(many, 66));
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::few, 64));
  EXPECT_EQ(w.last, 64);
  EXPECT_EQ(w.cf->block, &few);
  if (ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
  EXPECT_FALSE(q.pop(w, Making::nothing, Making::few, 64));
  for (Cf* c : q.take_all()) free_cf(c);
}

// Once one came first each time, and the loop that made them made more meanwhile: as many as it had iterations waited.
TEST(QueueOrder, OfCallsAllComeFirst) {
  ReadyQueue q(4);
  const abi::Block outer = block(3);
  Cf* const loop = allocate_cf(outer, nullptr, {});
  abi::frame_int(loop, 0) = 20, abi::frame_int(loop, 1) = 20;
  for (const std::int64_t call : {1, 2, 3}) q.push(fragment(2, call), true);
  q.push(fragment(0, 0));
  EXPECT_EQ(next_made(q), 0);
  q.push(loop);
  q.another_loop_first();
  for (const std::int64_t due : {1, 2, 3, 20, -1}) EXPECT_EQ(next_made(q), due);
}

// What many wait for may stand in any loop: each is made by once before any is again, also where one of them goes on
// making others for ever, as a `while` does.
TEST(QueueOrder, LoopsTakeTurns) {
  ReadyQueue q(4);
  q.push(range(10, 12));
  q.push(range(20, 21));
  q.push(fragment(2, 30), true);
  q.take_turns(1);
  for (const std::int64_t due : {10, 20, 30}) EXPECT_EQ(next_made(q), due);
  q.push(range(40, 40));
  q.push(fragment(2, 31), true);
  for (const std::int64_t due : {11, 21, 40, 31, 12, -1}) EXPECT_EQ(next_made(q), due);
  q.push(range(10, 12));
  q.push(range(20, 21));
  q.take_turns(0);
  for (const std::int64_t due : {10, 11, 12, 20, 21, -1}) EXPECT_EQ(next_made(q), due);
}

// While values pile up a worker asks first for what does not add to that.
TEST(QueueOrder, WhoAsksForNoLoopsChangesNothing) {
  ReadyQueue q(4);
  Cf* const due_one = range(20, 23);
  due_one->flags |= kDue;
  q.push(due_one);
  q.push(range(10, 13));
  q.another_loop_first();
  Work w;
  EXPECT_FALSE(q.pop(w, Making::nothing, Making::nothing, 1));
  EXPECT_EQ(next_made(q), 10);
  for (Cf* c : q.take_all()) free_cf(c);
}

TEST(QueueOrder, WhatIsDueTakesTurnsWithWhatIsAhead) {
  ReadyQueue q(4);
  q.push(range(10, 13));
  Cf* const due_one = range(20, 23);
  due_one->flags |= kDue;
  q.push(due_one);
  for (const std::uint32_t number : {1U, 2U, 3U}) {
    q.take_turns(number);
    for (int k = 0; k < 2; ++k) EXPECT_EQ(next_made(q) / 10, number % 2 == 0 ? 1 : 2);
  }
  for (Cf* c : q.take_all()) free_cf(c);
}

// It went before them, from another rank, and made all that is ahead of what these wait for.
TEST(QueueOrder, AWhileThatComesGoesBehindTheLoopsOfItsTurns) {
  abi::Block turns = block(2);
  turns.kind = abi::Kind::loop;
  ReadyQueue q(4);
  Cf* const loop = allocate_cf(turns, nullptr, {1, 7});
  abi::frame_int(loop, 0) = 30;
  for (const std::int64_t first : {10, 20}) {
    Cf* const c = range(first, first);
    join_family(c, loop);
    q.push(c);
    q.push(fragment(0, 0));
    EXPECT_EQ(next_made(q), 0);
  }
  q.push(range(5, 5));
  EXPECT_EQ(next_made(q), 5);
  q.push(loop, true);
  for (const std::int64_t due : {10, 20, 30, -1}) EXPECT_EQ(next_made(q), due);
}

// They may wait for one another in the order in which they were made.
TEST(QueueOrder, LoopsFromAnotherRankGoInTheirOrder) {
  ReadyQueue q(4);
  q.push(range(90, 90));
  const auto come = [&](std::int64_t number) {
    Cf* const c = range(number, number);
    c->flags |= kPlaced;
    q.push(c);
    q.push(fragment(0, number));
    EXPECT_EQ(next_made(q), number);
  };
  come(1);
  come(2);
  EXPECT_EQ(next_made(q), 1);
  come(3);
  q.push(range(80, 80));
  EXPECT_EQ(next_made(q), 80) << "made here: before them";
  EXPECT_EQ(next_made(q), 2);
  EXPECT_EQ(next_made(q), 3);
  come(4);
  for (const std::int64_t due : {4, 90, -1}) EXPECT_EQ(next_made(q), due);
}

// Of a factorisation: what waited for another rank seemed to wait for loops behind the first ones, and these stayed
// behind all that was made then; the whole factorisation waited before its second step ran.
TEST(QueueOrder, InOrderTheyStandAgainWhereTheyStood) {
  const abi::Block around = block(3);
  ReadyQueue q(4);
  const auto make_by = [&](std::int64_t due, std::int64_t first) {
    EXPECT_EQ(next_made(q), due);
    q.push(range(first, first + 9));
  };
  q.push(range(10, 19));
  q.push(fragment(0, 0));
  EXPECT_EQ(next_made(q), 0);
  Cf* const steps = allocate_cf(around, nullptr, {});
  abi::frame_int(steps, 0) = 90, abi::frame_int(steps, 1) = 99;
  q.push(steps);
  EXPECT_EQ(next_made(q), 90);
  q.push(range(10, 12));
  for (const std::int64_t due : {10, 11, 12}) EXPECT_EQ(next_made(q), due);
  for (Cf* c : q.take_all()) free_cf(c);

  q.push(range(90, 90));
  Cf* const last = allocate_cf(around, nullptr, {});
  abi::frame_int(last, 0) = 50, abi::frame_int(last, 1) = 59;
  q.push(last);  // behind it, in one body
  q.another_loop_first();
  make_by(50, 60);  // what it makes stands before it
  EXPECT_EQ(next_made(q), 60);
  q.another_loop_first();
  make_by(51, 70);
  EXPECT_EQ(next_made(q), 70);
  q.in_order();
  EXPECT_EQ(next_made(q), 90);
  for (std::int64_t k = 61; k < 70; ++k) EXPECT_EQ(next_made(q), k);
  for (std::int64_t k = 71; k < 80; ++k) EXPECT_EQ(next_made(q), k);
  EXPECT_EQ(next_made(q), 52);
  for (Cf* c : q.take_all()) free_cf(c);
}

}  // namespace
}  // namespace tessera::runtime
