#include "runtime/transport/flush_output.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace tessera::runtime {
namespace {

// keep_stdout is called where a signal ends the process, and its end may be under way in another thread, which told of
// a kernel that had locked stdout (3 of 68 runs with a journal).
TEST(FlushOutput, WhatTheRunKeepsNoKernelHasLocked) {
  EXPECT_EXIT(
      {
        std::thread(keep_stdout).join();
        _exit(flush_at_end() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(FlushOutput, WhatAKernelHasLockedIsTold) {
  EXPECT_EXIT(
      {
        std::thread([] { flockfile(stdout); }).join();
        _exit(flush_at_end() ? 1 : 0);
      },
      testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace tessera::runtime
