// OpenMP tasks: shapes of programs.
#include <omp.h>

#include "shapes.hpp"

namespace {

using namespace peer;

// One step, of tasks that wait for their neighbours.
void tasks_of(const Row* from, Row* to, bool flags) {
  for (int i = 0; i < kPoints; ++i) {
    const int l = left_point(i), r = right_point(i);
#pragma omp task firstprivate(from, to, i, flags) depend(in : (*from)[l], (*from)[i], (*from)[r]) depend(out : (*to)[i])
    (*to)[i] = step_of(*from, i, flags);
  }
}
void rows(bool flags) {
  std::vector<Row> x(kTurns + 1);
  x[0] = first_row();
  for (int t = 0; t < kTurns; ++t) tasks_of(&x[t], &x[t + 1], flags);
#pragma omp taskwait
  if (x[kTurns] != last_row(flags)) must_be(1, 0);
}
void ring() { rows(false); }
void if_data() { rows(true); }

void while_data() {
  while_by([](Row& x, Row& y) {
    tasks_of(&x, &y, false);
#pragma omp taskwait
  });
}

void lu() {
  Blocks blocks;
  Blocks* const b = &blocks;
  int* const a = blocks.a.data();
  for (int k = 0; k < kBlocks; ++k) {
    [[maybe_unused]] int* const d = &a[k * kBlocks + k];
#pragma omp task firstprivate(b, k) depend(inout : d[0])
    b->diagonal(k);
    for (int i = k + 1; i < kBlocks; ++i) {
      [[maybe_unused]] int* const c = &a[i * kBlocks + k];
#pragma omp task firstprivate(b, i, k) depend(in : d[0]) depend(inout : c[0])
      b->column(i, k);
    }
    for (int i = k + 1; i < kBlocks; ++i) {
      for (int j = k + 1; j <= i; ++j) {
        [[maybe_unused]] int *const c = &a[i * kBlocks + j], *const p = &a[i * kBlocks + k],
                                    *const q = &a[j * kBlocks + k];
#pragma omp task firstprivate(b, i, j, k) depend(in : p[0], q[0]) depend(inout : c[0])
        b->rest(i, j, k);
      }
    }
  }
#pragma omp taskwait
  if (blocks.a != factored().a) must_be(1, 0);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, shapes(ring, while_data, if_data, lu), [](int threads, auto f) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    f();
  });
}
