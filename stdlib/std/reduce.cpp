// What a reduction needs beside its kernel.
#include <tessera.hpp>

#include "std/check.hpp"

extern "C" {

void tessera_std_reduce_one(const tessera::Input& x, tessera::Output& y) { y.share(x); }
void tessera_std_reduce_nothing(int n) {
  throw tessera::KernelError("a reduction of " + std::to_string(n) +
                             " fragments has no value: there must be at least 1");
}

}  // extern "C"
