// Packing fragments for another rank.
#pragma once

#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Node;

// What each of two ranks does for a fragment that is shipped with a small input, in ns: half of what `bench/run moving`
// takes for one of 64 bytes (1.2 us; 0.8 to 1.0 between ranks of one host since they share memory).
constexpr balancer::Time kShipCost = 600;

// board adds a fragment and what `to` may lack of its inputs to the shipment, and takes it over:
// its record is freed, its count of the scope stays until the ScopeReturn. No worker knows of the
// fragment. `leaves_now`: the shipment does before any other is begun. The inputs in `promised` are given to `to`
// without being asked for. What it holds of swept names is let go: its shipment is marked.
void board(Node&, Ship&, abi::Cf*, Rank to, bool leaves_now, std::uint64_t promised = 0);
// The same of one that waited here (DataFragments::take_waiting): what it has in its slots goes along.
void board_waiting(Node&, Ship&, abi::Cf*, Rank to);

// counts_of says how many fragments of which groups a shipment has; a range counts as its
// iterations.
std::vector<balancer::GroupCount> counts_of(const abi::Program&, const Ship&);

}  // namespace tessera::runtime
