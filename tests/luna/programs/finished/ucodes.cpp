#include "ucenv.h"

extern "C" {

void c_init(int v, OutputDF &x) { x = v; }
void c_show(int v) { printf("%d\n", v); }
}
