#include "runtime/memory/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

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

#ifndef TESSERA_PLAIN_MALLOC
// Threads, one after another, as the runs of one process have them. Each has `count` records at once.
std::size_t records_of_threads(std::size_t threads, std::size_t count, std::size_t bytes) {
  std::set<void*> seen;
  for (std::size_t k = 0; k < threads; ++k) {
    std::thread([&] {
      std::vector<void*> records;
      for (std::size_t i = 0; i < count; ++i) records.push_back(pool_allocate(bytes));
      for (void* record : records) pool_free(record, bytes);
      seen.insert(records.begin(), records.end());
    }).join();
  }
  return seen.size();
}

// Less than a batch, a batch and some, several; of sizes with many records in a slab, and with fewer than a batch.
TEST(Memory, OfThreadsThatEndedServesTheNext) {
  for (const std::size_t bytes : {16, 48, 608, 1024}) {
    for (const std::size_t count : {1, 5, 300, 1000}) {
      const std::size_t slab = 65536 / bytes;
      const std::size_t slabs = (count + slab - 1) / slab;
      EXPECT_LE(records_of_threads(300, count, bytes), slabs * slab) << count << " of " << bytes << " bytes";
    }
  }
}

// One that allocates nothing, and frees less than makes a batch.
TEST(Memory, OfThreadsThatOnlyFreeIsNotLost) {
  const std::int64_t before = records_out();
  std::vector<void*> records;
  for (int k = 0; k < 100; ++k) records.push_back(pool_allocate(48));
  EXPECT_EQ(records_out(), before + 100);
  std::thread([&] {
    give_back_at_exit();
    for (void* record : records) pool_free(record, 48);
  }).join();
  EXPECT_EQ(records_out(), before);
}
#endif

}  // namespace
}  // namespace tessera::runtime
