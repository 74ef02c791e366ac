#include "runtime/transport/printed.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "runtime/threads/threads.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime::text {
namespace {

// Where nobody tells.
constexpr auto kToldByNobody = std::chrono::milliseconds(20);
// A terminal that was stopped, or a program that has led its stdout elsewhere.
constexpr auto kStopped = std::chrono::seconds(10);
constexpr auto kUntilNextLook = std::chrono::microseconds(300);

// On another host the path may lead to anything.
int open_acknowledgements() {
  const char* path = std::getenv(kPrinted);
  if (path == nullptr) return -1;
  std::error_code ignored;
  const std::string file = std::filesystem::read_symlink(path, ignored).string();
  return file.rfind(std::string("/memfd:") + kPrintedFile, 0) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

}  // namespace

void await_printed(bool hurries) {
  static std::mutex one;  // the ranks of a process print by one stdout
  const std::lock_guard hold(one);
  static int file = open_acknowledgements();
  static std::uint64_t number = 0;
  flush_output();
  if (file < 0) {
    if (started_by_launcher()) sleep_for(kToldByNobody);
    return;
  }
  const std::int32_t rank = launcher_rank();
  std::fprintf(stdout, "%s%d:%llu%c", kMarkBegin, rank, static_cast<unsigned long long>(++number), kMarkEnd);
  flush_output();
  const auto until = Clock::now() + (hurries ? Clock::duration(kToldByNobody) : kStopped);
  for (std::uint64_t seen = 0; Clock::now() < until; sleep_for(kUntilNextLook)) {
    if (pread(file, &seen, sizeof seen, place_of_mark(rank)) == sizeof seen && seen >= number) return;
  }
  if (hurries) return;
  close(file);  // never again
  file = -1;
}

}  // namespace tessera::runtime::text
