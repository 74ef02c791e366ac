#include "runtime/node/interrupts.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include "runtime/journal/journal.hpp"
#include "runtime/report/running.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
std::array<struct sigaction, kSignals.size()> actions_before;
Doorbell bell;
std::atomic<int> came{0};
constexpr int kEnd = -1;
constexpr std::chrono::milliseconds kTogether{700};

void on_signal(int signal) {
  int none = 0;
  came.compare_exchange_strong(none, signal);
  bell.ring();
}

void give_back() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before[i], nullptr);
}

}  // namespace

Interrupts::Interrupts(bool quiet, bool journalled) : quiet_(quiet), journalled_(journalled) {
  if (quiet && !journalled) return;
  came = 0;
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {  // no more threads: then without
    return;
  }
  on_ = true;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  if (!on_) return;
  give_back();
  int none = 0;
  came.compare_exchange_strong(none, kEnd);
  bell.ring();
  thread_.join();
}

void Interrupts::watch() const {
  for (;;) {
    const std::uint32_t rings = bell.count();
    const int signal = came.load();
    if (signal == kEnd) return;
    if (signal != 0) {
      const std::string running = quiet_ ? "" : RunningNow::all();
      if (!running.empty()) {
        const std::string text = "\ntessera: ended by a signal\n" + running;
        (void)!write(STDERR_FILENO, text.data(), text.size());
      }
      if (journalled_) {
        // mpirun gives its ranks a second, but ends all when one of them has ended: whoever has less to write waits for
        // the others.
        const auto together = std::chrono::steady_clock::now() + kTogether;
        journal::Journal::write_all();
        if (started_by_launcher()) std::this_thread::sleep_until(together);
      }
      if (journalled_ && signal == SIGTERM) _exit(kExitContinue);
      give_back();
      kill(getpid(), signal);
      came = kEnd;  // a handler that goes on
      return;
    }
    bell.sleep(rings, std::chrono::steady_clock::time_point::max());
  }
}

}  // namespace tessera::runtime
