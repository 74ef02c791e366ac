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
#include "tests/journal_frames.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime::journal {
namespace {

namespace fs = std::filesystem;

Id name(std::uint64_t k) { return abi::mix({1, 2}, k); }
Id key(std::uint64_t k) { return abi::mix({3, 4}, k); }

// Wherever it is looked for first.
Recall recall(const Known& known, const Id& id, std::uint32_t group = 0) {
  Known::Near near;
  const Recall found = known.recall(id, group, near);
  for (std::uint32_t from = 0; from < 10; ++from) {
    near = {from, {from, from, 0}};
    EXPECT_EQ(known.recall(id, group, near), found) << from;
  }
  return found;
}
bool recalls(const Known& known, const Id& id, std::uint32_t group = 0) {
  return recall(known, id, group) != Recall::no;
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
    append(rows, ValueOf{id, {}, abi::Type::integer, std::as_bytes(std::span(&i, 1)), 0});
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
    append(rows, Gone{name(k + 10)});
    append(rows, Ran{reads});
    append(rows, Range{name(20), static_cast<std::int64_t>(k), 30, 2, 3});
    append(rows, learned(static_cast<std::int64_t>(k + 1), 100));
    if (k == 1) file.begin_sweep(1);
    file.records(rows);
    const std::string text(513 + k, 'x');
    file.value({name(k + 1), key(k), abi::Type::string, std::as_bytes(std::span(text)), 0});
    if (k == 1) file.end_sweep();
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
       [&](const Gone& g) { all.insert("gone " + std::to_string(g.id.lo)); },
       [&](const Learned& l) { all.insert("learned " + l.at(0).label + std::to_string(l.at(0).count)); },
       [&](const Ran& r) { all.insert("ran " + std::to_string(r.keys.size()) + std::to_string(r.keys[0].lo)); },
       [&](const Range& r) { all.insert("range " + std::to_string(r.first)); },
       {},
       [&](std::uint64_t sweep) { all.insert("whole " + std::to_string(sweep)); }});
  return all;
}

TEST_F(JournalFiles, WhatIsCutOffOrDamagedIsNotThere) {
  write_some(path(), header());
  const std::multiset<std::string> all = records_of(path());
  EXPECT_EQ(all.size(), 22u);
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
  for (int round = 0; round < 400; ++round) {
    fs::remove(path());
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
        for (const Range& r : members.ranges()) append(rows, r);
        if (!members.singles().empty()) append(rows, Ran{members.singles()});
        if (!rows.empty()) file.records(rows);
        rows.clear();
        members.clear();
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
  EXPECT_EQ(members.singles().size(), 1u);
  ASSERT_EQ(members.ranges().size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(members.ranges()[k].first, 0);
    EXPECT_EQ(members.ranges()[k].last, 999);
  }
  EXPECT_EQ(members.ranges()[3].first, 2000);
}

// What the stack held decided whether a frame's sum was right: ranks saw different journals, or undamaged values were
// passed over.
TEST_F(JournalFiles, SumsAreTheSameWhateverIsOnTheStack) {
  constexpr std::uint64_t kValueFrame = 3, kHead = 32;
  std::uint64_t bytes = 0;  // of a frame
  {
    File file(path(), header());
    const std::vector<std::byte> value(2000);
    for (std::uint64_t k = 0; k < 20; ++k) {
      const std::uint64_t before = file.size();
      file.value({name(k), {}, abi::Type::bytes, value, 0});
      bytes = file.size() - before - kHead;
    }
  }
  Header h;
  int values = 0;
  Sink sink;
  sink.value = [&](const ValueOf&) {
    ++values;
    leave_on_stack(abi::fold(1, kValueFrame * 0x9E3779B97F4A7C15u) + bytes);
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
  EXPECT_EQ(records_of(path()).size(), 22u);
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
