// Traces of test programs (`tessera run --record`), without what differs from run to run.
#pragma once

#include <string>
#include <vector>

#include "cases.hpp"

namespace tessera::tests {

// Whether the ranks that locators named are part of it.
enum class Homes { kept, forgotten };

// recorded runs the case with these options and --record, and gives the trace without the weights; empty, and
// a failure of the test, when there is none.
std::string recorded(const Case&, std::vector<std::string> options, Homes);

}  // namespace tessera::tests
