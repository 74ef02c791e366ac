#include "ucenv.h"
#include <math.h>
extern "C" {
void c_block(int i, int j, int s, OutputDF &out) {
  double *m = out.create<double>(s * s);
  for (int a = 0; a < s; a++) for (int b = 0; b < s; b++) m[a * s + b] = (i * s + a) - (j * s + b);
}
void c_zero(int s, OutputDF &out) { out.create<double>(s * s, 0.0); }
void c_mult(const InputDF &A, const InputDF &B, const InputDF &acc, int s, OutputDF &C) {
  const double *a = A.getData<double>(), *b = B.getData<double>();
  double *c = C.create<double>(s * s);
  memcpy(c, acc.getData<double>(), acc.getSize());
  for (int i = 0; i < s; i++) for (int k = 0; k < s; k++) for (int j = 0; j < s; j++) c[i * s + j] += a[i * s + k] * b[k * s + j];
}
void c_trace(const InputDF &A, int s, OutputDF &t) {
  double sum = 0;
  for (int i = 0; i < s; i++) sum += A.getData<double>()[i * s + i];
  t = (int)lround(sum);
}
void c_init(int v, OutputDF &x) { x = v; }
void c_show(int v) { printf("trace %d\n", v); }
}
