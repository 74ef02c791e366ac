// What is made of a journal's records: whichever of them are missing.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "balancer/random.hpp"
#include "runtime/journal/compact.hpp"
#include "tests/journal_frames.hpp"
#include "tests/runtime/journal_folder.hpp"

namespace tessera::runtime::journal {
namespace {

TEST_F(JournalFiles, WhatNobodyNeedsIsSkipped) {
  {
    // A chain: each reads what the one before has assigned. The value of the fifth is there.
    File file(path(), header());
    for (std::uint64_t k = 0; k < 8; ++k)
      write(file, k, {k == 0 ? std::vector<Id>{} : std::vector{name(k - 1)}, {{name(k), 1}}});
    write(file, name(5), 55);
  }
  const Known known(folder_, 2, 7);
  EXPECT_EQ(known.recalled, 6u);
  for (std::uint64_t k = 0; k < 8; ++k)
    EXPECT_EQ(recall(known, key(k)), k < 5 ? Recall::skipped : k == 5 ? Recall::gives : Recall::no) << k;
  abi::Value* five = known.output(name(5));
  EXPECT_EQ(five->i, 55);
  abi::release(five);
  EXPECT_EQ(known.output(name(4)), nullptr);
  // Translated otherwise, who reads what is not relied on.
  EXPECT_EQ(Known(folder_, 2, 8).recalled, 1u);
  // What this run or a later one writes is not of earlier ones.
  EXPECT_EQ(Known(folder_, 1, 7).fragments, 0u);
}

TEST_F(JournalFiles, AUseThatWasTakenBackIsNone) {
  for (const bool twice : {false, true}) {
    fs::remove(path());
    {
      File file(path(), header());
      write(file, 0, {{}, {{name(0), 2}}});
      write(file, 1, {{name(0)}, {}});
      for (int k = 0; k < (twice ? 2 : 1); ++k) {
        std::vector<std::byte> rows;
        append(rows, TakenBack{name(0), key(50)});  // by a run, and by the one that went on
        file.records(rows);
      }
    }
    EXPECT_EQ(Known(folder_, 2, 7).recalled, 2u);
  }
  fs::remove(path());
  {
    File file(path(), header());
    write(file, 0, {{}, {{name(0), 2}}});
    write(file, 1, {{name(0)}, {}});
  }
  const Known known(folder_, 2, 7);
  EXPECT_FALSE(recalls(known, key(0))) << "somebody has still to read it";
  EXPECT_TRUE(recalls(known, key(1)));
}

// Whatever records there are, who is not recalled finds values, or somebody who makes them.
TEST_F(JournalFiles, AnySubsetOfTheRecordsIsEnough) {
  balancer::Random random(17);
  std::size_t recalled = 0, unneeded = 0;
  for (int round = 0; round < 200; ++round) {
    fs::remove(path());
    const std::uint64_t count = 2 + random.below(20);
    std::vector<Fragment> program(count);
    std::vector<std::int64_t> uses(count);
    for (std::uint64_t k = 1; k < count; ++k) {
      for (std::uint64_t r = random.below(4); r > 0; --r) {
        const std::uint64_t from = random.below(k);
        program[k].reads.push_back(name(from));
        ++uses[from];
      }
    }
    std::set<std::uint64_t> there;
    {
      File file(path(), header());
      for (std::uint64_t k = 0; k < count; ++k) {
        // Sometimes what decides about the program reads it, too.
        if (random.below(5) == 0) ++uses[k];
        const bool unknown = random.below(3) == 0;  // how many read it
        program[k].outputs.push_back({name(k), unknown ? -1 : uses[k]});
        if (random.below(8) != 0) write(file, k, program[k]);
        if (random.below(3) == 0) {
          write(file, name(k), static_cast<std::int32_t>(k));
          there.insert(k);
        }
      }
    }
    const Known known(folder_, 2, 7);
    std::map<std::uint64_t, std::int64_t> unread;
    for (std::uint64_t k = 0; k < count; ++k) unread[name(k).lo] = uses[k];
    for (std::uint64_t k = 0; k < count; ++k) {
      if (!recalls(known, key(k))) continue;
      ++recalled;
      for (const Id& id : program[k].reads) --unread[id.lo];
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      if (!recalls(known, key(k))) continue;
      abi::Value* v = known.output(name(k));
      EXPECT_EQ(recall(known, key(k)), v == nullptr ? Recall::skipped : Recall::gives);
      if (v == nullptr) {
        ++unneeded;
        EXPECT_EQ(unread[name(k).lo], 0) << "round " << round << ", fragment " << k;
      } else {
        EXPECT_TRUE(there.contains(k) && v->i == static_cast<std::int32_t>(k));
      }
      abi::release(v);
    }
  }
  EXPECT_GT(recalled, 300u);
  EXPECT_GT(unneeded, 100u);
}

// One rank as the journal sees it: fragments run one after the other, and every now and then there is a sweep. Whatever
// frames are lost, each input of a fragment that is not recalled is given, or whoever assigns it is not recalled.
TEST_F(JournalFiles, AnySubsetOfTheFramesOfSweepsIsEnough) {
  balancer::Random random(23);
  std::size_t skipped = 0, gives = 0, gone = 0, broken = 0;
  const fs::path earlier = file_name(folder_, 1, 1, 0);
  for (int round = 0; round < 400; ++round) {
    fs::remove(path());
    fs::remove(earlier);
    const std::uint64_t count = 5 + random.below(60), sweeps_in = 1 + random.below(12);
    const Id loop = abi::mix({5, 6}, static_cast<std::uint64_t>(round));
    const auto id_of = [&](std::uint64_t k) {
      return fragment_of(loop, static_cast<std::int64_t>(k / 2), k % 2 == 0 ? 1 : 4);
    };
    std::vector<std::vector<std::uint64_t>> reads(count);
    std::vector<std::uint64_t> left(count);
    std::vector<bool> decides(count);  // what the program does depends on it
    for (std::uint64_t k = 1; k < count; ++k) {
      for (std::uint64_t r = random.below(4); r > 0; --r) {
        reads[k].push_back(k - 1 - random.below(std::min<std::uint64_t>(k, 9)));
        ++left[reads[k].back()];
      }
    }
    const std::vector<std::uint64_t> uses = left;
    if (round % 4 >= 2) {
      // Some have records of their own from elsewhere, and stand in no sweep there.
      Header h = header();
      h.rank = 1;
      File file(earlier, h);
      for (std::uint64_t k = 0; k < count; ++k) {
        if (random.below(4) == 0) continue;
        std::vector<Id> names;
        for (const std::uint64_t r : reads[k]) names.push_back(name(r));
        const Output output{name(k), -1};
        std::vector<std::byte> rows;
        append(rows, Done{id_of(k), names, std::span(&output, 1)});
        file.records(rows);
      }
    }
    std::set<std::uint64_t> recorded;
    {
      File file(path(), header());
      Loops loops;
      loops.note(loop);
      Ranges members(loops);
      std::vector<std::byte> rows;
      std::set<std::uint64_t> fresh, standing;
      std::uint64_t sweeps = 0;
      const auto alive = [&](std::uint64_t k) { return left[k] > 0 || decides[k]; };
      for (std::uint64_t k = 0; k < count; ++k) {
        for (const std::uint64_t r : reads[k]) --left[r];
        decides[k] = random.below(10) == 0;
        recorded.insert(k);
        fresh.insert(k);
        if (random.below(3) == 0) {
          std::vector<Id> names;
          for (const std::uint64_t r : reads[k]) names.push_back(name(r));
          const Output output{name(k), decides[k] || random.below(2) == 0 ? -1 : static_cast<std::int64_t>(uses[k])};
          append(rows, Done{id_of(k), names, std::span(&output, 1)});
        } else {
          members.add(id_of(k), static_cast<std::uint32_t>(k % 2));
        }
        if (random.below(sweeps_in) != 0) continue;
        file.begin_sweep(++sweeps);
        for (const std::uint64_t f : fresh) {
          if (!alive(f)) continue;
          const auto i = static_cast<std::int32_t>(f);
          std::vector<std::byte> value;
          append(value, ValueOf{name(f), id_of(f), abi::Type::integer, std::as_bytes(std::span(&i, 1)), 0});
          file.records(value);
          standing.insert(f);
        }
        for (auto s = standing.begin(); s != standing.end();) {
          if (alive(*s) || fresh.contains(*s)) {
            ++s;
            continue;
          }
          append(rows, Gone{name(*s)});
          ++gone;
          s = standing.erase(s);
        }
        fresh.clear();
        if (!rows.empty()) file.records(rows);
        rows.clear();
        const Ranges all = members.take();
        for (const Range& r : all.ranges()) append(rows, r);
        if (!all.singles().empty()) append(rows, Ran{all.singles()});
        if (!rows.empty()) file.records(rows);
        rows.clear();
        file.end_sweep();
      }
    }
    if (round % 2 == 1) tests::lose_frames(path(), [&] { return random.below(12) == 0; });
    const Known known(folder_, 2, 7);
    std::vector<Recall> is(count);
    for (std::uint64_t k = 0; k < count; ++k) is[k] = recall(known, id_of(k), static_cast<std::uint32_t>(k % 2));
    Known::Near near;
    for (std::uint64_t k = 0; k < count; ++k) {
      skipped += is[k] == Recall::skipped ? 1 : 0;
      if (is[k] == Recall::gives) {
        ++gives;
        abi::Value* v = known.output(name(k));
        ASSERT_NE(v, nullptr);
        EXPECT_EQ(v->i, static_cast<std::int32_t>(k));
        abi::release(v);
      }
      EXPECT_FALSE(decides[k] && is[k] == Recall::skipped) << "round " << round << ", fragment " << k;
      const auto i = static_cast<std::int64_t>(k / 2);
      const auto group = static_cast<std::uint32_t>(k % 2);
      const std::int64_t next = known.skips().next(loop, group, i, near.skips);
      for (std::int64_t at = i; at < next; ++at)
        EXPECT_EQ(is[static_cast<std::uint64_t>(at) * 2 + group], Recall::skipped) << "round " << round;
      if (is[k] != Recall::no) continue;
      ++broken;
      for (const std::uint64_t r : reads[k])
        EXPECT_NE(is[r], Recall::skipped) << "round " << round << ": " << k << " reads what " << r << " assigned";
    }
  }
  EXPECT_GT(skipped, 5000u);
  EXPECT_GT(gives, 500u);
  EXPECT_GT(gone, 500u);
  EXPECT_GT(broken, 1000u);
}

// Fragments that have printed count with what they have printed, or when that was passed on.
class JournalText : public JournalFiles {
 protected:
  void SetUp() override {
    File file(path(), header());
    std::uint64_t upto = 0;
    for (std::uint64_t sweep = 1; sweep <= 3; ++sweep) {
      file.begin_sweep(sweep);
      std::vector<std::byte> rows;
      append(rows, Text{9, upto, "line\n"});
      file.records(rows);
      upto += 5;
      file.needs({{9, upto}});
      write(file, sweep, Fragment{});  // a record of its own
      const Id ran[] = {key(10 + sweep)};
      rows.clear();
      append(rows, Ran{ran});
      file.records(rows);
      file.end_sweep();
    }
  }
  // Which of the six are recalled, as digits.
  std::string recalled(std::uint64_t attempt = 2) const {
    const Known known(folder_, attempt, 7);
    std::string all;
    for (std::uint64_t k : {1, 2, 3, 11, 12, 13}) all += recalls(known, key(k)) ? '1' : '0';
    std::string text;
    for (const PrintedText::Again& a : known.printed.again()) text += a.text;
    return all + " " + std::to_string(text.size());
  }
  void lose(std::size_t frame) {
    std::size_t k = 0;
    tests::lose_frames(path(), [&] { return ++k == frame; });
  }
};

TEST_F(JournalText, WhatWasNotPassedOnIsPrintedAgain) {
  EXPECT_EQ(recalled(), "111111 15");
  PrintedFile(folder_).note(9, 7);
  EXPECT_EQ(recalled(), "111111 8");
  PrintedFile(folder_).note(9, 15);
  EXPECT_EQ(recalled(), "111111 0");
}

TEST_F(JournalText, WhatIsDoneCountsWithItsText) {
  lose(5);  // the text of the second sweep
  EXPECT_EQ(recalled(), "100100 5");
  PrintedFile(folder_).note(9, 9);
  EXPECT_EQ(recalled(), "100100 0") << "a byte of it is missing";
  PrintedFile(folder_).note(9, 10);
  EXPECT_EQ(recalled(), "111101 5") << "the record of its own counts; that sweep is not whole";
}

TEST_F(JournalText, IsCompactedAlong) {
  PrintedFile(folder_).note(9, 7);
  ASSERT_EQ(compact(folder_, contents_of(folder_)), "");
  EXPECT_EQ(recalled(9), "111111 8");
  const fs::path file = files_of(folder_).front();
  std::size_t k = 0;
  tests::lose_frames(file, [&] { return ++k == 1; });
  EXPECT_EQ(recalled(9), "000000 0") << "its text is lost";
}

}  // namespace
}  // namespace tessera::runtime::journal
