#include "ucenv.h"
extern "C" {
void c_init(int v, OutputDF &x) { x = v; }
void c_block(int w, int h, const InputDF &b1, OutputDF &out) {
  out = w * h;
  std::cout << "block " << w << "x" << h << " of " << b1.getValue<int>() << std::endl;
}
void c_text(const char *t) { puts(t); }
}
