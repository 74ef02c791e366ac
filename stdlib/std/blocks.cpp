// What subs of blocks need beside the kernels of matrices.
#include <tessera.hpp>

#include "std/matrix.hpp"

extern "C" void tessera_std_block(const tessera::Input& a, tessera::Output& b) {
  tessera::stdlib::matrix(a);
  b.share(a);
}
