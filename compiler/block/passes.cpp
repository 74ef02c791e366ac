#include "compiler/block/passes.hpp"

#include "compiler/block/close_frames.hpp"
#include "compiler/block/count_passed.hpp"
#include "compiler/block/count_uses.hpp"
#include "compiler/block/defer_arguments.hpp"
#include "compiler/block/find_carried.hpp"
#include "compiler/block/find_feeders.hpp"
#include "compiler/block/find_makers.hpp"
#include "compiler/block/find_only_read.hpp"
#include "compiler/block/find_placed.hpp"
#include "compiler/block/find_readers.hpp"
#include "compiler/block/find_series.hpp"
#include "compiler/block/fuse_branches.hpp"
#include "compiler/block/fuse_chains.hpp"
#include "compiler/block/hold_deletes.hpp"
#include "compiler/block/inline_conditions.hpp"
#include "compiler/block/inline_subs.hpp"
#include "compiler/block/match_inputs.hpp"
#include "compiler/block/note_callers.hpp"
#include "compiler/block/number_blocks.hpp"
#include "compiler/block/spread_loops.hpp"
#include "compiler/block/stage_indices.hpp"
#include "compiler/block/sweep_names.hpp"

namespace tessera::compiler::block {

std::vector<Pass> pipeline() {
  return {
      // First: all others see what subs do, and each chain is still one block.
      {"inline-subs", inline_subs, true},
      // While conditions still show whether they read anything.
      {"inline-conditions", inline_conditions},
      // Makes new chains whose arguments and locators the next pass may have to split.
      {"defer-arguments", defer_arguments},
      // Needs reads in place, not yet numbered as inputs.
      {"stage-indices", stage_indices},
      // Now every index can be computed from the frame: reads become inputs.
      {"match-inputs", match_inputs},
      // Readers are inputs now, and every assignment is still to be given its frame.
      {"count-uses", count_uses, true},
      // Of those counted, and their blocks are still there.
      {"find-readers", find_readers, true},
      // Counting is done: it looks at loops.
      {"fuse-chains", fuse_chains, true},
      // Deletes that are left are not told by counting; loops are not spread yet.
      {"hold-deletes", hold_deletes},
      // It looks at indices of inputs.
      {"find-series", find_series, true},
      // What is fused has no locator; loops are what they will be.
      {"spread-loops", spread_loops, true},
      // Inputs and locators do not change any more.
      {"find-makers", find_makers, true},
      // Nobody looks at conditions around calls any more.
      {"fuse-branches", fuse_branches, true},
      // Chains are what they will be.
      {"find-placed", find_placed, true},
      {"find-carried", find_carried, true},
      // All that makes fragments is what it will be; what it needs is not captured yet.
      {"sweep-names", sweep_names, true},
      // What is swept is left alone, and so is all that it is passed with.
      {"count-passed", count_passed, true},
      // After all rewriting: what a statement mentions now is what it must capture.
      {"close-frames", close_frames},
      // Of the names that are captured now.
      {"find-only-read", find_only_read},
      {"find-feeders", find_feeders},
      // Once every chain is there.
      {"note-callers", note_callers},
      // Last: nothing is added or removed any more.
      {"number-blocks", number_blocks},
  };
}

}  // namespace tessera::compiler::block
