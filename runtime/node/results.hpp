// What rank 0 leaves behind after a good run, or one that a signal has ended.
#pragma once

#include "runtime/report/summary.hpp"

namespace tessera::runtime {

// Rank 0 at the end: prints and writes what the options ask for; the exit code.
int write_results(const RunOver&);

}  // namespace tessera::runtime
