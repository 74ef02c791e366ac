// What the workers of all ranks wrote down, put together.
#include "runtime/trace/trace_graph.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr TraceKey kMain = 1, kA = 2, kB = 3, kC = 4, kD = 5, kX = 10, kZ = 11;

TracePart part(std::int32_t worker, const std::vector<std::pair<TraceWord, TraceKey>>& records) {
  TracePart p{.worker = worker, .words = {}};
  for (const auto& [word, key] : records) {
    p.words.push_back(4u << kTraceShift | static_cast<std::uint64_t>(word));
    if (word != TraceWord::end) p.words.push_back(key);
  }
  return p;
}

// A part is full in the middle of a fragment's inputs, and that of another worker, where one reads the same, comes
// next.
TEST(TraceGraph, InputsMayBeInTwoParts) {
  using enum TraceWord;
  TraceGraph graph;
  graph.add(
      Rank{0},
      part(0, {{begin, kMain}, {born, kA}, {born, kC}, {born, kB}, {born, kD}, {end, 0}, {begin, kB}, {input, kX}}));
  graph.add(Rank{0}, part(1, {{begin, kA},
                              {made, kX},
                              {end, 0},
                              {begin, kC},
                              {made, kZ},
                              {end, 0},
                              {begin, kD},
                              {input, kX},
                              {input, kZ},
                              {end, 0}}));
  graph.add(Rank{0}, part(0, {{input, kZ}, {end, 0}}));
  balancer::simulator::Workload work;
  ASSERT_TRUE(graph.build(
      std::vector<balancer::Group>(5, balancer::Group{0}), [](std::uint32_t) { return balancer::Group{0}; }, work));
  ASSERT_EQ(work.fragments.size(), 5u);
  for (const std::size_t reader : {3, 4}) {  // B and D, as main made them
    ASSERT_EQ(work.fragments[reader].inputs.size(), 2u);
    EXPECT_EQ(work.fragments[reader].inputs[0].fragment, 1u) << "A";
    EXPECT_EQ(work.fragments[reader].inputs[1].fragment, 2u) << "C";
  }
}

// The word before the one of the birth may be the last one of a part. Numbers are those of the order in the program.
TEST(TraceGraph, SeriesAreNumbered) {
  using enum TraceWord;
  constexpr TraceKey kOne = 77, kTwo = 55;
  TraceGraph graph;
  graph.add(Rank{0}, part(0, {{begin, kMain}, {series, kOne}, {born, kA}, {born, kB}, {series, kTwo}}));
  graph.add(Rank{0}, part(0, {{born, kC}, {series, kOne}, {born, kD}, {end, 0}}));
  graph.add(Rank{1},
            part(0, {{begin, kA}, {end, 0}, {begin, kB}, {end, 0}, {begin, kC}, {end, 0}, {begin, kD}, {end, 0}}));
  balancer::simulator::Workload work;
  ASSERT_TRUE(graph.build(
      std::vector<balancer::Group>(5, balancer::Group{0}), [](std::uint32_t) { return balancer::Group{0}; }, work));
  ASSERT_EQ(work.fragments.size(), 5u);
  std::vector<std::uint32_t> numbers;
  for (const auto& f : work.fragments) numbers.push_back(f.series);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace tessera::runtime
