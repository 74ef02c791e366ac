// In what order a worker makes fragments by loops that hold what may still be read of swept names.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizon.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {
namespace {

// Blocks of groups 0 (atomic, repeats), 1 (a sub) and 2 (a loop); frame: first, last, the hold.
const abi::Block& block_of(std::uint32_t group) {
  static const abi::Block* blocks = [] {
    auto* b = new abi::Block[3]{};
    constexpr abi::Kind kKinds[] = {abi::Kind::atomic, abi::Kind::sub, abi::Kind::range};
    for (std::uint32_t g = 0; g < 3; ++g) {
      b[g].index = b[g].group = g;
      b[g].layout = "iii";
      b[g].frame_words = b[g].capacity = 3;
      b[g].hold_word = 2;
      b[g].kind = kKinds[g];
    }
    b[0].flags = abi::kRepeats;
    b[2].hulls = [](const Cf*, std::int64_t, std::int64_t, abi::Hulls*) {};
    return b;
  }();
  return blocks[group];
}

class OrderOfLoops : public testing::Test {
 protected:
  ~OrderOfLoops() override {
    Horizon::release(reader_);
    name_.close();
  }
  OrderOfLoops() {
    name_.open();
    abi::Hulls on;  // time goes up
    on.add(name_.handle(), 0, abi::kMost);
    reader_ = Horizon::hold(on, nullptr);
  }

  // By its number, from which its iterations go on.
  Cf* make(std::uint32_t group, std::int64_t number, std::int64_t count = 1) {
    Cf* c = allocate_cf(block_of(group), nullptr, {});
    abi::frame_int(c, 0) = number;
    abi::frame_int(c, 1) = number + count - 1;
    abi::frame_int(c, 2) = 0;
    return c;
  }
  // It may still read these rows.
  Cf* holding(Cf* c, std::int64_t first, std::int64_t last) {
    abi::Hulls hulls;
    hulls.add(name_.handle(), first, last);
    abi::frame_int(c, 2) = reinterpret_cast<std::int64_t>(Horizon::hold(hulls, nullptr));
    c->flags |= kHolding;
    return c;
  }
  // As a body of its own makes them.
  void push(std::initializer_list<Cf*> list, bool behind = false) {
    Work none;
    queue_.pop(none, Making::nothing, Making::nothing, 1);
    for (Cf* c : list) queue_.push(c, behind);
  }
  std::vector<std::int64_t> order(Making first = Making::nothing) {
    std::vector<std::int64_t> numbers;
    Work w;
    while (w = {}, queue_.pop(w, first, Making::all, 100)) {
      const bool range = w.cf->block->kind == abi::Kind::range;
      numbers.push_back(range ? w.first : abi::frame_int(w.cf, 0));
      if (range && w.hold != nullptr) Horizon::release(w.hold);
      if (!range && (w.cf->flags & kHolding) != 0)
        Horizon::release(reinterpret_cast<HeldHull*>(abi::frame_int(w.cf, 2)));
      free_cf(w.cf);
    }
    return numbers;
  }
  using Numbers = std::vector<std::int64_t>;

  Horizon name_{nullptr};
  HeldHull* reader_ = nullptr;
  ReadyQueue queue_{3};
};

// One goes through x[t], the other through x[4 * u].
TEST_F(OrderOfLoops, WhoHoldsOlderValuesGoesFirst) {
  push({holding(make(2, 1000, 100), 1000, abi::kMost), holding(make(2, 500, 100), 500, abi::kMost)});
  EXPECT_EQ(order(), (Numbers{500, 1000}));
}

// The recursion reads further back than what a step has made beside it.
TEST_F(OrderOfLoops, WhatReadsAFewRowsIsNotOvertakenByWhatReadsOnAndOn) {
  push({holding(make(1, 1), 10, 10), holding(make(2, 2), 10, 11), make(2, 3), holding(make(1, 4), 8, abi::kMost)});
  EXPECT_EQ(order(), (Numbers{1, 2, 3, 4}));
}

// Nor by what is older: what stands between, and holds nothing, would be left.
TEST_F(OrderOfLoops, WhatReadsAFewRowsHasItsTurn) {
  push({holding(make(1, 1), 10, 10), make(2, 2), holding(make(2, 3), 9, 9)});
  EXPECT_EQ(order(), (Numbers{1, 2, 3}));
}

// Wherever it reads.
TEST_F(OrderOfLoops, WhatMakesAFewIsNotOvertaken) {
  push({holding(make(2, 1, 10), 100, abi::kMost), holding(make(1, 2), 8, abi::kMost)});
  EXPECT_EQ(order(), (Numbers{1, 2}));
}

// But a `while` that has come to the head is, by what is older and reads a few rows.
TEST_F(OrderOfLoops, WhatReadsOnAndOnIsOvertakenByWhatIsOlder) {
  push({holding(make(1, 1), 8, abi::kMost), holding(make(2, 2), 7, 8)});
  EXPECT_EQ(order(), (Numbers{2, 1}));
}

// The turn's first statement is a call, which is listed first: its loops go behind those of the turn before.
TEST_F(OrderOfLoops, LoopsOfATurnGoBehindThoseOfEarlierTurnsAlsoBehindACall) {
  constexpr std::uint64_t kTurns = 7;
  const auto of_turn = [&](Cf* c) {
    c->flags |= family_of(kTurns);
    return c;
  };
  push({of_turn(make(2, 10)), of_turn(make(2, 11))});
  push({of_turn(make(1, 20)), of_turn(make(2, 21))}, true);
  EXPECT_EQ(order(), (Numbers{20, 10, 11, 21}));
}

TEST_F(OrderOfLoops, AFragmentThatRepeatsMayGoBehindAllLoops) {
  push({make(2, 1)});
  queue_.push_last(make(0, 2));
  push({make(0, 3), make(2, 4)});
  EXPECT_EQ(order(), (Numbers{3, 4, 1, 2}));
}

// Also where loops go before what is ready, as long as something is.
TEST_F(OrderOfLoops, WhatHasGoneBehindAllIsNotMadeBeforeWhatIsReady) {
  queue_.push_last(make(0, 1));
  push({make(0, 2), make(2, 3)});
  EXPECT_EQ(order(Making::all), (Numbers{3, 2, 1}));
}

}  // namespace
}  // namespace tessera::runtime
