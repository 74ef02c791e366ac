#include "runtime/transport/flush_output.hpp"

#include <cstdio>
#include <ctime>
#include <iostream>

namespace tessera::runtime {
namespace {

// Calls `flush` while this thread has the stream's (recursive) lock; gives up after 100 ms.
template <class Flush>
void with_lock(std::FILE* stream, Flush flush) {
  for (int tries = 0; tries < 100; ++tries) {
    if (ftrylockfile(stream) == 0) {
      flush();
      funlockfile(stream);
      return;
    }
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

}  // namespace

void flush_output() {
  with_lock(stdout, [] {
    // A buffer of its own, if the program switched off synchronisation; else this flushes stdout.
    std::cout.flush();
    std::fflush(stdout);
  });
  with_lock(stderr, [] { std::fflush(stderr); });
}

}  // namespace tessera::runtime
