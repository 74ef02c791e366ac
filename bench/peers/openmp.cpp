// OpenMP tasks, ordered by `depend` where they depend on each other.
#include <omp.h>

#include "peer.hpp"

namespace {

using namespace peer;

// Not for the optimiser to remove.
[[gnu::noinline]] void nothing(int i) { asm volatile("" : : "r"(i)); }

void independent() {
  for (int i = 0; i < kIndependent; ++i) {
#pragma omp task firstprivate(i)
    nothing(i);
  }
#pragma omp taskwait
}

void chain() {
  std::vector<int> values(kChain + 1);
  int* x = values.data();
#pragma omp task depend(out : x[0])
  x[0] = 0;
  for (int i = 0; i < kChain; ++i) {
#pragma omp task firstprivate(i, x) depend(in : x[i]) depend(out : x[i + 1])
    x[i + 1] = x[i] + 1;
  }
#pragma omp taskwait
  must_be(kChain, x[kChain]);
}

void stencil() {
  std::vector<std::vector<int>> x(kSteps + 1, std::vector<int>(kWidth + 2));
  for (int i = 0; i < kWidth; ++i) x[0][i + 1] = i;
  for (int t = 1; t <= kSteps; ++t) {
    for (int i = 1; i <= kWidth; ++i) {
      int* a = &x[t - 1][i - 1];
      int* b = &x[t][i];
#pragma omp task firstprivate(a, b) depend(in : a[0], a[1], a[2]) depend(out : b[0])
      b[0] = (a[0] + a[1] + a[2]) % 1000;
    }
  }
#pragma omp taskwait
  if (x[kSteps] != stencil_row()) must_be(1, 0);
}

void grow(int depth, long* x) {
  if (depth == 0) {
    *x = 1;
    return;
  }
  long a = 0, b = 0;
#pragma omp task shared(a) firstprivate(depth)
  grow(depth - 1, &a);
#pragma omp task shared(b) firstprivate(depth)
  grow(depth - 1, &b);
#pragma omp taskwait
  *x = a + b;
}
void tree() {
  long x = 0;
  grow(kDepth, &x);
  must_be(1L << kDepth, x);
}

void fan() {
  std::vector<long> ys(kFan + 1), ss(kFan + 1);
  long *y = ys.data(), *s = ss.data();
  int one = 0;
  int* x = &one;
#pragma omp task firstprivate(x) depend(out : x[0])
  *x = 1;
  for (int i = 1; i <= kFan; ++i) {
#pragma omp task firstprivate(i, x, y) depend(in : x[0]) depend(out : y[i])
    y[i] = *x + i % 2;
#pragma omp task firstprivate(i, y, s) depend(in : y[i], s[i - 1]) depend(out : s[i])
    s[i] = s[i - 1] + y[i];
  }
#pragma omp taskwait
  must_be(kFan + kFan / 2, s[kFan]);
}

void dag() {
  std::vector<int> values(kDag);
  int* x = values.data();
  for (int i = 0; i < kDag; ++i) {
    if (i < kRoots) {
#pragma omp task firstprivate(i, x) depend(out : x[i])
      x[i] = i;
    } else {
      const int l = left_of(i), r = right_of(i);
#pragma omp task firstprivate(i, l, r, x) depend(in : x[l], x[r]) depend(out : x[i])
      x[i] = (x[l] + x[r]) % 1000;
    }
  }
#pragma omp taskwait
  must_be(dag_end(), x[kDag - 1]);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, patterns(independent, chain, stencil, tree, fan, dag), [](int threads, auto f) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    f();
  });
}
