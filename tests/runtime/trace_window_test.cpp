// A record that has no room for all keeps the end of the run: random trees of runs, in a room that is much too small.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "runtime/fragment/cf.hpp"
#include "runtime/threads/simulation.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/trace/trace_graph.hpp"
#include "workload_of.hpp"

namespace tessera::runtime {
namespace {

// Runs make others, kernels and loops: some run on the spot, some later. Each assigns a value of as many bytes as its
// number, by which it is known in the graph.
struct TracedWorld {
  TracedWorld(std::size_t limit, unsigned seed);
  void run(abi::Cf*);
  void make();
  void leave() {
    if (!ran_last) left_at[open.back()] = ticks();
    ran_last = false;
    ended.push_back(open.back());
    open.pop_back();
  }
  void assign(std::int64_t number) {
    buffer.made({static_cast<std::uint64_t>(number), 77}, static_cast<std::uint64_t>(number));
  }

  abi::VarInfo variable{"i", 'i', 0};
  abi::Block kernel{}, loop{};
  const abi::Block* blocks[2] = {&kernel, &loop};
  abi::Program program{};
  TraceBuffer buffer;
  abi::Worker* nobody = reinterpret_cast<abi::Worker*>(this);
  abi::Scope scope{{}, 1};
  std::mt19937 dice;
  std::int64_t numbers = 0, made = 0, most = 8000;
  bool deep = false, ran_last = false;
  int depth = 0;
  std::deque<abi::Cf*> waiting;
  std::vector<std::int64_t> open, ended;        // numbers of runs, in the order in which they ended
  std::map<std::int64_t, std::int64_t> makers;  // of a fragment's run: the run that made it
  std::map<std::uint64_t, std::int64_t> maker_of;
  std::set<std::int64_t> iterations;
  std::map<std::int64_t, std::uint64_t> left_at;  // ticks, when a run was left that did not end with another one
};
TracedWorld* world = nullptr;

const abi::Program& fill(TracedWorld& w) {
  w.kernel.kind = abi::Kind::atomic;
  w.kernel.layout = "i";
  w.kernel.frame_words = w.kernel.capacity = w.kernel.var_count = 1;
  w.kernel.vars = &w.variable;
  w.kernel.run = [](abi::Worker*, abi::Cf* c) {
    TracedWorld& x = *world;
    x.open.push_back(++x.numbers);
    x.makers[x.numbers] = x.maker_of[c->id.lo];
    x.assign(x.numbers);
    x.ran_last = false;
    for (unsigned k = x.dice() % 4; k > 0; --k) x.make();
    x.leave();
    return abi::Next::finished;
  };
  w.loop.index = w.loop.group = 1;
  w.loop.kind = abi::Kind::range;
  w.loop.layout = "ii";
  w.loop.frame_words = w.loop.capacity = 2;
  w.loop.iterate = [](abi::Worker*, abi::Cf* c, std::int64_t) {
    TracedWorld& x = *world;
    x.open.push_back(++x.numbers);
    x.makers[x.numbers] = x.maker_of[c->id.lo];
    x.iterations.insert(x.numbers);
    x.assign(x.numbers);
    x.ran_last = false;
    for (unsigned k = x.dice() % 3; k > 0; --k) x.make();
    x.leave();
  };
  w.program.blocks = w.blocks;
  w.program.block_count = 2;
  return w.program;
}

TracedWorld::TracedWorld(std::size_t limit, unsigned seed)
    : buffer(fill(*this), 1, std::make_shared<RecordRoom>(limit * RecordRoom::kUsual, 1)), dice(seed) {
  world = this;
  run(allocate_cf(kernel, &scope, {1, 1}));
  while (!waiting.empty()) {
    // The last one makes many more, inside each other.
    if (waiting.size() == 1 && !deep) deep = true, most = numbers + 4000;
    const auto at = waiting.begin() + static_cast<std::ptrdiff_t>(dice() % waiting.size());
    abi::Cf* const c = *at;
    waiting.erase(at);
    run(c);
  }
}

void TracedWorld::run(abi::Cf* c) {
  ++depth;
  if (c->block == &kernel) {
    buffer.run(*nobody, c);
  } else {
    for (std::int64_t i = 0, n = dice() % 40; i < n; ++i) buffer.iterate(*nobody, c, i, i > 0 && i % 16 != 0);
  }
  --depth;
  ran_last = true;
  free_cf(c);
}

void TracedWorld::make() {
  if (numbers > most) return;
  const abi::Block& b = !deep && dice() % 8 == 0 ? loop : kernel;
  abi::Cf* c = allocate_cf(b, &scope, {static_cast<std::uint64_t>(++made) * 0x9E3779B97F4A7C15u, 5});
  maker_of[c->id.lo] = open.back();
  buffer.born(*c);
  if ((deep && depth < 100) || (b.kind == abi::Kind::atomic && depth < 30 && dice() % 2 == 0))
    run(c);
  else
    waiting.push_back(c), ran_last = false;
}

// A clock that shows the same time so many times, as that of a machine that is translated does.
class CoarseClock final : public Simulation {
 public:
  explicit CoarseClock(std::int64_t looks) : looks_(looks) { simulation = this; }
  ~CoarseClock() override { simulation = nullptr; }
  Time now() override { return Time(std::chrono::nanoseconds(1'000'000 + looked_++ / looks_ * 100)); }
  int start(std::int32_t, std::function<void()>) override { return 0; }
  void join(int) override {}
  void wait(const void*, Time) override {}
  void notify(const void*, bool) override {}
  void runs(const abi::Cf*) override {}
  bool delivers(std::int32_t, std::int32_t, const Parcel&) override { return true; }
  std::size_t cores() const override { return 1; }

 private:
  const std::int64_t looks_;
  std::int64_t looked_ = 0;
};

void end_is_kept(unsigned seeds) {
  std::size_t lost = 0, deep = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    for (const std::size_t limit : {std::size_t{1} << 15, std::size_t{1} << 17, std::size_t{1} << 24}) {
      SCOPED_TRACE(std::to_string(seed) + ", " + std::to_string(limit));
      TracedWorld w(limit, seed);
      if (w.ended.size() < 100) continue;
      const std::uint64_t since = w.buffer.since();
      TraceGraph graph;
      std::size_t needs = 0;
      for (auto& part : w.buffer.take()) {
        needs += trace_needs(part.data(), part.data() + part.size());
        graph.add(Rank{0}, {.worker = 0, .base_ticks = since, .base_ns = 0, .words = std::move(part)});
      }
      if (since != 0) graph.since(0);
      ASSERT_TRUE(
          graph.build({balancer::Group{0}, balancer::Group{1}}, [](std::uint32_t) { return balancer::Group{0}; }));
      const balancer::simulator::Workload work = workload_of(graph);
      // What ended last, and all of that.
      const std::size_t kept = work.fragments.size();
      ASSERT_LE(kept, w.ended.size());
      if (limit == std::size_t{1} << 24) {
        EXPECT_EQ(since, 0u);
        EXPECT_EQ(kept, w.ended.size());
      } else if (since != 0) {
        EXPECT_GT(needs, limit * RecordRoom::kUsual / 4) << "much of the room is used";
        EXPECT_LE(needs, (limit + limit / 4) * RecordRoom::kUsual);
        ++lost;
      }
      std::vector<std::int64_t> last(w.ended.end() - static_cast<std::ptrdiff_t>(kept), w.ended.end()), found;
      std::vector<std::size_t> parent(kept, kept);
      for (std::size_t f = 0; f < kept; ++f) {
        found.push_back(work.fragments[f].output);
        for (const std::size_t c : work.fragments[f].children) parent[c] = f;
      }
      std::vector<std::int64_t> sorted = found;
      std::sort(last.begin(), last.end()), std::sort(sorted.begin(), sorted.end());
      // What was open when the window began assigned its value before, unless a later record of it says so.
      const auto without = static_cast<std::size_t>(std::count(sorted.begin(), sorted.end(), 0));
      deep = std::max(deep, without);
      std::vector<std::int64_t> known(sorted.begin() + static_cast<std::ptrdiff_t>(without), sorted.end());
      EXPECT_TRUE(std::includes(last.begin(), last.end(), known.begin(), known.end()));
      EXPECT_EQ(std::adjacent_find(known.begin(), known.end()), known.end());
      // Times are those at which they ran, and no worker works for longer than there was time.
      balancer::Time end = 0;
      graph.put_bars({}, 0, [&](const balancer::simulator::Bar& b, const auto&, const auto&) {
        end = std::max(end, b.start + b.length);
        const auto left = w.left_at.find(found[b.fragment]);
        const bool known = left != w.left_at.end() && found[b.fragment] != 0;
        EXPECT_TRUE(!known || b.start + b.length >= static_cast<balancer::Time>(left->second - since));
      });
      EXPECT_TRUE(since == 0 || work.work() <= end) << work.work() << " of " << end;
      std::size_t orphans = 0;
      for (std::size_t f = 0; f < kept; ++f) {
        if (found[f] == 0) continue;
        EXPECT_EQ(balancer::index(work.fragments[f].group), w.iterations.count(found[f])) << found[f];
        if (parent[f] == kept) {
          ++orphans;
        } else if (found[parent[f]] != 0) {
          EXPECT_EQ(found[parent[f]], w.makers[found[f]]);
        }
      }
      EXPECT_TRUE(since != 0 || orphans == 1) << "main only: " << orphans;
    }
  }
  EXPECT_GT(lost, seeds / 2);
  EXPECT_GT(deep, 3u) << "runs were open where the window begins";
}

TEST(TraceWindow, TheEndIsKeptWholeAndHangsTogether) { end_is_kept(40); }
TEST(TraceWindow, TheEndIsKeptWholeByACoarseClock) {
  for (const std::int64_t looks : {3, 300}) {
    SCOPED_TRACE(std::to_string(looks) + " looks");
    const CoarseClock clock(looks);
    end_is_kept(4);
  }
}

}  // namespace
}  // namespace tessera::runtime
