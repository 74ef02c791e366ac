#include <tessera.hpp>

extern "C" void f_use(const tessera::Input &x) { x.get<int>(); }
