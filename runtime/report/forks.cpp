#include "runtime/report/forks.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {
namespace {

constexpr int kTries = 1000;  // of a millisecond

// Seen by both.
struct Word {
  std::atomic<std::uint32_t> state;  // 0: nothing; 1: being written; 2: there
  char text[4000];
};
Word* word = nullptr;
const abi::Program* forking_program = nullptr;

std::atomic<bool> forked{false};

void before_fork() {
  forking_program = program_running();
  if (forking_program != nullptr && own_thread()) forked.store(true);
}

void in_child() {
  if (forking_program == nullptr || !own_thread()) return;
  is_forked_child = true;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace

bool is_forked_child = false;

void watch_forks() {
  if (word != nullptr) {
    word->state = 0;
    return;
  }
  void* shared = mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return;
  word = new (shared) Word{};
  pthread_atfork(before_fork, nullptr, in_child);
}

void child_came_back() {
  std::uint32_t nothing = 0;
  if (in_fragment() && word->state.compare_exchange_strong(nothing, 1)) {
    const abi::Cf* c = thread_worker->current;
    const std::string text =
        place(*forking_program, c->block->pos) +
        ": error: a child that the kernel has forked came back from it: a child ends with _exit(), or becomes another "
        "program [T416]\n  in " +
        describe(*forking_program, c);
    std::strncpy(word->text, text.c_str(), sizeof word->text - 1);
    word->state = 2;
  }
  end_process(kExitProgram);
}

std::string word_of_child() {
  return word == nullptr || word->state.load(std::memory_order_acquire) != 2 ? "" : word->text;
}

void await_children() {
  for (int tries = 0; forked.load() && word->state.load() != 2 && tries < kTries; ++tries) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
      return;  // there are none, or it has ended
    usleep(1000);
  }
}

}  // namespace tessera::runtime
