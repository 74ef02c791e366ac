#include "cli/install_file.hpp"

#include <fstream>
#include <string>

#include "cli/failure.hpp"
#include "files/whole_file.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {

void install_file(const fs::path& from, const fs::path& to, std::string_view option) {
  std::ifstream in(from, std::ios::binary);
  const std::string wrong = files::write_whole(
      to, [&](std::ostream& out) { out << in.rdbuf(); }, fs::status(from).permissions());
  if (!wrong.empty()) throw environment_error(std::string(option) + ": can't write " + to.string() + ": " + wrong);
}

}  // namespace tessera::cli
