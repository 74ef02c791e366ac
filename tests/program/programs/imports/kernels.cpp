#include <algorithm>
#include <cstdio>
#include <string>

#include "ucenv.h"

extern "C" {

void c_init(int v, OutputDF &x) { x = v; }

void c_join(const char *left, int middle, double right, OutputDF &result) {
  char text[64];
  std::snprintf(text, sizeof text, "%s%d|%.2f>", left, middle, right);
  result = std::string(text);
}

void c_pack(int a, int b, int c, luna::ucenv::OutputDF &numbers) {
  int *p = numbers.create<int>(3);
  p[0] = a;
  p[1] = b;
  p[2] = c;
}

void c_min_max(const luna::ucenv::InputDF &numbers, OutputDF &low, OutputDF &high) {
  const int *p = numbers.getData<int>();
  low = *std::min_element(p, p + 3);
  high.setValue(*std::max_element(p, p + 3));
}

}  // extern "C"
