#include "ucenv.h"
using luna::ucenv::InputDF;
using luna::ucenv::OutputDF;
typedef luna::ucenv::DF Fragment;
extern "C" void c_bare(int n, Fragment &x, OutputDF &y) {
  x.setValue(n);
  y.copy(x);
}
extern "C" void c_refs(const int &n, const double &r, const char *s, const luna::ucenv::InputDF &x, InputDF &y, luna::ucenv::OutputDF &z) {
  printf("%d %g %s %d %d\n", n, r, s, x.get_int(), y.get_int());
  z = n * x.getValue<int>();
}
extern "C" void c_by_value(InputDF x, OutputDF &y) { y = x; }
extern "C" void c_show(const int n) { printf("%d\n", n); }
extern "C" void c_unsigned(unsigned int n) { printf("%u\n", n); }
