#include "runtime/node/interrupts.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/journal/captured.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/report/running.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kSignals.size()> actions_before;
Doorbell bell;
std::atomic<int> came{0};
constexpr int kEnd = -1;
constexpr std::chrono::milliseconds kTogether{700};
// A second signal after this is somebody who does not want to wait; `timeout` and mpirun send two at once.
constexpr std::chrono::seconds kTwice{1};
std::atomic<std::chrono::steady_clock::rep> came_at{0};

void give_back() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before[i], nullptr);
}

bool has_no_handler(int signal) {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) return actions_before[i].sa_handler == SIG_DFL;
  }
  return false;
}

void on_signal(int signal) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  int none = 0;
  if (came.compare_exchange_strong(none, signal)) {
    came_at = now.count();
  } else if (now - std::chrono::steady_clock::duration(came_at) > kTwice) {
    give_back();
    raise(signal);
  }
  bell.ring();
}

}  // namespace

Interrupts::Interrupts(const RunOptions& options)
    : quiet_(options.quiet), journalled_(!options.journal.empty()), leaves_files_(runtime::leaves_files(options)) {
  if (options.caller != nullptr) return;
  if (quiet_ && !journalled_ && !leaves_files_) return;
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

void Interrupts::ends(std::function<bool(int)> end) {
  const std::lock_guard hold(mutex_);
  end_ = std::move(end);
}

bool Interrupts::end_run(int exit_code) {
  const std::lock_guard hold(mutex_);
  return leaves_files_ && end_ && end_(exit_code);
}

void Interrupts::end_process(int exit_code) {
  if (exit_code == kExitContinue) _exit(exit_code);
  const int signal = exit_code == kExitInterrupted ? SIGINT : exit_code - 128;
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(exit_code);  // it is blocked
}

void Interrupts::watch() {
  for (;;) {
    const std::uint32_t rings = bell.count();
    const int signal = came.load();
    if (signal == kEnd) return;
    if (signal != 0) {
      std::string running = quiet_ ? "" : RunningNow::all();
      if (running.empty() && !quiet_) running = RunningNow::so_far();
      if (!running.empty()) {
        const std::string text = "\ntessera: ended by a signal\n" + running;
        (void)!write(STDERR_FILENO, text.data(), text.size());
      }
      const int code = signal == SIGINT ? kExitInterrupted : journalled_ ? kExitContinue : 128 + signal;
      if (journalled_) {
        // mpirun gives its ranks a second, but ends all when one of them has ended: whoever has less to write waits for
        // the others.
        const auto together = std::chrono::steady_clock::now() + kTogether;
        // Not where a handler may go on.
        journal::process_ends = code == kExitContinue || has_no_handler(signal);
        // Side by side: a sweep may wait for text to be out, which mpirun no longer passes on.
        std::thread writer(journal::Journal::write_all);
        const bool ends = end_run(code);
        writer.join();
        if (ends) return;
        if (journal::process_ends) keep_stdout();
        if (started_by_launcher()) std::this_thread::sleep_until(together);
      }
      if (code == kExitContinue) _exit(code);
      if (!journalled_ && end_run(code)) return;
      give_back();
      kill(getpid(), signal);
      came = kEnd;  // a handler that goes on
      return;
    }
    bell.sleep(rings, std::chrono::steady_clock::time_point::max());
  }
}

}  // namespace tessera::runtime
