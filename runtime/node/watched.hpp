// What a worker does where somebody watches what runs: a trace, a journal, who looks whether kernels write to their
// inputs, a policy that asks what series take, a simulation (Worker::watched).
#pragma once

#include <atomic>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {

// Runs the fragment's block.
abi::Next run_watched(abi::Worker&, abi::Cf*);
// It goes on, and need not wait for the inputs of its next block: an earlier run has done it.
bool goes_on_recalled(abi::Worker&, abi::Cf*);
// One that is about to be made need not be, and is gone.
bool is_skipped(abi::Worker&, abi::Cf*);
// One that an earlier run has done waits for nothing, and gives what that has found out; where it would have run.
void give(abi::Worker&, abi::Cf*);
// Makes the iterations of a chunk, but for those that need not be made.
void iterate_watched(abi::Worker&, const Work&, const std::atomic<bool>& failed);

}  // namespace tessera::runtime
