#include "ucenv.h"
extern "C" {
void c_read(const char * /*file, not used yet*/, OutputDF &x) { x = 5; }
void c_more(const InputDF &x) { printf("%d\n", x.get_int()); }
}
