// Folders that only their user may look into and write to: what is in them is executed or obeyed.
#pragma once

#include <filesystem>
#include <string>

namespace tessera::files {

struct PrivateFolder {
  std::string wrong;      // why there is none, for a person; empty when there is
  bool was_open = false;  // others could write into it up to now: what is in it may be theirs
};

// make_private makes the folder, or takes the one that is there when it is this user's own, and lets nobody else in.
// The folders above it must exist. A link counts when this user made it: in /tmp anybody makes links.
PrivateFolder make_private(const std::filesystem::path& folder);

}  // namespace tessera::files
