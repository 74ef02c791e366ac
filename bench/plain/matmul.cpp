// examples/matmul as a plain C++ program: the same kernels in the same order, called by loops.
//
//   plain-matmul BLOCKS BLOCK_SIZE   prints seconds, from the first block made to the last one checked
#include <cstdlib>

#include "../../examples/matmul/ucodes.cpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int blocks = std::atoi(argv[1]);
  const int n = std::atoi(argv[2]);
  const auto start = std::chrono::steady_clock::now();
  std::vector<OutputDF> a(blocks * blocks), b(blocks * blocks), c(blocks * blocks);
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      init_a(i, j, n, 0, a[i * blocks + j]);
      init_b(i, j, n, 0, b[i * blocks + j]);
    }
  }
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      OutputDF sum;
      for (int k = 0; k < blocks; ++k) {
        OutputDF product, next;
        multiply(n, 0, a[i * blocks + k], b[k * blocks + j], product);
        if (k == 0) {
          copy(product, next);
        } else {
          add(n, sum, product, next);
        }
        std::swap(sum, next);
      }
      copy(sum, c[i * blocks + j]);
    }
  }
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      OutputDF right;
      check(i, j, blocks, n, c[i * blocks + j], right);
    }
  }
  std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}
