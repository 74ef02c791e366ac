// A host file of Open MPI: lines like `h1 slots=4`. Read here to know how many ranks there are and to say so to mpirun
// in words that mean the same to it, also when a host has been lost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::cli {

class HostFile {
 public:
  // Throws Failure (usage) that names the line.
  explicit HostFile(const std::filesystem::path& file);

  // How many ranks there is room for: `slots=N` of each line, 1 where that is missing.
  std::int32_t slots() const;
  // Slots of this host, which is then no longer there; 0: it was not, or there is no other.
  std::int32_t leave_out(const std::string& host);
  // For an mpirun: `h1 slots=4` with all words of the line (where slots= is missing, it takes the host's cores), or
  // `h1:4`.
  enum class Form { slots, colon };
  std::string text(Form form = Form::slots) const;

 private:
  struct Host {
    std::string name;
    std::int32_t slots = 0;
    std::string rest;  // other words of its line
  };
  std::vector<Host> hosts_;
};

}  // namespace tessera::cli
