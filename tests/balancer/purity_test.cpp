// Policies are pure: no clock, no threads, no MPI, no randomness of their own, no unordered
// containers. The build keeps the libraries out; this keeps the headers out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace {

namespace fs = std::filesystem;

const std::regex kForbidden(
    "unordered_(map|set|multi)|random_device|std::rand\\b|steady_clock|system_clock|"
    "high_resolution_clock|MPI_|std::cout|std::cerr|\\bprintf\\(|"
    "#include\\s*[<\"](thread|mutex|shared_mutex|atomic|condition_variable|future|chrono|random|"
    "ctime|time\\.h|iostream|fstream|filesystem|mpi\\.h|tbb/|oneapi/|cereal/|spdlog/|fmt/|toml|"
    "runtime/|compiler/|cli/|sys/|unistd|pthread)");

bool is_pure(const fs::path& file) {
  const std::string name = file.filename().string();
  const bool source = file.extension() == ".cpp" || file.extension() == ".hpp";
  // Profiles, clusters and traces are files: other libraries.
  const bool reads_files = name.rfind("profile", 0) == 0 || name.ends_with("_file.cpp");
  return source && !reads_files;
}

TEST(Purity, NoForbiddenWordInThePolicies) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(TESSERA_SOURCE_DIR "/balancer")) {
    if (!entry.is_regular_file() || !is_pure(entry.path())) continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, kForbidden)) << entry.path().string() << ":" << number << ": " << line;
    }
  }
  EXPECT_GT(files, 20);
}

// The check itself can be red.
TEST(Purity, TheForbiddenWordsAreRecognised) {
  for (const char* line : {"#include <thread>", "#include <chrono>", "  std::unordered_map<int, int> m;",
                           "#include \"runtime/run.hpp\"", "#include <mpi.h>", "std::random_device d;"}) {
    EXPECT_TRUE(std::regex_search(line, kForbidden)) << line;
  }
  EXPECT_FALSE(std::regex_search("#include <map>", kForbidden));
}

}  // namespace
