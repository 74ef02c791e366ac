#include "runtime/transport/printed.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

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

// Whether the path leads to the file of whoever has started this process. On another host it may lead to anything.
bool leads_there(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::read_symlink(path, ignored).string();
  return file.rfind(std::string("/memfd:") + kPrintedFile, 0) == 0;
}

const std::string& path_there() {
  static const char* given = std::getenv(kPrinted);
  static const std::string path = given == nullptr ? "" : given;
  return path;
}

int& acknowledgements() {
  static int file = leads_there(path_there()) ? open(path_there().c_str(), O_RDONLY | O_CLOEXEC) : -1;
  return file;
}

}  // namespace

void expect_acknowledgements() { acknowledgements(); }

bool await_printed(bool hurries) {
  static std::mutex one;  // the ranks of a process print by one stdout
  const std::lock_guard hold(one);
  static std::uint64_t number = 0;
  int& file = acknowledgements();
  flush_output();
  if (file < 0) {
    if (started_by_launcher()) sleep_for(kToldByNobody);
    return true;
  }
  const std::int32_t rank = launcher_rank();
  std::fprintf(stdout, "%s%d:%llu%c", kMarkBegin, rank, static_cast<unsigned long long>(++number), kMarkEnd);
  flush_output();
  const auto until = Clock::now() + (hurries ? Clock::duration(kToldByNobody) : kStopped);
  for (std::uint64_t seen = 0; Clock::now() < until; sleep_for(kUntilNextLook)) {
    const bool alive = leads_there(path_there());  // asked before: its last word counts
    if (pread(file, &seen, sizeof seen, place_of_mark(rank)) == sizeof seen && seen >= number) return true;
    if (!alive) return false;
  }
  if (hurries) return true;
  close(file);  // never again
  file = -1;
  return true;
}

}  // namespace tessera::runtime::text
