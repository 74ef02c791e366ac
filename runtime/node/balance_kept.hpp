// What balances a rank beside the weights of its groups, as a journal keeps it, and a run that goes on begins with it.
#pragma once

#include "runtime/journal/format.hpp"

namespace tessera::runtime {

class Node;

// Any thread, once the rank runs.
journal::SeriesPlaces places_of_series(const Node&);
journal::HostLinks measured_links(const Node&);

// Before anything runs, with a policy: series go on where they were, if there are as many ranks as then, and that one
// takes part; links of the same hosts are what they were, until they are measured.
void recall_balance(Node&);

}  // namespace tessera::runtime
