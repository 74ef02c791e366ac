#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tessera.hpp>
#include <vector>

using tessera::Input, tessera::Output;

namespace {

struct Particle {
  double x, y, vx, vy;  // the box is 1 x 1
};

constexpr double kStep = 0.004;

double random(std::uint64_t k) {
  k = (k + 1) * 0x9E3779B97F4A7C15u;
  k ^= k >> 31;
  k *= 0xBF58476D1CE4E5B9u;
  k ^= k >> 29;
  return double(k >> 11) * 0x1p-53;
}

double inside(double x) { return x - std::floor(x); }
// The shortest way, perhaps through a side.
double way(double from, double to) { return to - from - std::round(to - from); }
int cell_of(double x, int cells) { return int(x * cells) % cells; }

void assign(Output &out, const std::vector<Particle> &all) {
  std::copy(all.begin(), all.end(), out.create<Particle>(all.size()).begin());
}

}  // namespace

extern "C" {

void cluster(int cells, int i, int j, int particles, Output &cell) {
  std::vector<Particle> here;
  for (int k = 0; k < particles; k++) {
    const auto spread = [&](int what) { return random(8 * k + what) + random(8 * k + what + 1) - 1; };
    const Particle p{inside(0.4 + 0.2 * spread(0)), inside(0.6 + 0.2 * spread(2)), spread(4), spread(6)};
    if (cell_of(p.y, cells) == i && cell_of(p.x, cells) == j) here.push_back(p);
  }
  assign(cell, here);
}

void push(int cells, const Input &own, const Input &a, const Input &b, const Input &c, const Input &d, const Input &e, const Input &f,
          const Input &g, const Input &h, Output &pushed) {
  const double reach = 1.0 / cells;
  std::vector<Particle> result;
  for (Particle p : own.span<Particle>()) {
    double fx = 0, fy = 0;
    for (const Input *others : {&own, &a, &b, &c, &d, &e, &f, &g, &h}) {
      for (const Particle &o : others->span<Particle>()) {
        const double dx = way(o.x, p.x), dy = way(o.y, p.y), distance = std::hypot(dx, dy);
        if (distance == 0 || distance >= reach) continue;
        fx += (1 - distance / reach) * dx / distance;
        fy += (1 - distance / reach) * dy / distance;
      }
    }
    p.vx += kStep * fx;
    p.vy += kStep * fy;
    // No farther than to the next cell.
    p.x = inside(p.x + std::min(reach / 2, std::max(-reach / 2, kStep * p.vx)));
    p.y = inside(p.y + std::min(reach / 2, std::max(-reach / 2, kStep * p.vy)));
    result.push_back(p);
  }
  assign(pushed, result);
}

void hand_over(int cells, int i, int j, const Input &own, const Input &a, const Input &b, const Input &c, const Input &d,
               const Input &e, const Input &f, const Input &g, const Input &h, Output &cell) {
  std::vector<Particle> here;
  for (const Input *from : {&own, &a, &b, &c, &d, &e, &f, &g, &h})
    for (const Particle &p : from->span<Particle>())
      if (cell_of(p.y, cells) == i && cell_of(p.x, cells) == j) here.push_back(p);
  assign(cell, here);
}

// Momentum along both sides, in one number: it is only compared.
void sums(const Input &cell, Output &number, Output &momentum) {
  double m = 0;
  for (const Particle &p : cell.span<Particle>()) m += p.vx + 2 * p.vy;
  number = int(cell.span<Particle>().size());
  momentum = m;
}

}
