// examples/cholesky as a plain C++ program: the same kernels in the same order, called by loops.
//
//   plain-cholesky TILES TILE   prints seconds, from the first tile made to the last one checked
#include <cstdlib>

#include "../../examples/cholesky/ucodes.cpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int tiles = std::atoi(argv[1]);
  const int n = std::atoi(argv[2]);
  const auto start = std::chrono::steady_clock::now();
  std::vector<OutputDF> a(tiles * tiles);
  for (int i = 0; i < tiles; ++i) {
    for (int j = 0; j <= i; ++j) init(i, j, n, a[i * tiles + j]);
  }
  // kernel(OutputDF&) makes what takes the place of the tile.
  const auto replace = [&](int i, int j, auto kernel) {
    OutputDF next;
    kernel(next);
    std::swap(a[i * tiles + j], next);
  };
  for (int k = 0; k < tiles; ++k) {
    const OutputDF& diagonal = a[k * tiles + k];
    replace(k, k, [&](OutputDF& l) { factorise(n, diagonal, l); });
    for (int i = k + 1; i < tiles; ++i) {
      replace(i, k, [&](OutputDF& x) { solve(n, diagonal, a[i * tiles + k], x); });
    }
    for (int i = k + 1; i < tiles; ++i) {
      const OutputDF& left = a[i * tiles + k];
      replace(i, i, [&](OutputDF& next) { subtract_square(n, left, a[i * tiles + i], next); });
      for (int j = k + 1; j < i; ++j) {
        replace(i, j, [&](OutputDF& next) { subtract_product(n, left, a[j * tiles + k], a[i * tiles + j], next); });
      }
    }
  }
  for (int i = 0; i < tiles; ++i) {
    for (int j = 0; j <= i; ++j) {
      OutputDF right;
      check(i, j, n, a[i * tiles + j], right);
      if (right.get_int() != 1) return 1;
    }
  }
  std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
