#include "ucenv.h"
extern "C" {
void c_set(int i, OutputDF &u) { u = double(i * i); }
void c_step(const InputDF &l, const InputDF &m, const InputDF &r, OutputDF &u) {
  u = 0.25 * l.get_real() + 0.5 * m.get_real() + 0.25 * r.get_real();
}
void c_keep(const InputDF &x, OutputDF &y) { y.copy(x); }
void c_zero(OutputDF &x) { x.setValue(0.0); }
void c_sum(double s, const InputDF &u, OutputDF &r) { r = s + u.getValue<double>(); }
void c_show(double v) { printf("%.9g\n", v); }
}
