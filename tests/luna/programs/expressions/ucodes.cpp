#include "ucenv.h"
extern "C" {
void c_int(int v) { printf("int %d\n", v); }
void c_real(double v) { printf("real %.17g\n", v); }
void c_set_int(int v, OutputDF &x) { x = v; }
void c_set_real(double v, OutputDF &x) { x = v; }
}
