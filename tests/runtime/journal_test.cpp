// The journal's format, and what is made of its records.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "balancer/random.hpp"
#include "runtime/journal/folder.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/pace.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime::journal {
namespace {

namespace fs = std::filesystem;

Id name(std::uint64_t k) { return abi::mix({1, 2}, k); }
Id key(std::uint64_t k) { return abi::mix({3, 4}, k); }

// Wherever it is looked for first.
bool recalls(const Known& known, const Id& id) {
  std::uint32_t near = 0;
  const bool found = known.recalls(id, near);
  for (std::uint32_t from = 0; from < 10; ++from) {
    near = from;
    EXPECT_EQ(known.recalls(id, near), found) << from;
  }
  return found;
}

struct Fragment {
  std::vector<Id> reads;
  std::vector<Output> outputs;
};

Learned learned(std::int64_t count, balancer::Time mean) {
  balancer::ProfileGroup g;
  g.position = "p.fa:1";
  g.label = "f";
  g.count = count;
  g.mean = mean;
  return {g};
}

// Leaves on the stack what looks like a sum's state with this seed, without its secret: the seed is the 70th word of
// one, and the 72nd says that there is no other secret; states begin at multiples of 64.
[[gnu::noinline]] void leave_on_stack(std::uint64_t seed) {
  alignas(64) volatile std::uint64_t words[1024];
  for (std::size_t k = 0; k < std::size(words); ++k) words[k] = k % 8 == 5 ? seed : k % 8 == 7 ? 0 : k;
}

class JournalFiles : public testing::Test {
 protected:
  static Header header(std::uint64_t attempt = 1) {
    Header h;
    h.attempt = attempt;
    h.blocks = 7;
    h.origin.arguments = {"5"};
    return h;
  }
  fs::path path(std::uint32_t number = 0) const { return file_name(folder_, 1, 0, number); }
  static void write(File& file, std::uint64_t number, const Fragment& f) {
    std::vector<std::byte> rows;
    append(rows, Done{key(number), f.reads, f.outputs});
    file.records(rows);
  }
  static void write(File& file, const Id& id, std::int32_t i) {
    std::vector<std::byte> rows;
    append(rows, ValueOf{id, abi::Type::integer, std::as_bytes(std::span(&i, 1)), 0});
    file.records(rows);
  }
  tests::TemporaryFolder folder_;
};

// Some records of each kind, and a value with a frame of its own.
void write_some(const fs::path& path, const Header& header) {
  File file(path, header);
  for (std::uint64_t k = 0; k < 3; ++k) {
    std::vector<std::byte> rows;
    const Id reads[] = {name(k)};
    const Output outputs[] = {{name(k + 1), 1}, {name(k + 10), -1}};
    append(rows, Done{key(k), reads, outputs});
    append(rows, TakenBack{name(k), key(100 + k)});
    append(rows, Read{name(k + 10), static_cast<std::int64_t>(k)});
    append(rows, learned(static_cast<std::int64_t>(k + 1), 100));
    file.records(rows);
    const std::string text(600 + k, 'x');
    file.value({name(k + 1), abi::Type::string, std::as_bytes(std::span(text)), 0});
  }
}

// What is in it, as text.
std::multiset<std::string> records_of(const fs::path& path) {
  std::multiset<std::string> all;
  Header h;
  for_each_record(
      path, h,
      {[&](const Done& d) {
         all.insert("done " + std::to_string(d.key.lo) + " " + std::to_string(d.reads.size()) + " " +
                    std::to_string(d.outputs.size()));
       },
       [&](const ValueOf& v) {
         all.insert("value " + std::to_string(v.id.lo) +
                    std::string(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size()));
       },
       [&](const TakenBack& t) { all.insert("taken back " + std::to_string(t.id.lo) + std::to_string(t.key.lo)); },
       [&](const Read& r) { all.insert("read " + std::to_string(r.id.lo) + " " + std::to_string(r.uses)); },
       [&](const Learned& l) { all.insert("learned " + l.at(0).label + std::to_string(l.at(0).count)); }});
  return all;
}

TEST_F(JournalFiles, WhatIsCutOffOrDamagedIsNotThere) {
  write_some(path(), header());
  const std::multiset<std::string> all = records_of(path());
  EXPECT_EQ(all.size(), 15u);
  std::string bytes;
  {
    std::ifstream in(path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const fs::path other = folder_ / "other";
  const auto look = [&](const std::string& text) {
    std::ofstream(other, std::ios::binary) << text;
    const std::multiset<std::string> some = records_of(other);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
    return some.size();
  };
  std::size_t before = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::size_t now = look(bytes.substr(0, size));
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(before, all.size());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= static_cast<char>(1 << at % 8);
    EXPECT_LT(look(damaged), all.size()) << at;
  }
}

TEST_F(JournalFiles, WhatNobodyNeedsIsAMemo) {
  {
    // A chain: each reads what the one before has assigned. The value of the fifth is there.
    File file(path(), header());
    for (std::uint64_t k = 0; k < 8; ++k)
      write(file, k, {k == 0 ? std::vector<Id>{} : std::vector{name(k - 1)}, {{name(k), 1}}});
    write(file, name(5), 55);
  }
  const Known known(folder_, 2, 7);
  EXPECT_EQ(known.recalled, 6u);
  for (std::uint64_t k = 0; k < 8; ++k) EXPECT_EQ(recalls(known, key(k)), k <= 5) << k;
  abi::Value* five = known.output(name(5));
  EXPECT_EQ(five->i, 55);
  abi::release(five);
  abi::Value* four = known.output(name(4));
  EXPECT_EQ(four->type, abi::Type::memo);
  abi::release(four);
  // Translated otherwise, who reads what is not relied on.
  EXPECT_EQ(Known(folder_, 2, 8).recalled, 1u);
  // What this run or a later one writes is not of earlier ones.
  EXPECT_EQ(Known(folder_, 1, 7).fragments, 0u);
}

TEST_F(JournalFiles, WhatAllHaveReadWhoCouldIsNotNeeded) {
  for (const std::int64_t uses : {1, 2}) {
    fs::remove(path());
    {
      File file(path(), header());
      write(file, 0, {{}, {{name(0), -1}}});
      write(file, 1, {{name(0)}, {}});
      std::vector<std::byte> rows;
      append(rows, Read{name(0), uses});  // by a run, and by the one that went on
      append(rows, Read{name(0), uses});
      file.records(rows);
    }
    EXPECT_EQ(Known(folder_, 2, 7).recalled, uses == 1 ? 2u : 1u) << "of the second reader there is no record";
    EXPECT_EQ(Known(folder_, 2, 8).recalled, 1u) << "translated otherwise, others may read";
  }
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
  std::size_t recalled = 0, memos = 0;
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
        const bool later = random.below(3) == 0;  // how many read it is known only when all have
        program[k].outputs.push_back({name(k), later ? -1 : uses[k]});
        if (random.below(8) != 0) write(file, k, program[k]);
        if (later && random.below(3) != 0) {
          std::vector<std::byte> rows;
          append(rows, Read{name(k), uses[k]});
          file.records(rows);
        }
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
      if (v->type == abi::Type::memo) {
        ++memos;
        EXPECT_EQ(unread[name(k).lo], 0) << "round " << round << ", fragment " << k;
      } else {
        EXPECT_TRUE(there.contains(k) && v->i == static_cast<std::int32_t>(k));
      }
      abi::release(v);
    }
  }
  EXPECT_GT(recalled, 300u);
  EXPECT_GT(memos, 100u);
}

// What the stack held decided whether a frame's sum was right: ranks saw different journals, or undamaged values were
// passed over.
TEST_F(JournalFiles, SumsAreTheSameWhateverIsOnTheStack) {
  constexpr std::uint64_t kValueFrame = 3, kHead = 24;
  std::uint64_t bytes = 0;  // of a frame
  {
    File file(path(), header());
    const std::vector<std::byte> value(2000);
    for (std::uint64_t k = 0; k < 20; ++k) {
      const std::uint64_t before = file.size();
      file.value({name(k), abi::Type::bytes, value, 0});
      bytes = file.size() - before - kHead;
    }
  }
  Header h;
  int values = 0;
  Sink sink;
  sink.value = [&](const ValueOf&) {
    ++values;
    leave_on_stack(kValueFrame * 0x9E3779B97F4A7C15u + bytes);
  };
  EXPECT_EQ(for_each_record(path(), h, sink).damaged, 0u);
  EXPECT_EQ(values, 20);
}

// The last one of each rank and run counts; all of these together.
TEST_F(JournalFiles, HasWhatRanksHaveLearned) {
  for (const std::int32_t rank : {0, 1}) {
    Header h = header();
    h.rank = rank;
    File file(file_name(folder_, 1, rank, 0), h);
    for (const std::int64_t count : {5, 10}) {
      std::vector<std::byte> rows;
      append(rows, learned(count, rank == 0 ? 100 : 300));
      file.records(rows);
    }
  }
  const Learned all = Known(folder_, 2, 7).learned;
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 20);
  EXPECT_EQ(all[0].mean, 200);
  EXPECT_NEAR(all[0].variance, 10000, 1);
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

TEST_F(JournalFiles, OfAnotherProgramIsRefusedAndUntouched) {
  write_some(path(), header());
  Origin origin;
  origin.arguments = {"6"};
  EXPECT_NE(Folder(folder_, origin).wrong.find("with `5`, not with `6`"), std::string::npos);
  origin.hash[0] = 1;
  EXPECT_NE(Folder(folder_, origin).wrong.find("another program"), std::string::npos);
  EXPECT_EQ(records_of(path()).size(), 15u);
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
