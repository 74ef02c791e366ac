// oneTBB: a flow graph, built and then run. A tile remembers the node that writes it last; no task
// writes what one before it only reads, so that edges from writers are enough.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

#include "tiles.hpp"

namespace {

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

class System {
 public:
  struct Tile {
    DF value;
    Node* writer = nullptr;
  };

  template <class F, class... From>
  void task(F f, Tile& to, From&... from) {
    Node& node =
        nodes_.emplace_back(graph_, [=, &to, &from...](const flow::continue_msg&) { f(to.value, from.value...); });
    bool waits = false;
    for (Node* writer : {to.writer, from.writer...}) {
      if (writer == nullptr) continue;
      flow::make_edge(*writer, node);
      waits = true;
    }
    if (!waits) ready_.push_back(&node);
    to.writer = &node;
  }
  template <class F>
  void merge(F f, Tile& to, Tile& from) {
    task(f, to, from);
    from.writer = to.writer;
  }
  void wait() {
    for (Node* node : ready_) node->try_put({});
    graph_.wait_for_all();
  }

 private:
  flow::graph graph_;
  std::deque<Node> nodes_;
  std::vector<Node*> ready_;
};

}  // namespace

int main(int argc, char** argv) {
  return peer::run<System>(argc, argv, [](int threads, auto f) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    arena.execute(f);
  });
}
