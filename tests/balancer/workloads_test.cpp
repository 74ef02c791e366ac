// The named workloads: what they make is what they say.
#include <gtest/gtest.h>

#include <cmath>

#include "balancer/simulator/workloads/catalogue.hpp"
#include "times.hpp"

namespace tessera::balancer::simulator {
namespace {

struct Ran {
  Outcome outcome;
  std::optional<Workload> graph;
};

Ran run(const std::string& text, const std::string& balancer, std::int32_t ranks, std::uint64_t seed = 1) {
  std::vector<std::string> wrong;
  const WorkloadRequest request = parse_workload(text, wrong);
  const WorkloadInfo* info = find_workload(request.name);
  EXPECT_NE(info, nullptr) << text;
  for (std::string& e : check_workload(*info, request.settings)) wrong.push_back(std::move(e));
  EXPECT_EQ(wrong, std::vector<std::string>{});
  Options o;
  o.balancer = balancer;
  o.ranks = ranks;
  o.seed = seed;
  Generated g = generate(*info, request.settings, {executing_ranks(o), seed});
  Ran r;
  r.outcome = g.graph ? simulate(*g.graph, o) : simulate(*g.program, o);
  r.graph = std::move(g.graph);
  EXPECT_EQ(r.outcome.faults, std::vector<std::string>{}) << text << " " << balancer;
  EXPECT_TRUE(r.outcome.ended);
  return r;
}

TEST(Workloads, EveryOneRunsUnderEveryBalancer) {
  for (const char* text :
       {"loop:items=200,bytes=1kB", "loop:items=200,range=true,born=cyclic", "matmul:blocks=4,multiply=5ms",
        "rowreduce:rows=8", "queens:n=8,weight=100us", "queens_loop:n=8,rows=2,weight=1us", "tree:depth=5",
        "iterate:parts=12,iterations=5", "iterate:parts=12,iterations=5,home=follow", "stencil:width=12,iterations=5",
        "stencil:width=4,height=4,iterations=5,home=first",
        "iterate:parts=12,iterations=5,home=first,barrier=false,series=true"}) {
    for (const PolicyInfo& p : policies()) {
      SCOPED_TRACE(std::string(text) + " under " + std::string(p.name));
      if (executing_ranks(p, {}, 5) < 1) continue;
      const Outcome a = run(text, std::string(p.name), 5).outcome;
      EXPECT_GT(a.executed, 0);
      EXPECT_GE(a.finished, a.bound) << "faster than can be";
    }
  }
}

TEST(Workloads, TheSameTwice) {
  for (const char* text : {"loop:weights=heavy", "tree", "queens:n=9", "iterate:pattern=random"}) {
    const Outcome a = run(text, "steal", 6, 3).outcome, b = run(text, "steal", 6, 3).outcome;
    EXPECT_EQ(a.finished, b.finished);
    EXPECT_EQ(a.messages, b.messages);
    EXPECT_EQ(a.busy, b.busy);
  }
  EXPECT_NE(run("tree", "none", 1, 3).outcome.executed, run("tree", "none", 1, 4).outcome.executed);
}

TEST(Workloads, WeightsHaveTheMeanTheyWereAskedFor) {
  for (const char* law : {"equal", "uniform", "exponential", "two", "heavy"}) {
    const std::string text = std::string("loop:items=100000,weight=1ms,weights=") + law;
    const Outcome o = run(text, "none", 1).outcome;
    EXPECT_NEAR(static_cast<double>(o.work) / 100'000, kMs, kMs * 0.05) << law;
  }
}

TEST(Workloads, QueensFindsAllSolutionsOnAnyNumberOfRanks) {
  // Placements of any number of rows, the empty one included: the tree that backtracking walks.
  EXPECT_EQ(run("queens:n=8", "none", 1).outcome.executed, 2057);
  const Outcome o = run("queens:n=10,weight=50us", "steal", 7).outcome;
  EXPECT_EQ(o.executed, 35'539);
  EXPECT_EQ(o.result, "724 solutions");
  EXPECT_GT(o.moved, 0);
}

TEST(Workloads, QueensAsALoopWeighsItsSubtrees) {
  // All placements but those of fewer rows than a fragment has (the empty one; 8 of one row; 42
  // of two).
  const Ran r = run("queens_loop:n=8,rows=3,weight=1us", "none", 1);
  EXPECT_EQ(r.outcome.work, (2057 - 1 - 8 - 42) * 1000);
  EXPECT_EQ(r.outcome.executed, 140);
  // Estimated, the sum and each fragment are near the exact ones.
  const Ran exact = run("queens_loop:n=12,weight=1us", "none", 1);
  const Ran rough = run("queens_loop:n=12,weight=1us,exact=0,descents=4000", "none", 1);
  EXPECT_NEAR(static_cast<double>(rough.outcome.work), static_cast<double>(exact.outcome.work),
              static_cast<double>(exact.outcome.work) * 0.03);
  double error = 0;
  for (std::size_t f = 0; f < exact.graph->fragments.size(); ++f) {
    const auto a = static_cast<double>(exact.graph->fragments[f].weight);
    error += std::abs(static_cast<double>(rough.graph->fragments[f].weight) - a) / a;
  }
  EXPECT_LT(error / static_cast<double>(exact.graph->fragments.size()), 0.1);
}

TEST(Workloads, SharedBlocksTravelOncePerRank) {
  const Ran r = run("matmul:blocks=6,multiply=20ms", "central", 5);
  EXPECT_EQ(r.outcome.executed, 72 + 216);
  // 72 blocks to each of three other ranks at most; each product needs two, and would bring 432.
  const std::int64_t block = 1'036'800;
  EXPECT_GT(r.outcome.moved, 100);
  EXPECT_LE(r.outcome.bytes_moved + r.outcome.bytes_fetched, 3 * 72 * block + 200'000);
}

// As by examples/matmul/matmul.fa: two statements of one loop.
TEST(Workloads, BlocksOfBothMatricesAreMadeInTurns) {
  const Ran r = run("matmul:blocks=3", "none", 1);
  for (std::size_t i = 0; i < 18; ++i) {
    const Fragment& f = r.graph->fragments[r.graph->births[i].fragment];
    EXPECT_EQ(r.graph->groups[index(f.group)].label.substr(0, 6), i % 2 == 0 ? "init_a" : "init_b");
  }
}

TEST(Workloads, IterationsWaitForTheirBarrier) {
  const Ran r = run("iterate:parts=8,iterations=3,pattern=step,skew=3,weight=10ms", "none", 4);
  // Each step lasts as long as the ranks with heavy parts: two of 15 ms.
  EXPECT_GE(r.outcome.finished, 3 * 30 * kMs);
  EXPECT_LE(r.outcome.finished, 3 * 30 * kMs + 3 * kMs);
  EXPECT_EQ(r.outcome.executed, 3 * 9);
}

TEST(Workloads, ChainsWaitForThemselvesOnly) {
  const Ran r = run("iterate:parts=8,iterations=3,pattern=step,skew=3,weight=10ms,barrier=false", "none", 4);
  EXPECT_EQ(r.outcome.executed, 3 * 8);
  // Ranks with light parts (5 ms) are through long before the others (15 ms).
  EXPECT_EQ(r.outcome.ends[3], 3 * 2 * 5 * kMs);
  EXPECT_EQ(r.outcome.ends[0], 3 * 2 * 15 * kMs);
}

TEST(Workloads, WhatWasMovedOfASeriesStaysMoved) {
  const std::string chains = "iterate:parts=16,iterations=20,weight=5ms,home=first,barrier=false,series=";
  const Outcome settled = run(chains + "true", "steal", 4).outcome;
  const Outcome loose = run(chains + "false", "steal", 4).outcome;
  EXPECT_LT(settled.moved, loose.moved / 2) << "of 320";
  EXPECT_LE(settled.finished, loose.finished * 11 / 10);
}

TEST(Workloads, AStencilLetsRanksRunAhead) {
  const std::string parts = "parts=8", same = ",iterations=6,pattern=random,weight=10ms,skew=8";
  const Time barrier = run("iterate:" + parts + same, "none", 8).outcome.finished;
  const Time stencil = run("stencil:width=8" + same, "none", 8).outcome.finished;
  EXPECT_LE(stencil, barrier);
  EXPECT_GT(run("stencil:width=8" + same, "none", 8).outcome.bytes_fetched, 0);
}

TEST(Workloads, WrongParametersAreNamed) {
  const WorkloadInfo& loop = *find_workload("loop");
  const auto said = [&](const char* key, const char* value) {
    const auto wrong = check_workload(loop, {{key, value}});
    return wrong.empty() ? std::string() : wrong.front();
  };
  EXPECT_NE(said("item", "3").find("did you mean 'items'"), std::string::npos);
  EXPECT_NE(said("weight", "3").find("a time with its unit"), std::string::npos);
  EXPECT_NE(said("bytes", "3 miles").find("a size"), std::string::npos);
  EXPECT_NE(said("weights", "lumpy").find("exponential"), std::string::npos);
  EXPECT_EQ(said("weight", "2.5us"), "");
  std::vector<std::string> wrong;
  parse_workload("loop:items", wrong);
  EXPECT_EQ(wrong.size(), 1u);
}

}  // namespace
}  // namespace tessera::balancer::simulator
