#include "ucenv.h"

extern "C" {

void c_init(int v, OutputDF &x) { x = v; }
void c_collatz(const InputDF &x, OutputDF &y) {
  const int v = x.get_int();
  y = v % 2 ? 3 * v + 1 : v / 2;
}
void c_show(int v) { printf("%d\n", v); }
}
