// The warning about a `req_count` that said more reads than there were.
#pragma once

#include <string>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

// One line for each statement, whatever the number of ranks that found it; by block.
std::string unread_report(const abi::Program&, const std::vector<Totals>& by_rank);

}  // namespace tessera::runtime
