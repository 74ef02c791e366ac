// Recount: what a report says of a run, reckoned once more from the raw columns of its tables, in the slow way that the
// words of docs/reading-a-report.md say: each instant of each worker by itself.
#pragma once

#include <map>
#include <string>

namespace tessera::tests {

using Tables = std::map<std::string, std::string>;  // by name, as `tessera export --format csv` writes them
// The first thing that differs; empty: nothing does.
std::string recount(const Tables&);
// What a run can't have recorded: that a fragment was moved, and inputs that were made where it lay were there before.
std::string moved_too_early(const Tables&);

}  // namespace tessera::tests
