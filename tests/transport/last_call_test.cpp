// That a process which ends badly has a sound thread abort first.
#include "runtime/transport/last_call.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "runtime/transport/process_environment.hpp"

namespace tessera::runtime {
namespace {

// The exit code of a child that does so.
template <class F>
int exit_code_of(F f) {
  const pid_t child = fork();
  if (child == 0) {
    f();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(LastCall, IsMadeFromAHandler) {
  EXPECT_EQ(exit_code_of([] {
              const LastCall call([](int code) { _exit(40 + code); });
              signal(SIGSEGV, [](int) { end_process(2); });
              raise(SIGSEGV);
            }),
            42);
}

TEST(LastCall, WaitsForNoneThatHangs) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(exit_code_of([] {
              const LastCall call([](int) { pause(); });
              end_process(3);
            }),
            3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(LastCall, IsNotMadeTwiceNorByChildrenNorWhenItIsOver) {
  EXPECT_EQ(exit_code_of([] {
              const LastCall call([](int code) { end_process(50 + code); });  // as MPI_Abort does
              end_process(1);
            }),
            51);
  EXPECT_EQ(exit_code_of([] {
              const LastCall call([](int) { _exit(98); });
              const int code = exit_code_of([] { end_process(4); });
              no_last_call();
              end_process(code);
            }),
            4);
  EXPECT_EQ(exit_code_of([] {
              {
                const LastCall call([](int) { _exit(98); });
              }
              end_process(5);
            }),
            5);
}

}  // namespace
}  // namespace tessera::runtime
