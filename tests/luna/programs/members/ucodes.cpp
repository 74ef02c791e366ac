#include "ucenv.h"
extern "C" {
void c_set(int n, double d, const char *t, OutputDF &i, OutputDF &r, OutputDF &s, OutputDF &b) {
  if (!i.is_unset()) abort();
  i.setValue<int>(n);
  r.setValue<double>(d);
  s = std::string(t);
  double *p = b.create<double>(4, 0.25);
  p[3] = 1;
  if (!b.is_set()) abort();
}
void c_members(const InputDF &i, const InputDF &r, const InputDF &s, const InputDF &b, OutputDF &x, OutputDF &y, OutputDF &z) {
  printf("%d %g %s\n", i.get_int(), r.get_real(), s.get_string().c_str());
  printf("%d %g %s\n", i.getValue<int>(), r.getValue<double>(), s.getValue<std::string>().c_str());
  printf("%d %g %s %d\n", r.cast_int(), i.cast_real(), i.cast_string().c_str(), s.cast_int());
  printf("%zu %zu %zu %zu\n", i.getSize(), r.get_size(), s.getSize(), b.getSize());
  printf("%g %d\n", ((const double *)b.get_data())[3], i.is_set() ? 1 : 0);
  printf("%d %d %d %d %d\n", i < r, i > r, i == i, i != r, i >= r);
  x = i * r + i;
  y = i % DF(4);
  z.copy(b);
}
void c_last(const InputDF &x, const InputDF &y, const InputDF &z) {
  printf("%g %d %g\n", x.get_real(), y.get_int(), z.getData<double>()[0]);
}
}
