// The trace of a run at its end: from the workers' buffers to rank 0, and from there to the file.
#pragma once

#include <functional>
#include <string>

#include "runtime/report/summary.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

// Gives what the workers of this rank wrote down to rank 0; they have ended, or are sealed (trace_seal.hpp). `whole`:
// the run is; else it ends now, wherever it is.
void send_trace(const Crew&, RankEvents&, bool whole, const std::function<void(TracePart)>& give);

// Rank 0, when the parts of all ranks are there: writes the file, whole or not at all. Returns what is
// wrong, for a person; empty: nothing. `missing`: what it does not have for lack of room.
std::string write_trace(const RunOver&, std::string& missing);

}  // namespace tessera::runtime
