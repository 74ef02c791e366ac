// What the programs of the peers share: the patterns of bench/programs, how they are timed and checked.
//
//   PEER PATTERN THREADS   prints nanoseconds per task: from the first task created to the last one ended
//
// Every pattern computes what the `.fa` of the same name computes, with the same sizes.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace peer {

inline constexpr int kIndependent = 200000;
inline constexpr int kChain = 200000;
inline constexpr int kWidth = 400, kSteps = 250;  // stencil
inline constexpr int kDepth = 16;                 // binary_tree
inline constexpr int kFan = 100000;
inline constexpr int kDag = 100000, kRoots = 32;

inline int left_of(int i) { return i - 1 - i * 7 % 31; }
inline int right_of(int i) { return i - 1 - i * 13 % 29; }

inline void must_be(long expected, long got) {
  if (expected == got) return;
  std::fprintf(stderr, "wrong result: %ld instead of %ld\n", got, expected);
  std::exit(1);
}

// The stencil and the random graph, plainly.
inline std::vector<int> stencil_row() {
  std::vector<int> x(kWidth + 2), y(kWidth + 2);
  for (int i = 0; i < kWidth; ++i) x[i + 1] = i;
  for (int t = 0; t < kSteps; ++t) {
    for (int i = 1; i <= kWidth; ++i) y[i] = (x[i - 1] + x[i] + x[i + 1]) % 1000;
    x.swap(y);
  }
  return x;
}
inline int dag_end() {
  std::vector<int> x(kDag);
  for (int i = 0; i < kDag; ++i) x[i] = i < kRoots ? i : (x[left_of(i)] + x[right_of(i)]) % 1000;
  return x[kDag - 1];
}

struct Pattern {
  const char* name;
  long tasks;
  void (*run)();  // creates all tasks, waits for them, checks the result
};

inline constexpr long kTreeTasks = (2L << kDepth) - 1;

using Run = void (*)();
inline std::vector<Pattern> patterns(Run independent, Run chain, Run stencil, Run tree, Run fan, Run dag) {
  return {{"independent", kIndependent, independent}, {"chain", kChain, chain}, {"stencil", kWidth * kSteps, stencil},
          {"binary_tree", kTreeTasks, tree},          {"fan", 2 * kFan, fan},   {"dag", kDag, dag}};
}

// run picks the pattern; `around` starts and stops the system around it, untimed.
template <class Around>
int run(int argc, char** argv, const std::vector<Pattern>& patterns, Around around) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PATTERN THREADS\n", argv[0]);
    return 2;
  }
  for (const Pattern& p : patterns) {
    if (std::strcmp(p.name, argv[1]) != 0) continue;
    double ns = 0;
    around(std::atoi(argv[2]), [&] {
      p.run();  // once to warm up: threads, pools
      const auto start = std::chrono::steady_clock::now();
      p.run();
      ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    });
    std::printf("%.1f\n", ns / static_cast<double>(p.tasks));
    return 0;
  }
  std::fprintf(stderr, "%s has no pattern %s\n", argv[0], argv[1]);
  return 3;
}

}  // namespace peer
