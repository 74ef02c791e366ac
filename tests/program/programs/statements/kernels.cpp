#include "ucenv.h"
#include <cstdio>
extern "C" {
void c_add(int a, int b, OutputDF &o) { o = a + b; }
void c_show(const char *s, const InputDF &v) { printf("%s %s\n", s, v.cast_string().c_str()); }
void c_noargs() { printf("noargs\n"); }
void c_cuda(int x, OutputDF &o) { o = x; }
void c_cuda2(int x, OutputDF &o) { o = x; }
}
