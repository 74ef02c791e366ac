#include "runtime/memory/pool.hpp"

#include <malloc.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TESSERA_PLAIN_MALLOC 1
#else
#include <oneapi/tbb/scalable_allocator.h>
#endif

namespace tessera::runtime {

#ifdef TESSERA_PLAIN_MALLOC
// Sanitizers see every allocation and its true lifetime.
void* pool_allocate(std::size_t bytes) { return ::operator new(bytes); }
void pool_free(void* memory, std::size_t) { ::operator delete(memory); }
void* block_allocate(std::size_t bytes) { return ::operator new(bytes); }
void block_free(void* memory) { ::operator delete(memory); }
void release_unused_memory() {}
#else

namespace {

constexpr std::size_t kStep = 16;
constexpr std::size_t kClasses = 64;  // up to 1 KiB
constexpr std::size_t kBatch = 256;   // records that move between a thread and the shared lists
constexpr std::size_t kSlab = 64 * 1024;

struct FreeNode {
  FreeNode* next;
};
struct FreeList {
  FreeNode* head = nullptr;
  std::uint32_t count = 0;
};
// Shared lists hold whole batches: chains of exactly kBatch records.
struct Shared {
  std::mutex mutex;
  std::array<std::vector<FreeNode*>, kClasses> batches;
};
Shared& shared() {
  static Shared* s = new Shared;  // outlives every thread
  return *s;
}

struct Local {
  std::array<FreeList, kClasses> lists;
  ~Local();
};
thread_local Local local;

void give_batch(FreeList& list, std::size_t c) {
  FreeNode* first = list.head;
  FreeNode* last = first;
  for (std::size_t i = 1; i < kBatch; ++i) last = last->next;
  list.head = last->next;
  list.count -= kBatch;
  last->next = nullptr;
  const std::lock_guard hold(shared().mutex);
  shared().batches[c].push_back(first);
}

Local::~Local() {
  for (std::size_t c = 0; c < kClasses; ++c) {
    while (lists[c].count >= kBatch) give_batch(lists[c], c);
    // The rest (under one batch a class) stays reachable through its slab only; a process ends
    // soon after its workers do.
  }
}

void* refill(FreeList& list, std::size_t c) {
  {
    const std::lock_guard hold(shared().mutex);
    auto& batches = shared().batches[c];
    if (!batches.empty()) {
      list.head = batches.back();
      list.count = kBatch;
      batches.pop_back();
    }
  }
  if (list.head == nullptr) {
    const std::size_t size = (c + 1) * kStep;
    char* slab = static_cast<char*>(block_allocate(kSlab));
    for (std::size_t at = 0; at + size <= kSlab; at += size) {
      auto* node = reinterpret_cast<FreeNode*>(slab + at);
      node->next = list.head;
      list.head = node;
      ++list.count;
    }
  }
  FreeNode* node = list.head;
  list.head = node->next;
  --list.count;
  return node;
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  const std::size_t c = (bytes - 1) / kStep;
  if (c >= kClasses) return block_allocate(bytes);
  FreeList& list = local.lists[c];
  if (FreeNode* node = list.head; node != nullptr) {
    list.head = node->next;
    --list.count;
    return node;
  }
  return refill(list, c);
}

void pool_free(void* memory, std::size_t bytes) {
  const std::size_t c = (bytes - 1) / kStep;
  if (c >= kClasses) return block_free(memory);
  FreeList& list = local.lists[c];
  auto* node = static_cast<FreeNode*>(memory);
  node->next = list.head;
  list.head = node;
  if (++list.count >= 2 * kBatch) give_batch(list, c);
}

void* block_allocate(std::size_t bytes) {
  void* p = scalable_malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void block_free(void* memory) { scalable_free(memory); }
void release_unused_memory() {
  scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS, nullptr);
  malloc_trim(0);
}

#endif

}  // namespace tessera::runtime
