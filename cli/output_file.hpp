// Files that a command is asked to write.
#pragma once

#include <string>

namespace tessera::cli {

// Can the file be written? Leaves nothing behind; none and - can.
void check_output(const std::string& option, const std::string& path);
void write_output(const std::string& option, const std::string& path, const std::string& text);

}  // namespace tessera::cli
