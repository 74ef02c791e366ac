// examples/cholesky: a tile is written in place, version after version.
#include "../../examples/cholesky/ucodes.cpp"

template <class System>
bool all_right(int tiles, int n) {
  using peer::replace;
  std::vector<typename System::Tile> a(tiles * tiles), right(tiles * tiles);
  System s;
  for (int i = 0; i < tiles; ++i) {
    for (int j = 0; j <= i; ++j) s.task([=](DF& x) { init(i, j, n, x); }, a[i * tiles + j]);
  }
  for (int k = 0; k < tiles; ++k) {
    auto& diagonal = a[k * tiles + k];
    s.task([n](DF& x) { replace(x, [&](DF& l) { factorise(n, x, l); }); }, diagonal);
    for (int i = k + 1; i < tiles; ++i) {
      s.task([n](DF& x, DF& l) { replace(x, [&](DF& next) { solve(n, l, x, next); }); }, a[i * tiles + k], diagonal);
    }
    for (int i = k + 1; i < tiles; ++i) {
      auto& left = a[i * tiles + k];
      s.task([n](DF& x, DF& l) { replace(x, [&](DF& next) { subtract_square(n, l, x, next); }); }, a[i * tiles + i],
             left);
      for (int j = k + 1; j < i; ++j) {
        s.task([n](DF& x, DF& l, DF& m) { replace(x, [&](DF& next) { subtract_product(n, l, m, x, next); }); },
               a[i * tiles + j], left, a[j * tiles + k]);
      }
    }
  }
  for (int i = 0; i < tiles; ++i) {
    for (int j = 0; j <= i; ++j) {
      s.task([=](DF& yes, DF& l) { check(i, j, n, l, yes); }, right[i * tiles + j], a[i * tiles + j]);
    }
  }
  s.wait();
  return peer::sum(right) == tiles * (tiles + 1) / 2;
}
