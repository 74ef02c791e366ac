// The shapes of bench/programs/shapes that other task systems can write, with their sizes and their results, plainly.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "peer.hpp"

namespace peer {

inline constexpr int kPoints = 64, kTurns = 2000, kBlocks = 60;

using Row = std::array<int, kPoints>;
inline int left_point(int i) { return (i + kPoints - 1) % kPoints; }
inline int right_point(int i) { return (i + 1) % kPoints; }
inline Row first_row() {
  Row x{};
  for (int i = 0; i < kPoints; ++i) x[i] = i;
  return x;
}
// What point i does in a step. `flags`: the odd ones step, the even ones count.
inline int step_of(const Row& x, int i, bool flags) {
  if (flags && i % 2 == 0) return (x[i] + 1) % 1000;
  return (x[left_point(i)] + x[i] + x[right_point(i)]) % 1000;
}
inline Row last_row(bool flags) {
  Row x = first_row(), y{};
  for (int t = 0; t < kTurns; ++t, x = y) {
    for (int i = 0; i < kPoints; ++i) y[i] = step_of(x, i, flags);
  }
  return x;
}

// The condition looks at a value, so each turn is awaited: turn(from, to) makes one step.
template <class F>
void while_by(F turn) {
  Row x = first_row(), y{};
  for (int t = 0; x[0] >= 0 && t < kTurns; ++t, std::swap(x, y)) turn(x, y);
  if (x != last_row(false)) must_be(1, 0);
}

struct Blocks {
  Blocks() : a(kBlocks * kBlocks) {
    for (int i = 0; i < kBlocks; ++i) {
      for (int j = 0; j <= i; ++j) (*this)(i, j) = i + j;
    }
  }
  int& operator()(int i, int j) { return a[i * kBlocks + j]; }
  void diagonal(int k) { (*this)(k, k) = ((*this)(k, k) + 1) % 1000; }
  void column(int i, int k) { (*this)(i, k) = ((*this)(i, k) + (*this)(k, k)) % 1000; }
  void rest(int i, int j, int k) { (*this)(i, j) = ((*this)(i, j) + (*this)(i, k) + (*this)(j, k)) % 1000; }
  std::vector<int> a;
};
inline Blocks factored() {
  Blocks a;
  for (int k = 0; k < kBlocks; ++k) {
    a.diagonal(k);
    for (int i = k + 1; i < kBlocks; ++i) a.column(i, k);
    for (int i = k + 1; i < kBlocks; ++i) {
      for (int j = k + 1; j <= i; ++j) a.rest(i, j, k);
    }
  }
  return a;
}

inline std::vector<Pattern> shapes(Run ring, Run while_data, Run if_data, Run lu) {
  return {{"ring", kPoints * kTurns, ring},
          {"while_data", kPoints * kTurns, while_data},
          {"if_data", kPoints * kTurns, if_data},
          {"lu", kBlocks * (kBlocks + 1L) * (kBlocks + 2L) / 6, lu}};
}

}  // namespace peer
