// Pools for the small records that come and go with every fragment: CFs, data-fragment entries,
// scalar values. A thread allocates from and frees to its own list; lists that grow on one thread
// and shrink on another meet in a shared one. Memory is returned to the system at process exit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TESSERA_PLAIN_MALLOC 1  // sanitizers see every allocation and its true lifetime
#endif

namespace tessera::runtime {

// Large blocks (opaque values): oneTBB's scalable allocator, which keeps freed pages at hand.
void* block_allocate(std::size_t bytes);
void block_free(void* memory);

// What kernels allocate for themselves and free again is kept for the next ones: the C library would give it back to
// the system each time, and to get it again costs more than most kernels take. Not if the user has said how it is to be
// (MALLOC_MMAP_THRESHOLD_, MALLOC_TRIM_THRESHOLD_, GLIBC_TUNABLES). Of the whole process.
void keep_what_kernels_free();
// What is free and can be given back to the system is.
void release_unused_memory();

// What this thread frees from now on others get when it ends. One that allocates itself sees to that; one that only
// frees what others have allocated has to say so.
void give_back_at_exit();

// For tests: what has been given out and not given back. Records are those of threads that have ended, and of this one;
// under a sanitizer, which looks itself, none. Blocks are counted from when somebody asks: null, nobody does.
std::int64_t records_out();
inline std::atomic<std::int64_t>* blocks_out = nullptr;

namespace pool {

inline constexpr std::size_t kStep = 16;
// Up to 1 KiB. A library that is loaded later, as by Python, has 1.6 kB of thread-local memory with all others
// together.
inline constexpr std::size_t kClasses = 64;
inline constexpr std::size_t kBatch = 256;  // records that move between a thread and the shared lists

struct FreeNode {
  FreeNode* next;
};
struct FreeList {
  FreeNode* head;
  std::uint32_t count;
};
extern __thread FreeList lists[kClasses];  // all zero at first

void* refill(std::size_t list);
void give_batch(std::size_t list);

}  // namespace pool

#ifdef TESSERA_PLAIN_MALLOC
inline void* pool_allocate(std::size_t bytes) { return ::operator new(bytes); }
inline void pool_free(void* memory, std::size_t) { ::operator delete(memory); }
inline std::uint32_t pool_listed(std::size_t) { return 0; }
#else
inline void* pool_allocate(std::size_t bytes) {
  const std::size_t c = (bytes - 1) / pool::kStep;
  if (c >= pool::kClasses) return block_allocate(bytes);
  pool::FreeList& list = pool::lists[c];
  pool::FreeNode* node = list.head;
  if (node == nullptr) return pool::refill(c);
  list.head = node->next;
  --list.count;
  return node;
}

inline void pool_free(void* memory, std::size_t bytes) {  // the size it was allocated with
  const std::size_t c = (bytes - 1) / pool::kStep;
  if (c >= pool::kClasses) return block_free(memory);
  pool::FreeList& list = pool::lists[c];
  auto* node = static_cast<pool::FreeNode*>(memory);
  node->next = list.head;
  list.head = node;
  if (++list.count >= 2 * pool::kBatch) pool::give_batch(c);
}
// Records that this thread has at hand.
inline std::uint32_t pool_listed(std::size_t bytes) { return pool::lists[(bytes - 1) / pool::kStep].count; }
#endif

}  // namespace tessera::runtime
