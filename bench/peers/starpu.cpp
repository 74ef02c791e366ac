// StarPU: tasks inserted one after the other, ordered by the data they access.
#include <deque>

#include "peer.hpp"
#include "starpu_codelet.hpp"

namespace {

using namespace peer;

int& value(void* buffers[], int k) {
  return *reinterpret_cast<int*>(STARPU_VARIABLE_GET_PTR(static_cast<void**>(buffers)[k]));
}

// Registered variables.
class Values {
 public:
  explicit Values(std::size_t n) : values_(n), handles_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      starpu_variable_data_register(&handles_[i], STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&values_[i]),
                                    sizeof(int));
    }
  }
  ~Values() {
    for (auto h : handles_) starpu_data_unregister(h);
  }
  starpu_data_handle_t operator[](std::size_t i) { return handles_[i]; }
  int get(std::size_t i) {
    starpu_data_acquire(handles_[i], STARPU_R);
    const int v = values_[i];
    starpu_data_release(handles_[i]);
    return v;
  }
  void set(std::size_t i, int v) { values_[i] = v; }

 private:
  std::vector<int> values_;
  std::vector<starpu_data_handle_t> handles_;
};

void independent() {
  static Codelet nothing([](void*[], void*) {}, {});
  for (int i = 0; i < kIndependent; ++i) starpu_task_insert(&nothing, 0);
  starpu_task_wait_for_all();
}

void chain() {  // one variable, written again and again: cheaper for it than kChain variables
  static Codelet next([](void* b[], void*) { ++value(b, 0); }, {STARPU_RW});
  Values x(1);
  for (int i = 0; i < kChain; ++i) starpu_task_insert(&next, STARPU_RW, x[0], 0);
  starpu_task_wait_for_all();
  must_be(kChain, x.get(0));
}

void stencil() {  // two rows, likewise
  static Codelet step([](void* b[], void*) { value(b, 3) = (value(b, 0) + value(b, 1) + value(b, 2)) % 1000; },
                      {STARPU_R, STARPU_R, STARPU_R, STARPU_W});
  Values row[2] = {Values(kWidth + 2), Values(kWidth + 2)};
  for (int i = 0; i < kWidth; ++i) row[0].set(i + 1, i);
  for (int t = 0; t < kSteps; ++t) {
    Values &from = row[t % 2], &to = row[1 - t % 2];
    for (int i = 1; i <= kWidth; ++i) {
      starpu_task_insert(&step, STARPU_R, from[i - 1], STARPU_R, from[i], STARPU_R, from[i + 1], STARPU_W, to[i], 0);
    }
  }
  starpu_task_wait_for_all();
  const auto expected = stencil_row();
  for (int i = 1; i <= kWidth; ++i) must_be(expected[i], row[kSteps % 2].get(i));
}

void tree() {
  static Codelet leaf([](void* b[], void*) { value(b, 0) = 1; }, {STARPU_W});
  static Codelet add([](void* b[], void*) { value(b, 2) = value(b, 0) + value(b, 1); }, {STARPU_R, STARPU_R, STARPU_W});
  const std::size_t leaves = std::size_t{1} << kDepth;
  Values x(2 * leaves);  // node n has the children 2 n and 2 n + 1
  for (std::size_t n = leaves; n < 2 * leaves; ++n) starpu_task_insert(&leaf, STARPU_W, x[n], 0);
  for (std::size_t n = leaves; --n > 0;) {
    starpu_task_insert(&add, STARPU_R, x[2 * n], STARPU_R, x[2 * n + 1], STARPU_W, x[n], 0);
  }
  starpu_task_wait_for_all();
  must_be(1L << kDepth, x.get(1));
}

void fan() {
  static Codelet one([](void* b[], void*) { value(b, 0) = 1; }, {STARPU_W});
  static Codelet even([](void* b[], void*) { value(b, 1) = value(b, 0); }, {STARPU_R, STARPU_W});
  static Codelet odd([](void* b[], void*) { value(b, 1) = value(b, 0) + 1; }, {STARPU_R, STARPU_W});
  static Codelet add([](void* b[], void*) { value(b, 1) += value(b, 0); }, {STARPU_R, STARPU_RW});
  Values x(1), y(kFan + 1), s(1);
  starpu_task_insert(&one, STARPU_W, x[0], 0);
  for (int i = 1; i <= kFan; ++i) {
    starpu_task_insert(i % 2 == 0 ? &even : &odd, STARPU_R, x[0], STARPU_W, y[i], 0);
    starpu_task_insert(&add, STARPU_R, y[i], STARPU_RW, s[0], 0);
  }
  starpu_task_wait_for_all();
  must_be(kFan + kFan / 2, s.get(0));
}

void dag() {
  static Codelet root([](void* b[], void*) { (void)b; }, {STARPU_RW});
  static Codelet node([](void* b[], void*) { value(b, 2) = (value(b, 0) + value(b, 1)) % 1000; },
                      {STARPU_R, STARPU_R, STARPU_W});
  Values x(kDag);
  for (int i = 0; i < kRoots; ++i) x.set(i, i);
  for (int i = 0; i < kDag; ++i) {
    if (i < kRoots) {
      starpu_task_insert(&root, STARPU_RW, x[i], 0);
    } else if (left_of(i) == right_of(i)) {
      static Codelet twice([](void* b[], void*) { value(b, 1) = 2 * value(b, 0) % 1000; }, {STARPU_R, STARPU_W});
      starpu_task_insert(&twice, STARPU_R, x[left_of(i)], STARPU_W, x[i], 0);
    } else {
      starpu_task_insert(&node, STARPU_R, x[left_of(i)], STARPU_R, x[right_of(i)], STARPU_W, x[i], 0);
    }
  }
  starpu_task_wait_for_all();
  must_be(dag_end(), x.get(kDag - 1));
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, patterns(independent, chain, stencil, tree, fan, dag), [](int threads, auto f) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = threads;
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0) must_be(0, 1);
    f();
    starpu_shutdown();
  });
}
