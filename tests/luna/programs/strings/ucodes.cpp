#include "ucenv.h"
extern "C" {
void c_text(const char *t) { printf("%s\n", t); }
void c_join(const char *a, const char *b, OutputDF &x) { x = std::string(a) + "-" + b; }
void c_init(int v, OutputDF &x) { x.setValue(v); }
void c_real(double v, OutputDF &x) { x.setValue<double>(v); }
}
