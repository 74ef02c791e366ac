#include "runtime/work/ready_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "balancer/ready_order.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime {
namespace {

// Blocks of groups 0 and 1 (atomic), 2 (structured) and 3 (range).
const abi::Block& block(std::uint32_t group) {
  static const abi::Block* blocks = [] {
    auto* b = new abi::Block[4]{};
    for (std::uint32_t g = 0; g < 4; ++g) {
      b[g].index = b[g].group = g;
      b[g].layout = g == 3 ? "ii" : "i";
      b[g].frame_words = b[g].capacity = g == 3 ? 2 : 1;
      b[g].kind = g == 2 ? abi::Kind::sub : g == 3 ? abi::Kind::range : abi::Kind::atomic;
    }
    return b;
  }();
  return blocks[group];
}
Cf* fragment(std::uint32_t group, std::int64_t number) {
  Cf* c = allocate_cf(block(group), nullptr, {});
  abi::frame_int(c, 0) = number;
  return c;
}
Cf* range(std::int64_t first, std::int64_t last) {
  Cf* c = allocate_cf(block(3), nullptr, {});
  abi::frame_int(c, 0) = first;
  abi::frame_int(c, 1) = last;
  return c;
}
std::int64_t next_number(ReadyQueue& q) {
  Work w;
  if (!q.pop(w, Making::nothing, Making::all, 1)) return -1;
  const std::int64_t n = abi::frame_int(w.cf, 0);
  free_cf(w.cf);
  return n;
}

// Fragments (i, j) of two large inputs, row i and column j; `taken` lists the numbers of those taken.
class Products {
 public:
  Products() {
    block_.layout = "i";
    block_.frame_words = 1;
    block_.capacity = 3;
    block_.input_count = 2;
    block_.kind = abi::Kind::atomic;
    for (abi::Value*& v : rows_) v = abi::value_bytes(balancer::kLargeInput);
    for (abi::Value*& v : columns_) v = abi::value_bytes(balancer::kLargeInput);
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        Cf* c = allocate_cf(block_, nullptr, {});
        abi::frame_int(c, 0) = 10 * i + j;
        c->words()[1] = reinterpret_cast<std::uint64_t>(abi::retain(rows_[i]));
        c->words()[2] = reinterpret_cast<std::uint64_t>(abi::retain(columns_[j]));
        c->flags |= kGathered;
        queue_.push(c);
      }
    }
  }
  ~Products() {
    take(16, 0);
    for (abi::Value* v : rows_) abi::release(v);
    for (abi::Value* v : columns_) abi::release(v);
  }
  std::vector<std::int64_t> take(std::int64_t n, std::int32_t to) {
    std::vector<Cf*> out, exhausted;
    queue_.take(0, n, balancer::Rank{to}, out, exhausted);
    std::vector<std::int64_t> numbers;
    for (Cf* c : out) {
      numbers.push_back(abi::frame_int(c, 0));
      release_inputs(c);
      free_cf(c);
    }
    return numbers;
  }

 protected:
  abi::Block block_{};
  GroupStats weights_{1};
  ReadyQueue queue_{1, &weights_};
  abi::Value* rows_[4];
  abi::Value* columns_[4];
};

// Bytes of what each iteration reads again: as long as other ranks lack it, it would have to travel in each.
TEST(ReadyQueue, WhatIsReadAgainIsBorneAgain) {
  abi::Block block{};
  block.layout = "i";
  block.frame_words = 1;
  block.capacity = 3;
  block.input_count = 2;
  block.kind = abi::Kind::atomic;
  constexpr std::int64_t kBytes = 64 * 1024, kFragments = 4;
  const GroupStats weights{1};
  ReadyQueue q{1, &weights};
  q.others = 4;
  abi::Value* const shared = abi::value_bytes(kBytes);
  abi::Value* own[kFragments];
  for (abi::Value*& v : own) v = abi::value_bytes(kBytes);
  const auto iteration = [&] {
    for (abi::Value* v : own) {
      Cf* c = allocate_cf(block, nullptr, {});
      c->words()[1] = reinterpret_cast<std::uint64_t>(abi::retain(shared));
      c->words()[2] = reinterpret_cast<std::uint64_t>(abi::retain(v));
      c->flags |= kGathered;
      q.push(c);
    }
    std::vector<std::int64_t> ready(1), bytes(1);
    q.count(ready, bytes, Making::all);
    EXPECT_EQ(ready[0], kFragments);
    Work w;
    while (q.pop(w, Making::nothing, Making::all, 1)) {
      release_inputs(w.cf);
      free_cf(w.cf);
    }
    return bytes[0];
  };
  EXPECT_EQ(iteration(), (kFragments + 1) * kBytes);
  EXPECT_EQ(iteration(), (kFragments + 1) * kBytes);
  believe_on(own[0], balancer::Rank{1});
  EXPECT_EQ(iteration(), (kFragments + 1) * kBytes - kBytes / 4) << "one of four ranks has it";
  for (std::int32_t r = 1; r <= 4; ++r) believe_on(shared, balancer::Rank{r});
  EXPECT_EQ(iteration(), kFragments * kBytes - kBytes / 4) << "all have it";
  abi::release(shared);
  for (abi::Value* v : own) abi::release(v);
}

TEST(ReadyQueue, GivesUpAllItHas) {
  ReadyQueue q(4);
  std::vector<Cf*> pushed = {fragment(0, 1), fragment(1, 2), fragment(0, 3), fragment(2, 4), range(0, 9), range(5, 5)};
  for (Cf* c : pushed) q.push(c);
  Work w;
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 1));  // an atomic one
  std::erase(pushed, w.cf);
  free_cf(w.cf);
  std::vector<Cf*> all = q.take_all();
  EXPECT_TRUE(q.empty());
  std::sort(all.begin(), all.end());
  std::sort(pushed.begin(), pushed.end());
  EXPECT_EQ(all, pushed);
  for (Cf* c : all) free_cf(c);
}

TEST(ReadyQueue, WhatSharesInputsGoesTogether) {
  Products p;
  EXPECT_EQ(p.take(1, 1), (std::vector<std::int64_t>{0}));
  // Row 0 and column 0 are left for rank 1.
  EXPECT_EQ(p.take(1, 2), (std::vector<std::int64_t>{11}));
  EXPECT_EQ(p.take(2, 1), (std::vector<std::int64_t>{2, 3}));
  // Rank 2 has row 1 and column 1; of that row rank 1 has all other columns.
  EXPECT_EQ(p.take(2, 2), (std::vector<std::int64_t>{21, 31}));
  // Rank 1 has row 0 and columns 0, 2 and 3; with column 1 it can end its row, with row 1 do the rest of that.
  EXPECT_EQ(p.take(3, 1), (std::vector<std::int64_t>{1, 10, 12}));
  EXPECT_EQ(p.take(2, 1), (std::vector<std::int64_t>{13, 20}));
  // Whoever takes all that is left takes it in order.
  EXPECT_EQ(p.take(9, 3), (std::vector<std::int64_t>{22, 23, 30, 32, 33}));
}

TEST(ReadyQueue, WhatAThirdRankHasIsLeftForIt) {
  struct RowOfRank1 : Products {
    RowOfRank1() { believe_on(rows_[0], balancer::Rank{1}); }
  } p;
  EXPECT_EQ(p.take(1, 2), (std::vector<std::int64_t>{10}));
  // Column 0 is now with rank 2.
  EXPECT_EQ(p.take(1, 1), (std::vector<std::int64_t>{1}));
}

TEST(ReadyQueue, OneGroupIsFirstInFirstOut) {
  ReadyQueue q(4);
  for (int i = 0; i < 3; ++i) q.push(fragment(0, i));
  EXPECT_EQ(next_number(q), 0);
  EXPECT_EQ(next_number(q), 1);
  EXPECT_EQ(next_number(q), 2);
  EXPECT_EQ(next_number(q), -1);
}

TEST(ReadyQueue, TheGroupThatBecameReadyLastGoesFirst) {
  ReadyQueue q(4);
  q.push(fragment(0, 1));
  q.push(fragment(0, 2));
  q.push(fragment(1, 10));  // a consumer became ready
  EXPECT_EQ(next_number(q), 10);
  EXPECT_EQ(next_number(q), 1);
  EXPECT_EQ(next_number(q), 2);
}

// What takes long is shared out by the balancer; what is brief may make more of it ready.
TEST(ReadyQueue, WhatIsMuchLighterGoesFirstUntilThereIsPlenty) {
  GroupStats weights(4, {});
  ReadyQueue q(4, &weights, 3);
  const auto fill = [&](int heavy) {
    q.push(fragment(0, 1));
    for (int i = 0; i < heavy; ++i) q.push(fragment(1, 10 + i));
  };
  const auto order = [&] {
    std::vector<std::int64_t> all;
    for (std::int64_t n; (n = next_number(q)) >= 0;) all.push_back(n);
    return all;
  };
  fill(2);
  EXPECT_EQ(order(), (std::vector<std::int64_t>{10, 11, 1})) << "nobody knows";
  const auto took = [&](std::uint32_t group, std::uint64_t ticks) {
    weights.begin(group);
    weights.timed(group, 1, 1 + ticks);
  };
  took(0, 1000);
  took(1, 3000);
  fill(2);
  EXPECT_EQ(order(), (std::vector<std::int64_t>{10, 11, 1})) << "not much lighter";
  took(1, 9000);
  fill(2);
  EXPECT_EQ(order(), (std::vector<std::int64_t>{1, 10, 11}));
  fill(4);
  EXPECT_EQ(order(), (std::vector<std::int64_t>{10, 11, 1, 12, 13})) << "two are no plenty";
}

TEST(ReadyQueue, AtomicsBeforeStructuredUnlessExpanding) {
  ReadyQueue q(4);
  q.push(fragment(2, 20));
  q.push(fragment(0, 1));
  q.push(fragment(2, 21));
  Work w;
  ASSERT_TRUE(q.pop(w, Making::all, Making::all, 1));
  EXPECT_EQ(abi::frame_int(w.cf, 0), 20) << "in the order of the body that made them";
  free_cf(w.cf);
  EXPECT_EQ(next_number(q), 1);
  EXPECT_EQ(next_number(q), 21);
}

TEST(ReadyQueue, WhatTheNewestBodyMadeGoesFirstInItsOrder) {
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

TEST(ReadyQueue, WhatIsTakenAwayIsNoPlaceToGoBehind) {
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
TEST(ReadyQueue, WhatAnotherWorkerTakesChangesNoOrder) {
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

TEST(ReadyQueue, OnlyWhatIsReadyIsStolenWithoutAChunk) {
  ReadyQueue q(4);
  Cf* loop = range(1, 10);
  q.push(loop);
  Work w;
  EXPECT_FALSE(q.steal(w, Making::nothing, 1));
  q.push(fragment(0, 7));
  ASSERT_TRUE(q.steal(w, Making::nothing, 1));
  EXPECT_EQ(w.cf->block->kind, abi::Kind::atomic);
  free_cf(w.cf);
  free_cf(loop);
}

TEST(ReadyQueue, ALoopOfLoopsGivesOutOneIterationAtATime) {
  abi::Block nested = block(3);
  nested.flags = abi::kNested;
  ReadyQueue q(4);
  Cf* c = range(5, 14);
  c->block = &nested;
  q.push(c);
  Work w;
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 4));
  EXPECT_EQ(w.first, 5);
  EXPECT_EQ(w.last, 5);
  free_cf(c);
}

TEST(ReadyQueue, LoopsWhoseFragmentsHaveAPlaceMayBeLeft) {
  abi::Block stays = block(3);
  stays.flags = abi::kStays;
  ReadyQueue q(4);
  Cf* c = range(1, 4);
  c->block = &stays;
  q.push(c);
  q.push(fragment(0, 7));
  Work w;
  ASSERT_TRUE(q.pop(w, Making::movable, Making::movable, 1));
  EXPECT_EQ(abi::frame_int(w.cf, 0), 7);
  free_cf(w.cf);
  EXPECT_FALSE(q.pop(w, Making::movable, Making::movable, 1));
  EXPECT_FALSE(q.pop(w, Making::nothing, Making::nothing, 1));
  c->block = &block(3);
  EXPECT_TRUE(q.pop(w, Making::nothing, Making::movable, 1));
  EXPECT_TRUE(q.pop(w, Making::movable, Making::nothing, 1));
  c->block = &stays;
  EXPECT_TRUE(q.pop(w, Making::all, Making::nothing, 1));
  free_cf(c);
}

TEST(ReadyQueue, WhoIsFarAheadMakesByLoopsThatAreDueOnly) {
  abi::Block stays = block(3);
  stays.flags = abi::kStays;
  ReadyQueue q(4);
  Cf *due = range(1, 1), *ahead = range(10, 19);
  due->block = ahead->block = &stays;
  due->flags |= kDue;
  Work w;
  for (Cf* c : {due, ahead}) {
    q.push(c);
    EXPECT_FALSE(q.pop(w, Making::nothing, Making::nothing, 1));
  }
  EXPECT_FALSE(q.has(Making::subs));
  EXPECT_TRUE(q.has(Making::due));
  EXPECT_TRUE(q.has(Making::movable));
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::due, 4));
  EXPECT_EQ(w.cf, due);
  EXPECT_FALSE(q.has(Making::movable));
  EXPECT_TRUE(q.has(Making::all));
  for (Cf* c : {due, ahead}) free_cf(c);
}

TEST(ReadyQueue, WhatIsMadeByWhatIsDueIsDueWhereverItGoes) {
  std::vector<const abi::Block*> blocks;
  for (std::uint32_t g = 0; g < 4; ++g) blocks.push_back(&block(g));
  abi::Program program{};
  program.blocks = blocks.data();
  program.block_count = 4;
  abi::Scope scope{};
  Cf *maker = fragment(2, 0), *made = range(0, 9);
  made->scope = &scope;
  join_family(made, maker);
  EXPECT_EQ(made->flags & kDue, 0);
  maker->flags |= kDue;
  join_family(made, maker);
  Cf* const part = copy_range(made, 5, 9);
  Cf* const there = unpack(program, pack(part), &scope);
  EXPECT_NE(there->flags & kDue, 0);
  for (Cf* c : {maker, made, part, there}) free_cf(c);
}

TEST(ReadyQueue, LoopsBehindOneThatIsLeftAreNotLeft) {
  abi::Block stays = block(3), nested = block(3);
  stays.flags = abi::kStays;
  nested.flags = abi::kNested;
  ReadyQueue q(4);
  Cf *behind = range(1, 2), *around = range(1, 9), *first = range(5, 6);
  around->block = &nested;
  first->block = &stays;
  Work w;
  for (Cf* c : {behind, around, first}) {
    q.push(c);
    EXPECT_FALSE(q.pop(w, Making::nothing, Making::nothing, 1));  // the next one goes in front
  }
  EXPECT_FALSE(q.has(Making::subs));
  EXPECT_TRUE(q.has(Making::movable));
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::movable, 4));
  EXPECT_EQ(w.cf, behind);
  // Nor is the loop around the first unfolded.
  EXPECT_FALSE(q.has(Making::movable));
  ASSERT_TRUE(q.pop(w, Making::nothing, Making::all, 4));
  EXPECT_EQ(w.cf, first);
  EXPECT_TRUE(q.has(Making::movable));
  for (Cf* c : {behind, around, first}) free_cf(c);
}

// A turn makes the loop on the way to the next turn, and one beside it. The loop around the `while` comes last.
TEST(ReadyQueue, TheLoopsOfAWhileComeInTheOrderOfItsTurns) {
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
TEST(ReadyQueue, TheLoopsOfAFamilyStayInOrderWhateverStandsBeforeThem) {
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

TEST(ReadyQueue, WhoMakesMoreFoundsAFamilyOrJoinsOne) {
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

TEST(ReadyQueue, RangesAreClaimedInChunksAndEndOnce) {
  ReadyQueue q(4);
  q.push(range(5, 14));
  Work a, b, c;
  ASSERT_TRUE(q.pop(a, Making::nothing, Making::all, 4));
  EXPECT_EQ(a.first, 5);
  EXPECT_EQ(a.last, 8);
  ASSERT_TRUE(q.pop(b, Making::nothing, Making::all, 4));
  ASSERT_TRUE(q.pop(c, Making::nothing, Making::all, 4));
  EXPECT_EQ(c.first, 13);
  EXPECT_EQ(c.last, 14);
  EXPECT_TRUE(q.empty());
  EXPECT_FALSE(ReadyQueue::chunk_done(a.cf));
  EXPECT_FALSE(ReadyQueue::chunk_done(c.cf));
  EXPECT_TRUE(ReadyQueue::chunk_done(b.cf));
  free_cf(a.cf);
}

TEST(ReadyQueue, TakesOfAGroupAndSplitsRanges) {
  ReadyQueue q(4);
  for (int i = 0; i < 5; ++i) q.push(fragment(0, i));
  q.push(range(1, 10));
  std::vector<Cf*> out, exhausted;
  EXPECT_EQ(q.take(0, 2, balancer::Rank{1}, out, exhausted), 2);
  EXPECT_EQ(q.take(1, 2, balancer::Rank{1}, out, exhausted), 0);
  EXPECT_EQ(q.take(3, 4, balancer::Rank{1}, out, exhausted, Making::subs), 0);
  EXPECT_EQ(q.take(3, 4, balancer::Rank{1}, out, exhausted), 4);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(abi::frame_int(out[2], 0), 7);
  EXPECT_EQ(abi::frame_int(out[2], 1), 10);
  EXPECT_TRUE(exhausted.empty());
  EXPECT_EQ(q.take(3, 100, balancer::Rank{1}, out, exhausted), 6);
  EXPECT_EQ(exhausted.size(), 1u) << "nothing is left of it, nobody runs a chunk";
  for (Cf* c : out) free_cf(c);
  for (Cf* c : exhausted) free_cf(c);
  std::vector<std::int64_t> ready(4), bytes(4);
  q.count(ready, bytes, Making::all);
  EXPECT_EQ(ready, (std::vector<std::int64_t>{3, 0, 0, 0}));
  while (next_number(q) != -1) {}
}

TEST(ReadyQueue, WhatIsToComeBehindComesBehindTheLoopsOfItsBody) {
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

TEST(ReadyQueue, AnotherLoopMayComeFirst) {
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
TEST(ReadyQueue, AnotherLoopIsNoneThatStandsAroundMany) {
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
TEST(ReadyQueue, OfALoopTheOldestComesFirst) {
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

// The number of a fragment, or of a loop's next iteration.
std::int64_t next_made(ReadyQueue& q) {
  Work w;
  if (!q.pop(w, Making::nothing, Making::all, 1)) return -1;
  const bool loop = w.cf->block->kind == abi::Kind::range;
  const std::int64_t number = loop ? w.first : abi::frame_int(w.cf, 0);
  if (!loop || ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
  return number;
}

// While values pile up: of loops only those with at most 64 iterations left, wherever they stand.
TEST(ReadyQueue, OfManyIterationsNoneIsMadeByWhoMakesFew) {
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
TEST(ReadyQueue, OfCallsAllComeFirst) {
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
TEST(ReadyQueue, LoopsTakeTurns) {
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
TEST(ReadyQueue, WhoAsksForNoLoopsChangesNothing) {
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

TEST(ReadyQueue, WhatIsDueTakesTurnsWithWhatIsAhead) {
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
TEST(ReadyQueue, AWhileThatComesGoesBehindTheLoopsOfItsTurns) {
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
TEST(ReadyQueue, LoopsFromAnotherRankGoInTheirOrder) {
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
TEST(ReadyQueue, InOrderTheyStandAgainWhereTheyStood) {
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

// Whoever gives the only `while` away has nothing: not before it has waited for a while, behind something that takes
// long.
TEST(ReadyQueue, TheOnlyWhileStaysAMillisecond) {
  abi::Block turns = block(2);
  turns.kind = abi::Kind::loop;
  const GroupStats weights(4);
  ReadyQueue q(4, &weights);
  const auto offered = [&] {
    std::vector<std::int64_t> ready(4), bytes(4);
    q.count(ready, bytes, Making::movable);
    return ready[2];
  };
  const auto taken = [&] {
    std::vector<Cf*> out, exhausted;
    const std::int64_t n = q.take(2, 5, balancer::Rank{1}, out, exhausted, Making::movable);
    for (Cf* c : out) free_cf(c);
    return n;
  };
  q.push(range(1, 10));
  q.push(allocate_cf(turns, nullptr, {}), true);
  EXPECT_EQ(offered(), 0);
  EXPECT_EQ(taken(), 0);
  EXPECT_TRUE(q.counts_later());
  q.push(allocate_cf(turns, nullptr, {}), true);
  EXPECT_EQ(offered(), 2) << "of several each may go";
  EXPECT_FALSE(q.counts_later());
  EXPECT_EQ(taken(), 2);
  q.push(allocate_cf(turns, nullptr, {}), true);
  EXPECT_EQ(offered(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(offered(), 1);
  EXPECT_EQ(taken(), 1);
  for (Cf* c : q.take_all()) free_cf(c);
}

// Who leaves gives all away; who has made enough offers what is ready.
TEST(ReadyQueue, WhatIsToComeBehindIsCountedAndTaken) {
  ReadyQueue q(4);
  q.push(fragment(0, 1));
  q.push(fragment(2, 1));
  q.push(range(1, 10));
  q.push(fragment(2, 2), true);
  for (const auto& [making, counted] :
       {std::pair(Making::subs, std::vector<std::int64_t>{1, 0, 1, 0}), {Making::all, {1, 0, 2, 10}}}) {
    std::vector<std::int64_t> ready(4), bytes(4);
    q.count(ready, bytes, making);
    EXPECT_EQ(ready, counted);
  }
  std::vector<Cf*> out, exhausted;
  EXPECT_EQ(q.take(2, 5, balancer::Rank{1}, out, exhausted), 2);
  EXPECT_EQ(q.take(3, 10, balancer::Rank{1}, out, exhausted), 10);
  EXPECT_EQ(q.take(0, 5, balancer::Rank{1}, out, exhausted), 1);
  EXPECT_TRUE(q.empty());
  for (Cf* c : out) free_cf(c);
  for (Cf* c : exhausted) free_cf(c);
}

// Nothing is lost or run twice with several threads popping, taking and splitting (run under TSan).
TEST(ReadyQueue, NothingLostUnderConcurrency) {
  constexpr int kFragments = 20000, kIterations = 30000;
  ReadyQueue q(4);
  std::atomic<std::int64_t> sum{0}, count{0};
  const auto run = [&](const Work& w) {
    if (w.cf->block->kind == abi::Kind::range) {
      for (std::int64_t i = w.first; i <= w.last; ++i) sum += i;
      count += w.last - w.first + 1;
      if (ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
    } else {
      sum += abi::frame_int(w.cf, 0);
      ++count;
      free_cf(w.cf);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (count < kFragments + kIterations) {
        Work w;
        if (t == 2) {
          std::vector<Cf*> out, exhausted;
          q.take(3, 7, balancer::Rank{1}, out, exhausted);
          q.take(1, 3, balancer::Rank{1}, out, exhausted);
          for (Cf* c : exhausted) free_cf(c);
          for (Cf* c : out) q.push(c);
        }
        if (q.pop(w, t == 1 ? Making::all : Making::nothing, Making::all, 5)) {
          run(w);
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::int64_t expected = 0;
  q.push(range(1, kIterations));
  for (int i = 0; i < kFragments; ++i) {
    q.push(fragment(static_cast<std::uint32_t>(i % 2), i));
    expected += i;
  }
  for (std::int64_t i = 1; i <= kIterations; ++i) expected += i;
  for (auto& t : threads) t.join();
  EXPECT_EQ(sum, expected);
  EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace tessera::runtime
