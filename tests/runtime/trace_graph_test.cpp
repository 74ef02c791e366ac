// What the workers of all ranks wrote down, put together.
#include "runtime/trace/trace_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "workload_of.hpp"

namespace tessera::runtime {
namespace {

constexpr TraceKey kMain = 1, kA = 2, kB = 3, kC = 4, kD = 5, kX = 10, kZ = 11;

TracePart part(std::int32_t worker, const std::vector<std::pair<TraceWord, TraceKey>>& records) {
  TracePart p{.worker = worker, .words = {}};
  for (const auto& [word, key] : records) {
    p.words.push_back(4u << kTraceShift | static_cast<std::uint64_t>(word));
    if (word != TraceWord::end) p.words.push_back(key);
    if (word == TraceWord::begin) p.words.push_back(0);
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
  ASSERT_TRUE(graph.build(std::vector<balancer::Group>(5, balancer::Group{0}),
                          [](std::uint32_t) { return balancer::Group{0}; }));
  const balancer::simulator::Workload work = workload_of(graph);
  ASSERT_EQ(work.fragments.size(), 5u);
  for (const std::size_t reader : {3, 4}) {  // B and D, as main made them
    ASSERT_EQ(work.fragments[reader].inputs.size(), 2u);
    EXPECT_EQ(work.fragments[reader].inputs[0].fragment, 1u) << "A";
    EXPECT_EQ(work.fragments[reader].inputs[1].fragment, 2u) << "C";
  }
}

// A shipment takes inputs along, also to where they are: who reads them there has not waited for it.
TEST(TraceGraph, WhatComesAlongMayHaveBeenThere) {
  using enum TraceWord;
  TraceGraph graph;
  graph.add(Rank{0}, part(0, {{begin, kMain}, {born, kA}, {born, kB}, {born, kC}, {born, kD}, {end, 0}}));
  graph.add(Rank{0}, part(1, {{begin, kA}, {made, kX}, {made, kZ}, {end, 0}}));
  const auto later = [](TracePart p) { return p.base_ns = 100, p; };
  graph.add(Rank{0}, later(part(0, {{begin, kB}, {input, kX}, {end, 0}})));
  graph.add(Rank{1}, later(part(0, {{begin, kC}, {input, kX}, {end, 0}})));
  graph.add(Rank{1}, later(part(1, {{begin, kD}, {input, kZ}, {end, 0}})));
  ASSERT_TRUE(graph.build(std::vector<balancer::Group>(5, balancer::Group{0}),
                          [](std::uint32_t) { return balancer::Group{0}; }));
  const std::vector<TraceGraph::Came> came = {{Rank{0}, kX, 50, true},  {Rank{1}, kX, 10, true},
                                              {Rank{1}, kX, 60, true},  {Rank{1}, kZ, 10, true},
                                              {Rank{1}, kZ, 60, false}, {Rank{1}, kZ, 70, true}};
  std::map<std::uint32_t, std::vector<balancer::Time>> found;
  graph.put_bars(came, 0, [&](const auto& bar, auto, auto arrivals) {
    for (const auto& a : arrivals) found[static_cast<std::uint32_t>(bar.fragment)].push_back(a.at);
  });
  EXPECT_EQ(found, (std::map<std::uint32_t, std::vector<balancer::Time>>{{3, {10}}, {4, {60}}}));
  // B may have gone to rank 1 and come back: on rank 0 its input was when A ended.
  EXPECT_EQ(graph.inputs_on(2, Rank{0}, 90, came).since, 4);
  EXPECT_EQ(graph.inputs_on(2, Rank{0}, 90, came).input, 0);
  EXPECT_EQ(graph.inputs_on(2, Rank{1}, 90, came).since, 10);
  EXPECT_EQ(graph.inputs_on(1, Rank{0}, 90, came).since, -1) << "it has none";
  // Asked for, it was not there any more.
  const std::vector<TraceGraph::Came> again = {
      {Rank{1}, kX, 10, false}, {Rank{1}, kX, 60, true, 55, 1}, {Rank{1}, kX, 70, true}};
  EXPECT_EQ(graph.inputs_on(2, Rank{1}, 90, again).since, 60);
  EXPECT_EQ(graph.inputs_on(2, Rank{1}, 90, again).asked, 55);
  EXPECT_EQ(graph.inputs_on(2, Rank{1}, 90, again).by, 1u);
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
  ASSERT_TRUE(graph.build(std::vector<balancer::Group>(5, balancer::Group{0}),
                          [](std::uint32_t) { return balancer::Group{0}; }));
  const balancer::simulator::Workload work = workload_of(graph);
  ASSERT_EQ(work.fragments.size(), 5u);
  std::vector<std::uint32_t> found;
  for (const auto& f : work.fragments) found.push_back(f.series);
  EXPECT_EQ(found, (std::vector<std::uint32_t>{0, 1, 0, 2, 1}));
}

// A loop that every rank runs: each makes what belongs there, in loops within and without. One rank alone leaves the
// same graph, whatever the order in which the parts come.
TEST(TraceGraph, IterationsOfEveryRankAreOne) {
  using enum TraceWord;
  constexpr TraceKey kOuter = 20, kInner = 21;
  const auto iteration_of = [](std::uint64_t block, TraceKey range, std::uint64_t number) {
    return std::vector<std::uint64_t>{block << kTraceShift | static_cast<std::uint64_t>(iteration), range, number, 0};
  };
  const auto put = [](TracePart& p, const std::vector<std::uint64_t>& words) {
    p.words.insert(p.words.end(), words.begin(), words.end());
  };
  const auto word = [](TraceWord w, TraceKey key) {
    std::vector<std::uint64_t> words{static_cast<std::uint64_t>(w)};
    if (w != end) words.push_back(key);
    return words;
  };
  // for i = 0..1 { a(i); for j = 0..1 b(i, j); }: block 1, 2 (a), 3 (for j), 4 (b). a(i) and b(i, j) are made by i %
  // ranks.
  const auto graph_of = [&](std::uint64_t ranks, bool other_way_round) {
    std::vector<std::pair<Rank, TracePart>> parts;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      TracePart p{.words = {}};
      if (r == 0) put(p, {std::uint64_t{0} << kTraceShift | static_cast<std::uint64_t>(begin), kMain, 0});
      if (r == 0) put(p, word(born, kOuter)), put(p, word(end, 9));
      for (std::uint64_t i = 0; i < 2; ++i) {
        put(p, iteration_of(1, kOuter, i));
        if (i % ranks == r) put(p, word(born, 100 + i));
        put(p, word(born, kInner + 10 * i));
        put(p, word(end, 9));
        for (std::uint64_t j = 0; j < 2; ++j) {
          put(p, iteration_of(3, kInner + 10 * i, j));
          if (i % ranks == r) put(p, word(born, 200 + 2 * i + j));
          put(p, word(end, 9));
        }
      }
      const auto kernel = [&](std::uint64_t block, TraceKey key) {
        put(p, {block << kTraceShift | static_cast<std::uint64_t>(begin), key, 0});
        put(p, word(end, 9));
      };
      for (std::uint64_t i = 0; i < 2; ++i) {
        if (i % ranks != r) continue;
        kernel(2, 100 + i);
        for (std::uint64_t j = 0; j < 2; ++j) kernel(4, 200 + 2 * i + j);
      }
      parts.emplace_back(Rank{static_cast<std::int32_t>(r)}, std::move(p));
    }
    if (other_way_round) std::reverse(parts.begin(), parts.end());
    TraceGraph graph;
    graph.spreads({false, true, false, false, false});
    for (const auto& [rank, part] : parts) graph.add(rank, part);
    std::vector<balancer::Group> groups;
    for (std::uint32_t b = 0; b < 5; ++b) groups.push_back(balancer::Group{b});
    EXPECT_TRUE(graph.build(groups, [](std::uint32_t) { return balancer::Group{0}; }));
    const balancer::simulator::Workload work = workload_of(graph);
    std::string text;
    for (const auto& f : work.fragments) {
      text += std::to_string(balancer::index(f.group)) + ":";
      for (const std::size_t c : f.children) text += " " + std::to_string(c);
      text += "\n";
    }
    return text;
  };
  const std::string alone = graph_of(1, false);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), '\n'), 13) << alone;
  EXPECT_EQ(graph_of(2, false), alone);
  EXPECT_EQ(graph_of(2, true), alone);
}

}  // namespace
}  // namespace tessera::runtime
