// The in-process transport: the shared scenarios under many seeds, and what only it can do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "phased.hpp"
#include "scenarios.hpp"
#include "test_values.hpp"

namespace tessera::runtime {
namespace {

using namespace std::chrono_literals;

// Runs a scenario with a thread per rank; returns what went wrong.
std::string run(const Scenario& scenario, const InprocOptions& options) {
  auto transports = make_inproc_transports(options);
  std::vector<std::string> wrong(transports.size());
  std::vector<std::thread> ranks;
  for (std::size_t r = 0; r < transports.size(); ++r) {
    ranks.emplace_back([&, r] {
      try {
        Phased phased(*transports[r]);
        scenario.run(phased, options.seed);
      } catch (const std::exception& e) {
        wrong[r] = "rank " + std::to_string(r) + ": " + e.what();
        std::fprintf(stderr, "%s\n", wrong[r].c_str());
        std::_Exit(1);  // the others would wait for ever
      }
    });
  }
  for (std::thread& t : ranks) t.join();
  std::string all;
  for (const std::string& w : wrong) all += w;
  return all;
}

struct Conformance : ::testing::TestWithParam<Scenario> {};

TEST_P(Conformance, PlainQueues) {
  for (const std::int32_t ranks : {1, 2, 3, 4, 7}) {
    EXPECT_EQ(run(GetParam(), {.ranks = ranks}), "");
  }
  EXPECT_EQ(live_values, 0);
}

TEST_P(Conformance, SeededDelays) {
#ifdef __SANITIZE_THREAD__
  constexpr std::uint64_t kSeeds = 3;  // everything takes twenty times as long
#else
  constexpr std::uint64_t kSeeds = 12;
#endif
  const bool heavy = std::string(GetParam().name) == "large_values";
  for (std::uint64_t seed = 1; seed <= (heavy ? 2 : kSeeds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_EQ(run(GetParam(), {.ranks = 4, .seed = seed, .max_delay = 300us}), "");
  }
  EXPECT_EQ(live_values, 0);
}

TEST_P(Conformance, EmulatedLink) { EXPECT_EQ(run(GetParam(), {.ranks = 3, .latency = 50us, .bandwidth = 4e9}), ""); }

INSTANTIATE_TEST_SUITE_P(Inproc, Conformance, ::testing::ValuesIn(scenarios()),
                         [](const auto& info) { return std::string(info.param.name); });

Parcel tagged(int tag) {
  Parcel p;
  p.bytes.push_back(static_cast<std::byte>(tag));
  return p;
}

// Senders 1, 2, 3 send in turn to rank 0; the order in which it gets them, as "123123...".
std::string order_under(std::uint64_t seed) {
  auto t = make_inproc_transports({.ranks = 4, .seed = seed});
  for (int i = 0; i < 5; ++i) {
    for (std::size_t from = 1; from < 4; ++from) t[from]->send(Rank{0}, tagged(i));
  }
  std::string order;
  std::vector<int> next(4);
  t[0]->progress([&](Rank from, Parcel&& p) {
    EXPECT_EQ(static_cast<int>(p.bytes[0]), next[static_cast<std::size_t>(index(from))]++);
    order += static_cast<char>('0' + index(from));
  });
  return order;
}

TEST(Inproc, WithoutASeedTheOrderOfSendingIsKept) { EXPECT_EQ(order_under(0), "123123123123123"); }

TEST(Inproc, ASeedReordersAcrossPairsTheSameWayEachTime) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(order_under(seed), order_under(seed));
    orders.insert(order_under(seed));
  }
  EXPECT_GE(orders.size(), 15u);
  EXPECT_EQ(orders.count("123123123123123"), 0u);
}

TEST(Inproc, ASeedDelaysUpToTheMaximum) {
  auto t = make_inproc_transports({.ranks = 2, .seed = 3, .max_delay = 20ms});
  for (int i = 0; i < 10; ++i) t[0]->send(Rank{1}, tagged(i));
  int got = 0;
  const auto count = [&](Rank, Parcel&&) { ++got; };
  t[1]->progress(count);
  EXPECT_LT(got, 10);
  const auto begin = Clock::now();
  while (got < 10) {
    t[1]->wait(Clock::now() + 1s);
    t[1]->progress(count);
  }
  EXPECT_LT(Clock::now() - begin, 500ms);
}

TEST(Inproc, ValuesAreSharedNotCopied) {
  auto t = make_inproc_transports({.ranks = 2});
  Parcel p;
  p.values.emplace_back(abi::value_bytes(100));
  const abi::Value* value = p.values[0].get();
  t[0]->send(Rank{1}, std::move(p));
  t[1]->progress([&](Rank, Parcel&& got) { EXPECT_EQ(got.values[0].get(), value); });
}

TEST(Inproc, TheEmulatedLinkTakesLatencyAndSizeOverBandwidth) {
  auto t = make_inproc_transports({.ranks = 2, .latency = 10ms, .bandwidth = 100e6});
  const auto begin = Clock::now();
  for (int i = 0; i < 2; ++i) {  // 20 ms each, one behind the other
    Parcel p;
    p.values.emplace_back(abi::value_bytes(2'000'000));
    t[0]->send(Rank{1}, std::move(p));
  }
  std::vector<Clock::duration> at;
  while (at.size() < 2) {
    t[1]->wait(begin + 10s);
    t[1]->progress([&](Rank, Parcel&&) { at.push_back(Clock::now() - begin); });
  }
  EXPECT_GE(at[0], 30ms);
  EXPECT_GE(at[1], 50ms);
  EXPECT_LT(at[1], 500ms);
}

TEST(Inproc, ASinkThatThrowsLosesNothingElse) {
  auto t = make_inproc_transports({.ranks = 1});
  for (int i = 0; i < 3; ++i) t[0]->send(Rank{0}, tagged(i));
  EXPECT_THROW(t[0]->progress([](Rank, Parcel&&) { throw std::runtime_error("no"); }), std::runtime_error);
  int next = 1;
  t[0]->progress([&](Rank, Parcel&& p) { EXPECT_EQ(static_cast<int>(p.bytes[0]), next++); });
  EXPECT_EQ(next, 3);
}

TEST(Inproc, TransportsMayOutliveEachOther) {
  auto t = make_inproc_transports({.ranks = 2});
  Parcel p;
  p.values.emplace_back(abi::value_bytes(10));
  t[0]->send(Rank{1}, std::move(p));
  t[1].reset();
  t[0]->send(Rank{1}, tagged(1));
  t.clear();
  EXPECT_EQ(live_values, 0);
}

TEST(Inproc, WrongArgumentsAreNamed) {
  EXPECT_THROW(make_inproc_transports({.ranks = 0}), std::invalid_argument);
  auto t = make_inproc_transports({.ranks = 2});
  EXPECT_THROW(t[0]->send(Rank{2}, {}), std::out_of_range);
  EXPECT_THROW(t[0]->send(Rank{-1}, {}), std::out_of_range);
}

TEST(InprocDeathTest, AbortFlushesAndExitsWithTheCode) {
  auto t = make_inproc_transports({.ranks = 1});
  EXPECT_EXIT(
      {
        // Fully buffered, as a pipe is.
        dup2(2, 1);
        static char buffer[1000];
        std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
        std::printf("partial output");
        t[0]->abort(17);
      },
      ::testing::ExitedWithCode(17), "partial output");
}

}  // namespace
}  // namespace tessera::runtime
