#include "cli/output_file.hpp"

#include <cstdio>

#include "cli/failure.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"

namespace tessera::cli {

void check_output(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  try {
    launch::check_writable(path, option);
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
}

void write_output(const std::string& option, const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const std::string wrong = files::write_whole(path, text);
  if (!wrong.empty()) throw environment_error(option + ": can't write " + path + ": " + wrong);
}

}  // namespace tessera::cli
