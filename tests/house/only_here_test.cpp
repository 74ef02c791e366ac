// What belongs to one processor or to one MPI is named in few files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = TESSERA_SOURCE_DIR;

// The files of the product that have something like it in what is no comment.
std::vector<std::string> files_with(const std::regex& what) {
  std::vector<std::string> found;
  for (const char* folder : {"balancer", "cli", "compiler", "files", "python", "runtime", "stdlib"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (!std::regex_search(line.substr(0, line.find("//")), what)) continue;
        found.push_back(fs::relative(entry.path(), kRoot).string());
        break;
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(OnlyHere, ProcessorsAreNamedInOneFile) {
  EXPECT_EQ(files_with(std::regex("__builtin_ia32|immintrin|__x86_64__|__aarch64__|_mm_[a-z]|rdtsc|\\basm\\b")),
            std::vector<std::string>{"runtime/cores/processor.hpp"});
}

// Parameters, functions and messages that come and go with versions. The command has mpirun's words and texts.
TEST(OnlyHere, OpenMpiIsNamedInOneFileOfTheRuntimeAndTwoOfTheCommand) {
  EXPECT_EQ(files_with(std::regex("OMPI_MCA|opal_|\\bort[ed]|ORTE_|MPIX_|mpi-ext|--oversubscribe|allow-run-as-root")),
            (std::vector<std::string>{"cli/mpirun.cpp", "cli/mpirun_notes.cpp", "runtime/transport/open_mpi.cpp"}));
}

}  // namespace
