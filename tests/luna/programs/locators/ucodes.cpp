#include "ucenv.h"

extern "C" {

void c_init(int v, OutputDF &x) { x = v; }
void c_add(InputDF &a, InputDF b, OutputDF &c) { c = a.getValue<int>() + b.getValue<int>(); }
void c_show(int v) { printf("%d\n", v); }
}
