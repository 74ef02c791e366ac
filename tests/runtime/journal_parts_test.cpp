// A journal's folder, its ranges, and how often it is written.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "balancer/random.hpp"
#include "runtime/journal/pace.hpp"
#include "tests/runtime/journal_folder.hpp"

namespace tessera::runtime::journal {
namespace {

TEST(JournalRanges, IdsAreTakenApart) {
  balancer::Random random(5);
  for (int k = 0; k < 1000; ++k) {
    const Id loop{random.below(~std::uint64_t{0}), random.below(~std::uint64_t{0})};
    const auto i = static_cast<std::int64_t>(random.below(1 << 30)) - (1 << 29);
    const auto statement = static_cast<std::uint32_t>(random.below(60));
    const Sibling s = sibling_of(fragment_of(loop, i, statement), statement);
    EXPECT_EQ(s.hi, loop.hi);
    EXPECT_EQ(index_in(loop, s), i);
  }
}

TEST(JournalRanges, RunsOfIterationsAreOneRecord) {
  Loops loops;
  const Id loop{7, 8}, other{9, 10}, unknown{11, 12};
  loops.note(loop);
  loops.note(other);
  Ranges members(loops);
  // Two statements in turns, one of them downwards; two loops in turns; what no loop is known of.
  for (std::int64_t i = 0; i < 1000; ++i) {
    members.add(fragment_of(loop, i, 3), 0);
    members.add(fragment_of(loop, 999 - i, 5), 1);
    members.add(fragment_of(other, i, 3), 0);
  }
  members.add(fragment_of(unknown, 1, 3), 0);
  members.add(fragment_of(loop, 2000, 3), 0);
  const Ranges all = members.take();
  EXPECT_EQ(all.singles().size(), 1u);
  ASSERT_EQ(all.ranges().size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(all.ranges()[k].first, 0);
    EXPECT_EQ(all.ranges()[k].last, 999);
  }
  EXPECT_EQ(all.ranges()[3].first, 2000);
}

// Of parts of loops ids are not undone: what is in the ranges is what was put there, in whatever order it was.
TEST(JournalRanges, PartsSaySoWithoutUndoing) {
  balancer::Random random(11);
  std::size_t records = 0;
  for (int round = 0; round < 100; ++round) {
    Loops loops;
    const Id all_loops[] = {{7, 8}, {9, 10}, {11, 12}};
    loops.note(all_loops[0]);
    loops.note(all_loops[1]);  // the third is not known any more
    Ranges members(loops);
    std::set<std::pair<std::uint64_t, std::uint64_t>> added, found;
    const auto put = [&](const Id& loop, std::int64_t i, std::uint32_t group, std::uint32_t part) {
      const Id id = fragment_of(loop, i, group + 3);
      members.add(id, group, part, i);
      added.insert({id.lo, id.hi});
    };
    for (std::uint32_t part = 1; part < 20; ++part) {
      const Id& loop = all_loops[random.below(3)];
      auto i = static_cast<std::int64_t>(random.below(100));
      for (const std::int64_t last = i + static_cast<std::int64_t>(random.below(50)); i <= last; ++i) {
        for (std::uint32_t group = 0; group < 2; ++group) {
          if (random.below(20) == 0) continue;  // it did not run at once
          put(loop, i, group, part);
        }
        // What did not, of whatever loop, comes between.
        if (random.below(10) == 0) {
          put(all_loops[random.below(3)], static_cast<std::int64_t>(random.below(150)),
              static_cast<std::uint32_t>(random.below(2)), 0);
        }
      }
      if (random.below(5) == 0) {
        const Ranges all = members.take();
        for (const Range& r : all.ranges()) {
          for (std::int64_t k = r.first; k <= r.last; ++k) {
            const Id id = fragment_of(r.loop, k, r.statement);
            found.insert({id.lo, id.hi});
          }
        }
        for (const Id& id : all.singles()) found.insert({id.lo, id.hi});
        records += all.ranges().size();
        ASSERT_EQ(found, added) << "round " << round;
        added.clear();
        found.clear();
      }
    }
  }
  EXPECT_GT(records, 1000u);
}

TEST_F(JournalFiles, TheFolderIsWaitedForAWhile) {
  const Origin origin = header().origin;
  for (const bool rank_0 : {true, false}) {
    auto before = std::make_unique<Folder>(folder_, origin);
    auto other = std::make_unique<Writing>(folder_);
    rank_0 ? other.reset() : before.reset();
    int waited = 0;
    const Folder mine(folder_, origin, Folder::Finished::goes, [&] {
      ++waited;
      before.reset();
      other.reset();
    });
    EXPECT_EQ(mine.wrong, "");
    EXPECT_EQ(waited, 1);
    EXPECT_EQ(token_of(folder_), mine.token);
  }
}

// mpirun ends the ranks of a run whose `tessera` was killed after 3 to 4 s: 2 of 71 runs that came at once were
// refused.
TEST_F(JournalFiles, TheFolderIsWaitedForUntilMpirunHasEndedItsRanks) {
  const Origin origin = header().origin;
  auto before = std::make_unique<Folder>(folder_, origin);
  std::thread mpirun([&] {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    before.reset();
  });
  EXPECT_EQ(Folder(folder_, origin).wrong, "");
  mpirun.join();
}

TEST_F(JournalFiles, OfAnotherProgramIsRefusedAndUntouched) {
  write_some(path(), header());
  Origin origin;
  origin.arguments = {"6"};
  EXPECT_NE(Folder(folder_, origin).wrong.find("with `5`, not with `6`"), std::string::npos);
  origin.hash[0] = 1;
  EXPECT_NE(Folder(folder_, origin).wrong.find("another program"), std::string::npos);
  EXPECT_EQ(records_of(path()).size(), 34u);
  origin = header().origin;
  origin.kernels[1] = 1;
  EXPECT_NE(Folder(folder_, origin).wrong.find("have changed since"), std::string::npos);
  origin = header().origin;
  const Folder mine(folder_, origin);
  EXPECT_EQ(mine.wrong, "");
  EXPECT_EQ(mine.attempt, 2u);
  EXPECT_NE(Folder(folder_, origin).wrong.find("another run is using"), std::string::npos);
}

TEST_F(JournalFiles, AfterTheEndARunBeginsAnew) {
  write_some(path(), header());
  { Folder(folder_, header().origin).finished(); }
  const Folder again(folder_, header().origin);
  EXPECT_TRUE(again.was_finished);
  EXPECT_TRUE(files_of(folder_).empty());
}

// One hundredth of the time, whatever a sweep costs, and not rarely for it: by what there is to be written now.
TEST(JournalPace, SweepsCostOneHundredth) {
  Pace pace;
  EXPECT_EQ(pace.interval({0, 0}, 100), 1);
  const Pace::Amount much{std::uint64_t{4} << 30, 10};
  EXPECT_GE(pace.interval(much, 1), 99.9 * pace.cost(much));
  const Pace::Amount some{1 << 20, 100};
  EXPECT_LT(pace.interval(some, 2), pace.interval(some, 50)) << "a young run is written more often";
  EXPECT_LE(pace.interval(some, 1e6), 60);
  const double before = pace.cost(some);
  for (int k = 0; k < 20; ++k) pace.took(some, 5 * before);
  EXPECT_NEAR(pace.cost(some), 5 * before, before);
}

}  // namespace
}  // namespace tessera::runtime::journal
