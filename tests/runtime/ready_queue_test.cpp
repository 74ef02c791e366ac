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
#include "tests/runtime/queue_fragments.hpp"

namespace tessera::runtime {
namespace {

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
  q.set_others(4);
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
  // What was read before is taken to be read as often again.
  EXPECT_EQ(iteration(), (kFragments + 1) * kBytes / 2);
  believe_on(own[0], balancer::Rank{1});
  EXPECT_NEAR(static_cast<double>(iteration()), ((kFragments + 1) * kBytes - kBytes / 4) / 3., 512)
      << "one of four ranks has it";
  for (std::int32_t r = 1; r <= 4; ++r) believe_on(shared, balancer::Rank{r});
  EXPECT_NEAR(static_cast<double>(iteration()), (kFragments * kBytes - kBytes / 4) / 4., 512) << "all have it";
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
  EXPECT_EQ(abi::frame_int(out[2], 0), 1) << "the first ones: the last ones may be read last";
  EXPECT_EQ(abi::frame_int(out[2], 1), 4);
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

// It is kept while fragments come and go, not looked for.
TEST(ReadyQueue, WhatIsCountedIsWhatIsListed) {
  ReadyQueue queues[2] = {ReadyQueue(4), ReadyQueue(4)};
  std::vector<std::int64_t> listed(4);
  std::uint64_t random = 7;
  for (int k = 0; k < 20'000; ++k) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    ReadyQueue& q = queues[random >> 33 & 1];
    const auto what = random >> 40 & 15;
    const std::uint32_t g = random >> 50 & 3;
    std::vector<Cf*> gone, exhausted;
    if (what < 6) {
      q.push(g == 3 ? range(1, 3) : fragment(g, 0), (random >> 60 & 1) != 0);
      listed[g] += g == 3 ? 3 : 1;
    } else if (what < 7) {
      q.push_last(fragment(0, 0));
      ++listed[0];
    } else if (what < 11) {
      Work w;
      if (!q.pop(w, Making::nothing, Making::all, 1)) continue;
      --listed[w.cf->block->group];
      if (w.cf->block->kind != abi::Kind::range || ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
    } else if (what < 15) {
      listed[g] -= q.take(g, 2, balancer::Rank{1}, gone, exhausted);
    } else {
      q.hand_over(&q == queues ? queues[1] : queues[0]);
      EXPECT_TRUE(q.empty());
      EXPECT_TRUE(q.looks_empty());
    }
    for (Cf* c : gone) free_cf(c);
    for (Cf* c : exhausted) free_cf(c);
    std::vector<std::int64_t> ready(4), bytes(4);
    for (ReadyQueue& each : queues) each.count(ready, bytes, Making::all);
    ASSERT_EQ(ready, listed) << k;
  }
  for (ReadyQueue& each : queues) {
    for (Cf* c : each.take_all()) free_cf(c);
  }
}

TEST(ReadyQueue, WhatIsHandedOverGoesFirstInItsOrder) {
  ReadyQueue from(4), to(4);
  from.push(range(10, 11));
  from.push(range(20, 20));
  to.push(range(30, 30));
  Work w;
  ASSERT_TRUE(from.steal(w, Making::all, 1));  // whose chunk has not ended
  from.hand_over(to);
  EXPECT_TRUE(from.empty());
  for (const std::int64_t due : {11, 20, 30, -1}) EXPECT_EQ(next_made(to), due);
  EXPECT_TRUE(ReadyQueue::chunk_done(w.cf));
  free_cf(w.cf);
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
