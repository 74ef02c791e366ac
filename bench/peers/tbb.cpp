// oneTBB: independent tasks and trees as a task_group, everything with dependences as a flow graph.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <deque>

#include "peer.hpp"

namespace {

using namespace peer;
namespace flow = oneapi::tbb::flow;
using Message = flow::continue_msg;
using FlowNode = flow::continue_node<Message>;

// A graph whose nodes start when all their predecessors have ended.
class Graph {
 public:
  template <class F>
  FlowNode& node(F f) {
    return nodes_.emplace_back(graph_, [f](const Message&) { f(); });
  }
  static void edge(FlowNode& from, FlowNode& to) { flow::make_edge(from, to); }
  void wait() { graph_.wait_for_all(); }

 private:
  flow::graph graph_;
  std::deque<FlowNode> nodes_;
};

void independent() {
  oneapi::tbb::task_group group;
  for (int i = 0; i < kIndependent; ++i) group.run([] {});
  group.wait();
}

void chain() {
  std::vector<int> x(kChain + 1);
  Graph g;
  FlowNode& first = g.node([&] { x[0] = 0; });
  FlowNode* last = &first;
  for (int i = 0; i < kChain; ++i) {
    FlowNode& n = g.node([&x, i] { x[i + 1] = x[i] + 1; });
    Graph::edge(*last, n);
    last = &n;
  }
  first.try_put({});
  g.wait();
  must_be(kChain, x[kChain]);
}

void stencil() {
  std::vector<std::vector<int>> x(kSteps + 1, std::vector<int>(kWidth + 2));
  for (int i = 0; i < kWidth; ++i) x[0][i + 1] = i;
  Graph g;
  FlowNode& start = g.node([] {});
  std::vector<FlowNode*> before, now(kWidth);
  for (int t = 1; t <= kSteps; ++t) {
    for (int i = 0; i < kWidth; ++i) {
      now[i] = &g.node([&x, t, i] { x[t][i + 1] = (x[t - 1][i] + x[t - 1][i + 1] + x[t - 1][i + 2]) % 1000; });
      if (t == 1) {
        Graph::edge(start, *now[i]);
        continue;
      }
      for (int k = std::max(0, i - 1); k <= std::min(kWidth - 1, i + 1); ++k) {
        Graph::edge(*before[k], *now[i]);
      }
    }
    before = now;
  }
  start.try_put({});
  g.wait();
  if (x[kSteps] != stencil_row()) must_be(1, 0);
}

void grow(int depth, long& x) {
  if (depth == 0) {
    x = 1;
    return;
  }
  long a = 0, b = 0;
  oneapi::tbb::task_group group;
  group.run([&] { grow(depth - 1, a); });
  group.run([&] { grow(depth - 1, b); });
  group.wait();
  x = a + b;
}
void tree() {
  long x = 0;
  grow(kDepth, x);
  must_be(1L << kDepth, x);
}

void fan() {
  std::vector<long> y(kFan + 1), s(kFan + 1);
  int x = 0;
  Graph g;
  FlowNode& one = g.node([&] { x = 1; });
  FlowNode* last = nullptr;
  for (int i = 1; i <= kFan; ++i) {
    FlowNode& read = g.node([&, i] { y[i] = x + i % 2; });
    FlowNode& add = g.node([&, i] { s[i] = s[i - 1] + y[i]; });
    Graph::edge(one, read);
    Graph::edge(read, add);
    if (last != nullptr) Graph::edge(*last, add);
    last = &add;
  }
  one.try_put({});
  g.wait();
  must_be(kFan + kFan / 2, s[kFan]);
}

void dag() {
  std::vector<int> x(kDag);
  Graph g;
  FlowNode& start = g.node([] {});
  std::vector<FlowNode*> nodes;
  for (int i = 0; i < kDag; ++i) {
    nodes.push_back(&g.node([&x, i] { x[i] = i < kRoots ? i : (x[left_of(i)] + x[right_of(i)]) % 1000; }));
    if (i < kRoots) {
      Graph::edge(start, *nodes[i]);
    } else {
      Graph::edge(*nodes[left_of(i)], *nodes[i]);
      Graph::edge(*nodes[right_of(i)], *nodes[i]);
    }
  }
  start.try_put({});
  g.wait();
  must_be(dag_end(), x[kDag - 1]);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, patterns(independent, chain, stencil, tree, fan, dag), [](int threads, auto f) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    arena.execute(f);
  });
}
