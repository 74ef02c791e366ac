// Before a run the ranks agree: each sends its card to rank 0, which answers with what counts for all, or why there is
// no run.
#pragma once

#include <utility>

#include "runtime/run.hpp"
#include "runtime/start/card.hpp"

namespace tessera::runtime {

std::string host_name();  // of this one

// card_of is what this process says; a program of another version is refused in it.
Card card_of(const abi::Program&, const std::vector<std::string>& arguments);

struct Agreed {
  Verdict verdict;
  std::vector<std::pair<Rank, Parcel>> early;  // of the run, from ranks that had the verdict before
};
// agree: every rank calls it; `mine` counts on rank 0 only: its options and profile. What is wrong is in the verdict,
// and has been said to nobody.
Agreed agree(Transport& transport, Card card, Verdict mine, bool quiet);

}  // namespace tessera::runtime
