// oneTBB: shapes of programs, as flow graphs; a while whose condition looks at a value has a task_group for each turn.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <deque>

#include "shapes.hpp"

namespace {

using namespace peer;
namespace flow = oneapi::tbb::flow;
using Message = flow::continue_msg;
using FlowNode = flow::continue_node<Message>;

void rows(bool flags) {
  std::vector<Row> x(kTurns + 1);
  x[0] = first_row();
  flow::graph graph;
  std::deque<FlowNode> nodes;
  FlowNode start(graph, [](const Message&) {});
  for (int t = 0; t < kTurns; ++t) {
    for (int i = 0; i < kPoints; ++i) {
      nodes.emplace_back(graph, [&x, t, i, flags](const Message&) { x[t + 1][i] = step_of(x[t], i, flags); });
      if (t == 0) flow::make_edge(start, nodes.back());
      for (const int k : {left_point(i), i, right_point(i)}) {
        if (t > 0) flow::make_edge(nodes[(t - 1) * kPoints + k], nodes.back());
      }
    }
  }
  start.try_put({});
  graph.wait_for_all();
  if (x[kTurns] != last_row(flags)) must_be(1, 0);
}
void ring() { rows(false); }
void if_data() { rows(true); }

void while_data() {
  while_by([](Row& x, Row& y) {
    oneapi::tbb::task_group group;
    for (int i = 0; i < kPoints; ++i) group.run([&, i] { y[i] = step_of(x, i, false); });
    group.wait();
  });
}

void lu() {
  Blocks b;
  flow::graph graph;
  std::deque<FlowNode> nodes;
  FlowNode start(graph, [](const Message&) {});
  std::vector<FlowNode*> last(kBlocks * kBlocks, &start);  // who has written the block
  // It writes block (i, j) of step k, and reads two others.
  const auto node = [&](int i, int j, std::initializer_list<int> reads, auto f) {
    FlowNode& n = nodes.emplace_back(graph, [f](const Message&) { f(); });
    flow::make_edge(*last[i * kBlocks + j], n);
    for (const int r : reads) flow::make_edge(*last[r], n);
    last[i * kBlocks + j] = &n;
  };
  for (int k = 0; k < kBlocks; ++k) {
    node(k, k, {}, [&b, k] { b.diagonal(k); });
    for (int i = k + 1; i < kBlocks; ++i) node(i, k, {k * kBlocks + k}, [&b, i, k] { b.column(i, k); });
    for (int i = k + 1; i < kBlocks; ++i) {
      for (int j = k + 1; j <= i; ++j) {
        node(i, j, {i * kBlocks + k, j * kBlocks + k}, [&b, i, j, k] { b.rest(i, j, k); });
      }
    }
  }
  start.try_put({});
  graph.wait_for_all();
  if (b.a != factored().a) must_be(1, 0);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, shapes(ring, while_data, if_data, lu), [](int threads, auto f) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    arena.execute(f);
  });
}
