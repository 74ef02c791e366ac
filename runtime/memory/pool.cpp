#include "runtime/memory/pool.hpp"

#include <malloc.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "runtime/memory/no_memory.hpp"
#include "runtime/memory/sanitizer.hpp"

#ifndef TESSERA_PLAIN_MALLOC
#include <oneapi/tbb/scalable_allocator.h>
#endif

namespace tessera::runtime {

void no_memory(std::uint64_t bytes) {
  try {
    if (const auto handler = std::get_new_handler(); handler != nullptr) handler();  // as operator new does
  } catch (const std::bad_alloc&) {}
  throw NoMemory(bytes);
}

void keep_what_kernels_free() {
  // By itself it begins with 128 kB, and goes up to twice the largest block that has been freed: less than what several
  // vectors of a kernel hold together.
  constexpr int kMapped = 32 << 20;  // the most that it takes
  constexpr int kKept = 64 << 20;    // by each thread
  for (const char* set : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (std::getenv(set) != nullptr) return;
  }
  mallopt(M_MMAP_THRESHOLD, kMapped);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

#ifdef TESSERA_PLAIN_MALLOC
void* block_allocate(std::size_t bytes) { return ::operator new(bytes); }
void block_free(void* memory) { ::operator delete(memory); }
void release_unused_memory() {}
void give_back_at_exit() {}
std::int64_t records_out() { return 0; }
#else

namespace {

// Kernels are compiled with a sanitizer, which knows malloc only.
bool plain() {
  static const bool yes = sanitizer_loaded();
  return yes;
}

void* allocate(std::size_t bytes) {
  void* p = plain() ? malloc(bytes) : scalable_malloc(bytes);
  if (p == nullptr) no_memory(bytes);
  return p;
}

}  // namespace

void* block_allocate(std::size_t bytes) {
  if (blocks_out != nullptr) ++*blocks_out;
  return allocate(bytes);
}
void block_free(void* memory) {
  if (blocks_out != nullptr) --*blocks_out;
  plain() ? free(memory) : scalable_free(memory);
}
void release_unused_memory() {
  // A rank may leave before its first block. oneTBB (2021.8) has no key of its own for thread data until then, and
  // looks under key 0, which is another library's: what it finds there it takes for locks, and waits for them for ever.
  scalable_free(scalable_malloc(1));
  scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS, nullptr);
  malloc_trim(0);
}

namespace pool {

__thread FreeList lists[kClasses];

namespace {

constexpr std::size_t kSlab = std::size_t{64} * 1024;

// Shared lists hold chains: batches of kBatch records, and what was left to a thread that ended.
struct Shared {
  std::mutex mutex;
  std::array<std::vector<FreeList>, kClasses> chains;
  std::int64_t made = 0;  // records, from slabs
};
Shared& shared() {
  static Shared* s = new Shared;  // outlives every thread
  return *s;
}

// A thread that ends gives all back. A process may make many runs, each with threads of its own.
struct AtExit {
  ~AtExit() {
    for (std::size_t c = 0; c < kClasses; ++c) {
      while (lists[c].count >= kBatch) give_batch(c);
      if (lists[c].head == nullptr) continue;
      const std::lock_guard hold(shared().mutex);
      shared().chains[c].push_back(lists[c]);
      lists[c] = {};
    }
  }
};
}  // namespace

void give_batch(std::size_t c) {
  FreeList& list = lists[c];
  FreeNode* first = list.head;
  FreeNode* last = first;
  for (std::size_t i = 1; i < kBatch; ++i) last = last->next;
  list.head = last->next;
  list.count -= kBatch;
  last->next = nullptr;
  const std::lock_guard hold(shared().mutex);
  shared().chains[c].push_back({.head = first, .count = kBatch});
}

void* refill(std::size_t c) {
  give_back_at_exit();
  FreeList& list = lists[c];
  {
    const std::lock_guard hold(shared().mutex);
    auto& chains = shared().chains[c];
    if (!chains.empty()) {
      list = chains.back();
      chains.pop_back();
    }
  }
  if (list.head == nullptr) {
    const std::size_t size = (c + 1) * kStep;
    char* slab = static_cast<char*>(allocate(kSlab));
    for (std::size_t at = 0; at + size <= kSlab; at += size) {
      auto* node = reinterpret_cast<FreeNode*>(slab + at);
      node->next = list.head;
      list.head = node;
      ++list.count;
    }
    const std::lock_guard hold(shared().mutex);
    shared().made += list.count;
  }
  FreeNode* node = list.head;
  list.head = node->next;
  --list.count;
  return node;
}

}  // namespace pool

void give_back_at_exit() { static thread_local pool::AtExit at_exit; }

std::int64_t records_out() {
  pool::Shared& shared = pool::shared();
  const std::lock_guard hold(shared.mutex);
  std::int64_t out = shared.made;
  for (std::size_t c = 0; c < pool::kClasses; ++c) {
    out -= pool::lists[c].count;
    for (const pool::FreeList& chain : shared.chains[c]) out -= chain.count;
  }
  return out;
}

#endif

}  // namespace tessera::runtime
