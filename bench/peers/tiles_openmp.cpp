// OpenMP: tasks with depend, on the tiles themselves.
#include "tiles.hpp"

namespace {

struct System {
  struct Tile {
    DF value;
  };

  template <class F>
  void task(F f, Tile& to) {
    Tile* x = &to;
#pragma omp task firstprivate(f, x) depend(inout : x[0])
    f(x->value);
  }
  template <class F>
  void task(F f, Tile& to, Tile& from) {
    Tile *x = &to, *a = &from;
#pragma omp task firstprivate(f, x, a) depend(in : a[0]) depend(inout : x[0])
    f(x->value, a->value);
  }
  template <class F>
  void task(F f, Tile& to, Tile& left, Tile& right) {
    Tile *x = &to, *a = &left, *b = &right;
#pragma omp task firstprivate(f, x, a, b) depend(in : a[0], b[0]) depend(inout : x[0])
    f(x->value, a->value, b->value);
  }
  template <class F>
  void merge(F f, Tile& to, Tile& from) {
    Tile *x = &to, *a = &from;
#pragma omp task firstprivate(f, x, a) depend(inout : a[0], x[0])
    f(x->value, a->value);
  }
  void wait() {
#pragma omp taskwait
  }
};

}  // namespace

int main(int argc, char** argv) {
  return peer::run<System>(argc, argv, [](int threads, auto f) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    f();
  });
}
