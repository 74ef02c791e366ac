// The complete programs shown in Markdown documents, so that what a reader copies works.
#pragma once

#include <filesystem>
#include <vector>

#include "cases.hpp"

namespace tessera::tests {

// programs_shown writes each fenced block of `document` that holds a `sub main` to a file of its own
// in `folder` (made if missing) and gives the cases. A block marked `output` behind it is what it
// prints, in some order. The comment `<!-- argument: text -->` before a
// block is a program argument of it.
std::vector<Case> programs_shown(const std::filesystem::path& document, const std::filesystem::path& folder);

}  // namespace tessera::tests
