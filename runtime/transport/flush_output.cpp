#include "runtime/transport/flush_output.hpp"

#include <stdio_ext.h>

#include <atomic>
#include <cstdio>
#include <ctime>
#include <ext/stdio_sync_filebuf.h>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

namespace tessera::runtime {
namespace {

void wait_a_moment() {
  const timespec moment{0, 1'000'000};
  nanosleep(&moment, nullptr);
}

// Calls `flush` while this thread has the stream's (recursive) lock; false: it gave up after so many ms.
template <class Flush>
bool with_lock(std::FILE* stream, int most, Flush flush) {
  for (int tries = 0; tries < most; ++tries) {
    if (ftrylockfile(stream) == 0) {
      flush();
      funlockfile(stream);
      return true;
    }
    wait_a_moment();
  }
  return false;
}

constexpr int kMoment = 100, kLong = 200;  // ms

std::atomic<bool> kept_by_us{false};

// The program has switched off synchronisation. (Else to flush std::cout is to flush stdout, and half a line with it.)
bool cout_has_a_buffer() { return dynamic_cast<__gnu_cxx::stdio_sync_filebuf<char>*>(std::cout.rdbuf()) == nullptr; }

// With its lock. (Where it is not buffered by lines, it may have whole ones.)
bool has_half_a_line(std::FILE* stream) {
  if (cout_has_a_buffer()) std::cout.flush();
  return __fpending(stream) > 0 && stream->_IO_write_ptr[-1] != '\n';
}

}  // namespace

bool flush_output() {
  const bool out = with_lock(stdout, kMoment, [] {
    // A buffer of its own, if the program switched off synchronisation; else this flushes stdout.
    std::cout.flush();
    std::fflush(stdout);
  });
  const bool err = with_lock(stderr, kMoment, [] { std::fflush(stderr); });
  return out && err;
}

bool flush_lines(const std::function<void()>& then) {
  bool done = false, had = true;
  for (int tries = 0; !done && had && tries < kMoment; ++tries) {
    if (tries > 0) wait_a_moment();
    had = with_lock(stdout, kMoment, [&] {
      if (has_half_a_line(stdout) && tries < kMoment - 1) return;
      std::fflush(stdout);
      if (then) then();
      done = true;
    });
  }
  if (!done && then) then();
  const bool err = with_lock(stderr, kMoment, [] { std::fflush(stderr); });
  return had && err;
}

void keep_stdout() {
  for (int tries = 0; tries < kMoment; ++tries) {
    if (ftrylockfile(stdout) == 0) {
      if (!has_half_a_line(stdout)) {
        std::fflush(stdout);
        kept_by_us.store(true);
        return;
      }
      funlockfile(stdout);
    }
    wait_a_moment();
  }
}

void flush_all() {
  if (!flush_output()) return;
  const auto done = std::make_shared<std::atomic<bool>>(false);
  try {
    // This waits for the locks of all files: a kernel's own may be locked, too.
    std::thread([done] {
      std::fflush(nullptr);
      done->store(true);
    }).detach();
  } catch (const std::system_error&) {
    return;
  }
  for (int tries = 0; tries < kMoment && !done->load(); ++tries) wait_a_moment();
}

bool flush_at_end() {
  bool kept = false;
  for (std::FILE* stream : {stdout, stderr}) {
    if (stream == stdout && kept_by_us.load()) continue;
    if (with_lock(stream, kLong, [&] { std::fflush(stream); })) continue;
    kept = true;
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
    std::fflush(stream);
  }
  return kept;
}

}  // namespace tessera::runtime
