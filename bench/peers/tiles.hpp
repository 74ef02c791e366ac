// What the programs of the peers with real kernels share: examples/cholesky or examples/matmul
// (PROGRAM says which, when they are compiled) as tasks, inserted in the order of a sequential
// program.
//
//   PEER TILES TILE THREADS   prints seconds: from the first task inserted until all is freed again
//
// A system has a type `Tile` with a member `value`, and
//
//   task(f, to, from...)   f(to, from...) on the values, when the tasks inserted before it that
//                          write one of the tiles have ended; writes `to`
//   merge(f, to, from)     the same, and `from` is written, too
//   wait()                 until all have ended
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace peer {

// replace: `kernel` makes what takes the place of the value.
template <class Value, class Kernel>
void replace(Value& value, Kernel kernel) {
  Value next;
  kernel(next);
  value = std::move(next);
}

template <class Tile>
int sum(const std::vector<Tile>& tiles) {
  int s = 0;
  for (const Tile& t : tiles) s += t.value.is_set() ? t.value.get_int() : 0;
  return s;
}

}  // namespace peer

// all_right: runs the program on a system; whether each tile was found right.
#include PROGRAM

namespace peer {

// run: `around` starts and stops the system around what it is given, untimed.
template <class System, class Around>
int run(int argc, char** argv, Around around) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s TILES TILE THREADS\n", argv[0]);
    return 2;
  }
  bool right = false;
  around(std::atoi(argv[3]), [&] {
    right = all_right<System>(3, 1);  // starts what is started late: threads
    const auto start = std::chrono::steady_clock::now();
    right = all_right<System>(std::atoi(argv[1]), std::atoi(argv[2])) && right;
    std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  });
  if (!right) std::fprintf(stderr, "wrong result\n");
  return right ? 0 : 1;
}

}  // namespace peer
