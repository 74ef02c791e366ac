// The report: one file that a browser opens from the disk, without a network.
#pragma once

#include <string>
#include <vector>

#include "cli/report/run_record.hpp"

namespace tessera::cli {

// A page has room for so many runs.
inline constexpr std::size_t kMostRuns = 4;
std::string page_of(const std::vector<RunRecord>&);

// The parts of the page that are no data (cli/report/page/), put into the command when it is built.
struct PagePart {
  const char* name;
  const char* text;
};
extern const std::vector<PagePart> kPageParts;

}  // namespace tessera::cli
