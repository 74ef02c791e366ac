#include "runtime/memory/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>

namespace tessera::runtime {
namespace {

void give_back_at_once() {
  alarm(20);
  static std::array<unsigned char, 1 << 16> foreign;
  foreign.fill(1);
  pthread_key_t last;
  pthread_key_create(&last, nullptr);
  for (pthread_key_t key = 0; key <= last; ++key) {
    if (pthread_getspecific(key) == nullptr) (void)pthread_setspecific(key, foreign.data());
  }
  release_unused_memory();
  _exit(0);
}

// A rank that leaves at once gives back what it never had. In a process (ctest runs each test in its own) whose thread
// keys hold others' data.
TEST(Memory, IsGivenBackBeforeAnyWasAllocated) { EXPECT_EXIT(give_back_at_once(), testing::ExitedWithCode(0), ""); }

}  // namespace
}  // namespace tessera::runtime
