#include "cli/install_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cli/failure.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {

void install_file(const fs::path& from, const fs::path& to, std::string_view option) {
  std::string temporary = to.string() + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  std::error_code failed;
  if (fd >= 0) {
    close(fd);
    fs::copy_file(from, temporary, fs::copy_options::overwrite_existing, failed);
    if (!failed) fs::permissions(temporary, fs::status(from).permissions(), failed);
    if (!failed) fs::rename(temporary, to, failed);
    if (!failed) return;
    unlink(temporary.c_str());
  }
  throw usage_error(std::string(option) + ": can't write " + to.string() +
                    (failed ? ": " + failed.message() : ""));
}

}  // namespace tessera::cli
