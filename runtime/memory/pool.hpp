// Pools for the small records that come and go with every fragment: CFs, data-fragment entries,
// scalar values. A thread allocates from and frees to its own list; lists that grow on one thread
// and shrink on another meet in a shared one. Memory is returned to the system at process exit.
#pragma once

#include <cstddef>

namespace tessera::runtime {

void* pool_allocate(std::size_t bytes);
void pool_free(void* memory, std::size_t bytes);  // the size it was allocated with

// Large blocks (opaque values): oneTBB's scalable allocator, which keeps freed pages at hand.
void* block_allocate(std::size_t bytes);
void block_free(void* memory);

// What is free and can be given back to the system is.
void release_unused_memory();

}  // namespace tessera::runtime
