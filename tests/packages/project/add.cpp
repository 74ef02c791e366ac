#include <cstdio>
#include <tessera.hpp>

extern "C" {
void add(int a, int b, tessera::Output& c) { c = a + b; }
void show(int sum) { printf("sum %d\n", sum); }
}
