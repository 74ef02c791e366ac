// There is no more memory.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <string_view>
#include <thread>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/process_environment.hpp"

namespace tessera::runtime {
namespace {

// Held back for what has to be said when there is no more.
constexpr std::size_t kReserve = 1 << 20;
std::atomic<void*> reserve{nullptr};
std::new_handler handler_before = nullptr;
constexpr auto kForTeller = std::chrono::seconds(5);
constexpr std::string_view kInShort =
    "tessera: error: out of memory; is there a limit (`ulimit -a`)? More hosts have more\n";

void on_no_memory() {
  // In a fragment: Node::execute says whose. Threads that kernels start, and processes, may know what to do.
  if (!own_thread() || in_fragment() || program_running() == nullptr) throw std::bad_alloc();
  static std::atomic<pid_t> teller{0};
  pid_t nobody = 0;
  if (!teller.compare_exchange_strong(nobody, gettid())) {
    // Another thread tells, and ends the process; unless telling needs more than the reserve, or what this one has
    // locked.
    if (teller != gettid()) std::this_thread::sleep_for(kForTeller);
    (void)!write(STDERR_FILENO, kInShort.data(), kInShort.size());
    end_process(kExitEnvironment);
  }
  end_saying("", "tessera: error: " + not_enough_memory(), kExitEnvironment);
}

// Megabytes, so that what is small does not look like nothing.
std::uint64_t mb(std::uint64_t bytes) { return bytes >> 20; }

}  // namespace

std::string not_enough_memory(std::uint64_t wanted) {
  free(reserve.exchange(nullptr));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::string text = "out of memory: ";
  if (mb(wanted) > 0) text += fmt::format("{} MB were asked for at once; ", mb(wanted));
  text += fmt::format("this process has held up to {} MB", used.ru_maxrss >> 10);
  struct sysinfo machine {};
  if (sysinfo(&machine) == 0) {
    const std::uint64_t here = mb(std::uint64_t{machine.totalram} * machine.mem_unit);
    text += fmt::format(", and this machine has {} MB", here);
    // One value lies on one host, however many there are.
    if (mb(wanted) > here) return text + ": is that size right? A value has to fit into one";
    // A kernel has asked for it by itself: nobody knows how much.
    if (wanted == 0 && static_cast<std::uint64_t>(used.ru_maxrss >> 10) < here / 4)
      return text + ": what was asked for is large; is that size right? Or is there a limit (`ulimit -a`)?";
  }
  return text + "; is there a limit (`ulimit -a`)? More hosts have more";
}

void watch_memory(bool yes) {
  if (yes) {
    reserve = malloc(kReserve);
    handler_before = std::set_new_handler(on_no_memory);
  } else {
    std::set_new_handler(handler_before);
    free(reserve.exchange(nullptr));
  }
}

}  // namespace tessera::runtime
