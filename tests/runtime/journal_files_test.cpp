// The journal's format.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "runtime/journal/compact.hpp"
#include "tests/runtime/journal_folder.hpp"

namespace tessera::runtime::journal {
namespace {

// Leaves on the stack what looks like a sum's state with this seed, without its secret: the seed is the 70th word of
// one, and the 72nd says that there is no other secret; states begin at multiples of 64.
[[gnu::noinline]] void leave_on_stack(std::uint64_t seed) {
  alignas(64) volatile std::uint64_t words[1024];
  for (std::size_t k = 0; k < std::size(words); ++k) words[k] = k % 8 == 5 ? seed : k % 8 == 7 ? 0 : k;
}

TEST_F(JournalFiles, WhatIsCutOffOrDamagedIsNotThere) {
  write_some(path(), header());
  const std::multiset<std::string> all = records_of(path());
  EXPECT_EQ(all.size(), 34u);
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

// Where series live: of each rank what was written last, by how many ranks there were. Links: by hosts.
TEST_F(JournalFiles, HasWhereSeriesLiveAndWhatLinksAreLike) {
  const auto write = [&](std::uint64_t attempt, std::int32_t rank, std::int32_t ranks, std::int32_t to,
                         double bandwidth) {
    Header h = header();
    h.attempt = attempt;
    h.rank = rank;
    h.ranks = ranks;
    File file(file_name(folder_, attempt, rank, 0), h);
    std::vector<std::byte> rows;
    append(rows, SeriesPlaces{rank, ranks, {7, 8}, {to, 0}});
    append(rows, HostLinks{{"a", "b", 1000, bandwidth}, {"b", "b", 100, 1e10}});
    file.records(rows);
  };
  write(1, 0, 4, 3, 1e8);
  write(1, 1, 4, 2, 2e8);
  write(2, 0, 2, 1, 3e8);
  write(3, 0, 4, 2, 4e8);
  const auto check = [&](std::uint64_t attempt) {
    const Known known(folder_, attempt, 7);
    EXPECT_EQ(known.places.size(), 3u);
    EXPECT_EQ(known.places.at({4, 0}), (SeriesPlaces{0, 4, {7, 8}, {2, 0}}));
    EXPECT_EQ(known.places.at({4, 1}), (SeriesPlaces{1, 4, {7, 8}, {2, 0}}));
    EXPECT_EQ(known.places.at({2, 0}), (SeriesPlaces{0, 2, {7, 8}, {1, 0}}));
    EXPECT_EQ(known.links.at({"a", "b"}).bandwidth, 4e8);
    EXPECT_EQ(known.links.at({"b", "b"}).latency, 100);
    EXPECT_EQ(known.links.size(), 2u);
  };
  check(4);
  const Contents c = contents_of(folder_);
  EXPECT_EQ(c.series, 4u);
  EXPECT_EQ(c.links, 2u);
  EXPECT_EQ(compact(folder_, c), "");
  check(6);
}

}  // namespace
}  // namespace tessera::runtime::journal
