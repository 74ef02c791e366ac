#include "cli/tools.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/failure.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {

const char* tool_about(const std::string& name) {
  for (const Tool& t : kTools) {
    if (name == t.name) return t.about;
  }
  throw std::logic_error("no tool is called " + name);
}

void become_tools(const std::vector<std::string>& words) {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const std::string program = (prefix / "libexec" / "tessera-tools").string();
  std::vector<char*> argv = {const_cast<char*>("tessera")};
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  if (errno != ENOENT) throw environment_error("can't start " + program + ": " + std::strerror(errno));
  throw environment_error("`tessera " + words.front() + "` is part of " + program +
                          ", which is not there: `./dev tools` in Tessera's sources builds it");
}

}  // namespace tessera::cli
