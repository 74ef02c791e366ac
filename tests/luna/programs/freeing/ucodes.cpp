#include "ucenv.h"

extern "C" {

void c_init(int v, OutputDF &x) { x = v; }
void c_use(const InputDF &x, OutputDF &y) { y = x + DF(1); }
void c_show(int v) { printf("%d\n", v); }
}
