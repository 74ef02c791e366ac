// The best schedule by search, against all schedules, and against what the policies reach.
#include "balancer/simulator/optimum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "balancer/random.hpp"
#include "balancer/simulator/network.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

std::int64_t below(Random& r, std::int64_t n) {
  return static_cast<std::int64_t>(r.below(static_cast<std::uint64_t>(n)));
}

// Some are born, some made by others, with inputs of those before them.
Workload random_graph(Random& r, std::size_t fragments, std::int32_t ranks) {
  Workload w;
  w.groups = {GroupInfo{}};
  for (std::size_t f = 0; f < fragments; ++f) {
    Fragment made{Group{0}, (1 + below(r, 9)) * 1'000'000};
    made.bytes = below(r, 2) * below(r, 3'000'000);
    const bool child = f > 0 && r.below(2) == 0;
    if (child) {
      w.fragments[static_cast<std::size_t>(below(r, static_cast<std::int64_t>(f)))].children.push_back(f);
      if (r.below(3) == 0) made.home = Rank{static_cast<std::int32_t>(below(r, ranks))};
    } else {
      w.births.push_back({below(r, 2) * 2'000'000, Rank{static_cast<std::int32_t>(below(r, ranks))}, f});
    }
    for (std::size_t g = 0; g < f; ++g) {
      if (r.below(4) == 0) made.inputs.push_back({g, below(r, 4'000'000)});
    }
    made.output = 1000;
    w.add(std::move(made));
  }
  return w;
}

Options random_cluster(Random& r, std::int32_t ranks) {
  Options o;
  o.ranks = ranks;
  o.balancer = "none";
  o.threads = 1 + static_cast<std::int32_t>(r.below(2));
  o.latency = 10'000 + below(r, 2'000'000);
  o.bandwidth = r.below(2) == 0 ? 1e9 : 1e10;
  if (r.below(2) == 0) {
    for (std::int32_t i = 0; i < ranks; ++i) o.speeds.push_back(r.below(2) == 0 ? 1 : 0.5);
  }
  return o;
}

// All orders, all places: each fragment as soon as it can in its turn.
class AllSchedules {
 public:
  AllSchedules(const Workload& w, const Options& o)
      : work_(w), options_(o), network_(o), ends_(w.fragments.size(), -1), ranks_(w.fragments.size()) {}
  double best() {
    std::vector<std::vector<double>> threads(static_cast<std::size_t>(options_.ranks),
                                             std::vector<double>(static_cast<std::size_t>(options_.threads)));
    place(0, 0, threads);
    return best_;
  }

 private:
  double way(std::int32_t from, std::int32_t to, std::int64_t bytes) const {
    if (from == to) return 0;
    const LinkModel l = network_.link(Rank{from}, Rank{to});
    return static_cast<double>(l.latency) + static_cast<double>(bytes) * 1e9 / l.bandwidth;
  }
  // -1: something before it has not run.
  double ready(std::size_t f, std::int32_t rank) const {
    double at = 0;
    for (const Birth& b : work_.births) {
      if (b.fragment == f) at = static_cast<double>(b.at) + way(index(b.rank), rank, work_.fragments[f].bytes);
    }
    const auto after = [&](std::size_t g, std::int64_t bytes) {
      if (ends_[g] < 0) return false;
      at = std::max(at, ends_[g] + way(ranks_[g], rank, bytes));
      return true;
    };
    for (std::size_t g = 0; g < work_.fragments.size(); ++g) {
      const auto& made = work_.fragments[g].children;
      const bool home = index(work_.fragments[f].home) >= 0;
      if (std::find(made.begin(), made.end(), f) != made.end() && !after(g, home ? 0 : work_.fragments[f].bytes))
        return -1;
    }
    for (const Input& i : work_.fragments[f].inputs) {
      if (!after(i.fragment, i.bytes)) return -1;
    }
    return at;
  }
  void place(std::size_t placed, double end, std::vector<std::vector<double>>& threads) {
    if (placed == ends_.size()) best_ = std::min(best_, end);
    for (std::size_t f = 0; f < ends_.size(); ++f) {
      for (std::int32_t r = 0; ends_[f] < 0 && r < options_.ranks; ++r) {
        const double at = ready(f, r);
        if (at < 0) break;
        const auto rank = static_cast<std::size_t>(r);
        double& thread = *std::min_element(threads[rank].begin(), threads[rank].end());
        const double before = thread, speed = rank < options_.speeds.size() ? options_.speeds[rank] : 1;
        thread = ends_[f] = std::max(at, before) + static_cast<double>(work_.fragments[f].weight) / speed;
        ranks_[f] = r;
        const double ends = thread;
        place(placed + 1, std::max(end, ends), threads);
        ends_[f] = -1;
        thread = before;
      }
    }
  }

  const Workload& work_;
  const Options& options_;
  const Network network_;
  std::vector<double> ends_;
  std::vector<std::int32_t> ranks_;
  double best_ = std::numeric_limits<double>::infinity();
};

TEST(Optimum, IsTheBestOfAllSchedules) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random r(seed);
    const auto ranks = static_cast<std::int32_t>(1 + r.below(3));
    const Options o = random_cluster(r, ranks);
    const Workload w = random_graph(r, 2 + r.below(ranks == 3 ? 4 : 5), ranks);
    const Optimum found = optimum(w, o);
    const double best = AllSchedules(w, o).best();
    ASSERT_TRUE(found.proved) << seed;
    EXPECT_NEAR(static_cast<double>(found.found), best, best * 1e-3 + 2) << seed;
    EXPECT_LE(found.least, static_cast<Time>(best) + 1) << seed;
  }
}

TEST(Optimum, NoRunEndsBefore) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random r(seed * 7919);
    const auto ranks = static_cast<std::int32_t>(2 + r.below(3));
    Options o = random_cluster(r, ranks);
    const Workload w = random_graph(r, 4 + r.below(9), ranks);
    for (const char* policy : {"none", "steal", "auto", "central", "gossip", "diffusion"}) {
      o.balancer = policy;
      const Optimum best = optimum(w, o, 0, 200'000);  // a coordinator executes nothing
      const Outcome run = simulate(w, o);
      ASSERT_TRUE(run.ended) << seed << " " << policy << (run.faults.empty() ? "" : run.faults[0]);
      EXPECT_GE(run.finished + 20, best.least) << seed << " " << policy;
      EXPECT_GE(run.finished, run.bound - 20) << seed;
    }
  }
}

// Seven on three ranks that can be dealt evenly, but not by giving the heaviest to whom has least.
TEST(Optimum, OfIndependentFragments) {
  Options o;
  o.ranks = 3;
  o.balancer = "none";
  o.latency = 0;
  o.bandwidth = 1e15;
  Workload w;
  w.groups = {GroupInfo{}};
  for (const Time weight : {5, 5, 4, 4, 3, 3, 3}) {
    w.births.push_back({0, Rank{0}, w.add({Group{0}, weight * 1'000'000})});
  }
  const Optimum best = optimum(w, o);
  EXPECT_TRUE(best.proved);
  EXPECT_EQ(best.found, 9'000'000);  // 5 + 4, 5 + 4, 3 + 3 + 3; the heaviest first gives 11
}

// What comes later comes on no slow rank later still.
TEST(Optimum, TheBoundCountsTimesAsTheyAre) {
  Options o;
  o.ranks = 2;
  o.balancer = "none";
  o.speeds = {0.5, 0.25};
  Workload w;
  w.groups = {GroupInfo{}};
  w.births.push_back({7'000'000, Rank{0}, w.add({Group{0}, 1'000'000})});
  const Outcome run = simulate(w, o);
  EXPECT_EQ(run.finished, 9'000'000);
  EXPECT_EQ(run.bound, 9'000'000);
  EXPECT_EQ(run.critical_path, 8'000'000);
  EXPECT_EQ(optimum(w, o).found, 9'000'000);
}

TEST(Optimum, WithoutAProofItSaysWhatNoneCanBeat) {
  Options o;
  o.ranks = 4;
  o.balancer = "none";
  Workload w;
  w.groups = {GroupInfo{}};
  Random r(3);
  for (int i = 0; i < 40; ++i) w.births.push_back({0, Rank{0}, w.add({Group{0}, 1'000'000 + below(r, 9'000'000)})});
  const Outcome run = simulate(w, o);
  const Optimum few = optimum(w, o, run.finished, 10);
  EXPECT_FALSE(few.proved);
  EXPECT_EQ(few.found, run.finished);
  EXPECT_EQ(few.least, run.bound);
  EXPECT_LT(optimum(w, o, run.finished, 10'000).found, run.finished / 2);
}

TEST(Optimum, OfWhatIsMadeWhileItRuns) {
  for (const char* name : {"loop", "tree", "queens"}) {
    const auto* info = find_workload(name);
    ASSERT_NE(info, nullptr);
    const Settings small = std::string(name) == "loop"   ? Settings{{"items", "9"}, {"weights", "exponential"}}
                           : std::string(name) == "tree" ? Settings{{"depth", "3"}, {"branching", "2"}}
                                                         : Settings{{"n", "4"}};
    const auto made = [&] { return generate(*info, small, Surroundings{2, 5}); };
    const std::optional<Workload> graph = unfold(*made().program);
    ASSERT_TRUE(graph) << name;
    Options o;
    o.ranks = 2;
    o.latency = 1000;
    for (const char* policy : {"none", "steal", "auto"}) {
      o.balancer = policy;
      const auto program = made().program;
      const Outcome run = simulate(*program, o);
      EXPECT_EQ(run.work, graph->work()) << name;
      EXPECT_EQ(run.critical_path, graph->critical_path()) << name;
      EXPECT_LE(optimum(*graph, o).least, run.finished + 20) << name << " " << policy;
    }
  }
}

TEST(Optimum, SaysForWhatThereIsNone) {
  Workload w;
  w.groups = {GroupInfo{}};
  for (std::size_t i = 0; i <= kMostSearched; ++i) w.births.push_back({0, Rank{0}, w.add({Group{0}, 1})});
  EXPECT_EQ(why_no_optimum(w, {}), "the search is for up to 64 fragments; these are 65");
  Options changing;
  changing.changes.push_back({});
  EXPECT_EQ(why_no_optimum({}, changing), "the search is for clusters that do not change");
}

}  // namespace
}  // namespace tessera::balancer::simulator
