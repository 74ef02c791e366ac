// How long the rest of a run takes, from what has been counted.
#include "runtime/report/outlook.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>
#include <random>

namespace tessera::runtime {
namespace {

// Groups 0: main; 1: `for i` in it; 2: `for j` in each iteration of that; 3: a kernel in that; 4: a `while` in main;
// 5: a kernel in that; 6: a sub in main that calls itself; 7: a kernel in that.
class OutlookOf : public testing::Test {
 protected:
  OutlookOf() {
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      blocks_[b].index = blocks_[b].group = b;
      blocks_[b].kind = kinds_[b];
      blocks_[b].label = labels_[b];
      all_[b] = &blocks_[b];
    }
    program_.block_count = blocks_.size();
    program_.blocks = all_.data();
    program_.name = "p.fa";
    program_.main = &blocks_[0];
  }
  struct Group {
    std::uint32_t group;
    std::int64_t ran;
    double ms;
    GroupBirths births;
  };
  Outlook of(std::initializer_list<Group> groups, double seconds = 1) {
    std::vector<GroupTotals> all;
    for (const Group& g : groups) {
      GroupTotals t;
      t.group = g.group, t.count = g.ran, t.weight = g.ms * 1e6, t.births = g.births;
      all.push_back(t);
    }
    return outlook(program_, all, seconds);
  }
  static constexpr std::array kinds_ = {abi::Kind::sub,  abi::Kind::range,  abi::Kind::range, abi::Kind::atomic,
                                        abi::Kind::loop, abi::Kind::atomic, abi::Kind::sub,   abi::Kind::atomic};
  static constexpr std::array labels_ = {"main", "for i", "for j", "work", "while", "step", "fib", "leaf"};
  std::array<abi::Block, 8> blocks_{};
  std::array<const abi::Block*, 8> all_{};
  abi::Program program_{};
};

TEST_F(OutlookOf, ALoopOfWhichTwoFifthsHaveRun) {
  const Outlook o = of({{0, 1, 0, {}}, {1, 0, 0, {1, 100, 50, 0}}, {3, 40, 10, {50, 0, 0, 1}}}, 0.2);
  ASSERT_TRUE(o.done);
  EXPECT_NEAR(*o.done, 0.4, 1e-9);
  EXPECT_NEAR(*o.seconds_left, 0.3, 1e-9) << "two workers: 0.4 s of work in 0.2 s";
  EXPECT_FALSE(o.at_least);
  EXPECT_EQ(text_of(o), "about 300 ms left (40 % done)");
}

// Of ten turns of the outer loop four have been made, which made as many inner ones of 30 turns each.
TEST_F(OutlookOf, LoopsInLoops) {
  const Outlook o =
      of({{0, 1, 0, {}}, {1, 0, 0, {1, 10, 4, 0}}, {2, 0, 0, {4, 120, 90, 1}}, {3, 75, 2, {90, 0, 0, 2}}}, 1);
  ASSERT_TRUE(o.done);
  EXPECT_NEAR(*o.done, 75.0 / 300, 1e-9);
}

// A call that repeats is one fragment that runs many times: ten of these ten times each, of which four in ten have run.
TEST_F(OutlookOf, CallsThatRepeat) {
  blocks_[3].flags = abi::kRepeats;
  const Outlook o = of({{0, 1, 0, {}}, {1, 0, 0, {1, 10, 10, 0}}, {3, 40, 10, {10, 100, 0, 1}}});
  ASSERT_TRUE(o.done);
  EXPECT_NEAR(*o.done, 0.4, 1e-9);
}

TEST_F(OutlookOf, WhatIsNotKnownIsNotTold) {
  const Outlook turns = of({{0, 1, 0, {}}, {4, 20, 0, {1, 0, 0, 0}}, {5, 20, 2, {20, 0, 0, 4}}});
  EXPECT_FALSE(turns.seconds_left);
  EXPECT_NE(text_of(turns).find("not known: `while`"), std::string::npos) << text_of(turns);
  const Outlook itself = of({{0, 1, 0, {}}, {6, 20, 0, {40, 0, 0, 6}}, {7, 20, 2, {20, 0, 0, 6}}});
  EXPECT_FALSE(itself.seconds_left);
  EXPECT_NE(text_of(itself).find("`fib` at p.fa:0 calls itself"), std::string::npos) << text_of(itself);
  const Outlook twice = of({{0, 1, 0, {}}, {6, 20, 0, {40, 0, 0, kManyMakers}}, {7, 20, 2, {20, 0, 0, 6}}});
  EXPECT_FALSE(twice.seconds_left);
  EXPECT_FALSE(of({{0, 1, 0, {}}, {3, 1, 0, {50, 0, 0, 0}}}).seconds_left) << "nothing has ended yet";
}

// Six of 5 s, three for each of two workers: what runs counts as far as it has come, and the end is not before its end.
TEST_F(OutlookOf, WhatRunsIsNotDone) {
  const auto at = [&](std::int64_t ended, std::vector<RunningFragment> running, double seconds) {
    GroupTotals main, loop, work;
    main.group = 0, main.count = 1;
    loop.group = 1, loop.births = {1, 6, 6, 0};
    work.group = 3, work.count = ended, work.weight = ended == 0 ? 0 : 5e9, work.births = {6, 0, 0, 1};
    return outlook(program_, {main, loop, work}, seconds, running);
  };
  const RunningFragment new_one{"", 1, 3}, late{"", 8, 3};
  EXPECT_FALSE(at(0, {new_one, new_one}, 1).done);
  EXPECT_NEAR(*at(2, {new_one, new_one}, 6).seconds_left, 9, 1e-9);
  EXPECT_NEAR(*at(2, {new_one, new_one}, 6).done, 12.0 / 30, 1e-9);
  EXPECT_NEAR(*at(4, {new_one, new_one}, 11).seconds_left, 4, 1e-9);
  EXPECT_NEAR(*at(5, {new_one}, 11).seconds_left, 4, 1e-9) << "one of two workers has nothing more to do";
  EXPECT_NEAR(*at(5, {late}, 18).seconds_left, 0.8, 1e-9) << "nobody knows";
  Outlook over = at(5, {late}, 18);
  over.done = 1;
  EXPECT_NE(text_of(over).find("(99 % done)"), std::string::npos) << "it goes on: " << text_of(over);
}

// 40 s of the 41 were one kernel's: the tenth of it that may be left takes as long as that, not as it would beside all
// the time in which nothing ended.
TEST_F(OutlookOf, OneThatRunsLongIsWorkThatIsDone) {
  GroupTotals main, loop, work;
  main.group = 0, main.count = 1;
  loop.group = 1, loop.births = {1, 402, 402, 0};
  work.group = 3, work.count = 401, work.weight = 1.6e6, work.births = {402, 0, 0, 1};
  const Outlook o = outlook(program_, {main, loop, work}, 41, {{"", 40, 3}});
  EXPECT_NEAR(*o.seconds_left, 4, 0.1);
  EXPECT_NEAR(*o.done, 0.91, 0.01);
}

// Many that take 4 us and wait for each other: 100 end in a second.
TEST_F(OutlookOf, HowManyEndSaysHowLongTheRestTakes) {
  Pace pace;
  const auto at = [&](std::int64_t ended, double seconds) {
    Outlook o = of({{0, 1, 0, {}},
                    {1, 0, 0, {1, 10'000, 10'000, 0}},
                    {3, ended, 0.004, {10'000, 0, 0, 1}},
                    {5, 1000, 5, {1000, 0, 0, 0}}},
                   seconds);
    pace.correct(o, seconds);
    return o;
  };
  EXPECT_LT(*at(1000, 5).seconds_left, 0.1) << "the first look";
  EXPECT_LT(*at(1000, 5.1).seconds_left, 0.1) << "too soon";
  EXPECT_NEAR(*at(1100, 6).seconds_left, 89, 1e-6);
  EXPECT_NEAR(*at(1300, 7).seconds_left, 43.5, 1e-6);
  EXPECT_NEAR(*at(1300, 7.1).done, 7.1 / (7.1 + 43.5), 1e-6);
}

// A second in which many ended does not shorten what is known to take longer.
TEST_F(OutlookOf, ThePaceOnlyAdds) {
  Pace pace;
  Outlook o;
  o.done = 0.9, o.seconds_left = 0.3, o.to_come = 10;
  pace.correct(o, 1);
  o.ended = 1000;
  pace.correct(o, 2);
  EXPECT_EQ(o.seconds_left, 0.3);
  EXPECT_EQ(o.done, 0.9);
}

TEST_F(OutlookOf, WhatHasNotBegunTakesLonger) {
  const Outlook o = of({{0, 1, 0, {}}, {3, 10, 2, {20, 0, 0, 0}}, {5, 0, 0, {1, 0, 0, 0}}});
  EXPECT_TRUE(o.at_least);
  EXPECT_EQ(text_of(o), "about 1.00 s left (50 % done), without `step` at p.fa:0 (1 of them), which has not run yet");
}

// What is counted are samples, and others go on counting meanwhile: sums may not fit together.
TEST_F(OutlookOf, WhatDoesNotFitTogetherDoesNoHarm) {
  // Of a sub more have run than were counted as made; of a loop more turns.
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {6, 5, 0, {3, 0, 0, 0}}, {7, 7, 1, {10, 0, 0, 6}}}).done, 0.7, 1e-9);
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {1, 0, 0, {1, 100, 120, 0}}, {3, 60, 1, {120, 0, 0, 1}}}).done, 0.5, 1e-9);
  // A sub that runs for the first time, a loop whose turns nobody has counted yet.
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {6, 0, 0, {1, 0, 0, 0}}, {7, 2, 1, {4, 0, 0, 6}}}).done, 0.5, 1e-9);
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {1, 0, 0, {5, 50, 0, 0}}, {3, 1, 1, {4, 0, 0, 1}}}).done, 0.25, 1e-9);
  // Nothing is known of the loop, or of the sub, that made it.
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {3, 1, 1, {4, 0, 0, 1}}}).done, 0.25, 1e-9);
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {7, 1, 1, {4, 0, 0, 6}}}).done, 0.25, 1e-9);
  // Calls that repeat, none of which was counted; and what was made when nobody counted.
  blocks_[5].flags = abi::kRepeats;
  EXPECT_NEAR(*of({{0, 1, 0, {}}, {5, 3, 1, {}}, {7, 1, 1, {2, 0, 0, 0}}}).done, 0.8, 1e-9);
  const Outlook before = of({{0, 1, 0, {}}, {3, 2, 1, {4, 0, 0, kNoMaker}}});
  EXPECT_FALSE(before.done);
  EXPECT_NE(text_of(before).find("was made before"), std::string::npos) << text_of(before);
}

// Loops in loops in subs, some of the way: of programs that turn as often each time all of the work is known.
TEST_F(OutlookOf, RandomNests) {
  std::mt19937 dice(11);
  const auto up_to = [&](std::int64_t n) {
    return 1 + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 500; ++round) {
    // main: `for i` of `outer` turns; each runs `for j` of `inner` turns; each of these runs `work`. Beside it `for i`
    // in main has each turn run a sub `fib`, which makes two of `leaf`.
    const std::int64_t outer = up_to(50), inner = up_to(50), outer_made = up_to(outer);
    const std::int64_t inner_made = up_to(outer_made * inner), ran = up_to(inner_made);
    const std::int64_t subs_ran = static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(outer_made + 1));
    const std::int64_t leaves =
        subs_ran == 0 ? 0 : static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(2 * subs_ran + 1));
    const double work_ms = static_cast<double>(up_to(9)), leaf_ms = static_cast<double>(up_to(9)),
                 seconds = static_cast<double>(up_to(20));
    const Outlook o = of({{0, 1, 0, {}},
                          {1, 0, 0, {1, outer, outer_made, 0}},
                          {2, 0, 0, {outer_made, outer_made * inner, inner_made, 1}},
                          {3, ran, work_ms, {inner_made, 0, 0, 2}},
                          {6, subs_ran, 0, {outer_made, 0, 0, 1}},
                          {7, leaves, leaves > 0 ? leaf_ms : 0, {2 * subs_ran, 0, 0, 6}}},
                         seconds);
    const auto done = static_cast<double>(ran) * work_ms + static_cast<double>(leaves) * leaf_ms;
    double rest = static_cast<double>(outer * inner - ran) * work_ms;
    // Of leaves nothing is known before the first sub has run.
    if (leaves > 0) rest += static_cast<double>(2 * outer - leaves) * leaf_ms;
    ASSERT_TRUE(o.done) << text_of(o);
    EXPECT_NEAR(*o.done, done / (done + rest), 1e-6) << round;
    EXPECT_NEAR(*o.seconds_left, rest / done * seconds, 1e-6 * (1 + rest)) << round;
    EXPECT_EQ(o.at_least, leaves == 0 && subs_ran > 0) << round;
  }
}

}  // namespace
}  // namespace tessera::runtime
