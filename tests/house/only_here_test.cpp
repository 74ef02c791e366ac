// What belongs to one processor or to one MPI is named in few files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "root.hpp"

namespace {

namespace fs = std::filesystem;

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

// Parameters and functions that come and go with versions.
TEST(OnlyHere, WhatOnlyOpenMpiHasIsNamedInOneFile) {
  EXPECT_EQ(files_with(std::regex("OMPI_MCA|opal_|odls_|MPIX_|mpi-ext")),
            std::vector<std::string>{"runtime/transport/open_mpi.cpp"});
}

// The command has the words and the notes of mpirun, of version 4 and 5.
TEST(OnlyHere, MpirunsWordsAreTheCommands) {
  EXPECT_EQ(files_with(std::regex("--oversubscribe|allow-run-as-root|\\bORTE|\\borte_")),
            (std::vector<std::string>{"cli/mpirun.cpp", "cli/mpirun_notes.cpp"}));
}

}  // namespace
