#include "runtime/transport/last_call.hpp"

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace tessera::runtime {
namespace {

constexpr int kForAbort = 2000;  // ms

// What a signal's handler needs stands here: it can't ask whether an object is still there.
std::atomic<pid_t> process{0};  // that has one; 0: none, or it was called
std::atomic<int> exit_code{0};
std::atomic<bool> called{false}, done{false};
sem_t wanted;

}  // namespace

LastCall::LastCall(void (*abort)(int)) {
  sem_init(&wanted, 0, 0);
  called = done = false;
  thread_ = std::thread([abort] {
    while (sem_wait(&wanted) != 0) {}
    if (called.load()) abort(exit_code.load());
    done.store(true);
  });
  process.store(getpid());
}

LastCall::~LastCall() {
  if (process.exchange(0) == 0) {
    thread_.detach();  // it aborts, or waits for what never comes, in a process that ends
    return;
  }
  sem_post(&wanted);
  thread_.join();
  sem_destroy(&wanted);
}

void last_call(int code) {
  pid_t mine = getpid();
  if (!process.compare_exchange_strong(mine, 0)) return;
  exit_code.store(code);
  called.store(true);
  sem_post(&wanted);
  for (int ms = 0; ms < kForAbort && !done.load(); ++ms) {
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
}

void no_last_call() { process.store(0); }

}  // namespace tessera::runtime
