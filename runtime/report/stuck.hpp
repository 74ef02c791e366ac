// The report of a program that cannot finish: what waits for which data fragment, and who could
// have produced it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Node;

// What waits on this rank; at most kMostLines lines, smallest ids first so that runs compare.
inline constexpr std::size_t kMostLines = 20;
Waiting list_waiting(Node&);
std::string stuck_report(const abi::Program&, std::int64_t count, std::vector<std::string> lines);

}  // namespace tessera::runtime
