// examples/matmul: products are tasks of their own, added in order. The next row of blocks uses the
// tiles of the products again, for tiles are dear to some systems.
#include "../../examples/matmul/ucodes.cpp"

template <class System>
bool all_right(int blocks, int n) {
  std::vector<typename System::Tile> a(blocks * blocks), b(blocks * blocks), c(blocks * blocks);
  std::vector<typename System::Tile> products(blocks * blocks), right(blocks * blocks);
  System s;
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      s.task([=](DF& x) { init_a(i, j, n, 0, x); }, a[i * blocks + j]);
      s.task([=](DF& x) { init_b(i, j, n, 0, x); }, b[i * blocks + j]);
    }
  }
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      auto& sum = c[i * blocks + j];
      for (int k = 0; k < blocks; ++k) {
        auto& product = k == 0 ? sum : products[j * blocks + k];
        s.task([n](DF& to, DF& x, DF& y) { multiply(n, 0, x, y, to); }, product, a[i * blocks + k], b[k * blocks + j]);
      }
      for (int k = 1; k < blocks; ++k) {
        s.merge(
            [n](DF& to, DF& term) {
              peer::replace(to, [&](DF& next) { add(n, to, term, next); });
              term = DF();
            },
            sum, products[j * blocks + k]);
      }
    }
  }
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      s.task([=](DF& yes, DF& x) { check(i, j, blocks, n, x, yes); }, right[i * blocks + j], c[i * blocks + j]);
    }
  }
  s.wait();
  return peer::sum(right) == blocks * blocks;
}
