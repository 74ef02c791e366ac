// The machine is pure: no clock, no threads, no transport, no randomness, no other folder of the runtime. The build
// links nothing; this keeps the headers out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

const std::regex kForbidden(
    "unordered_|random|_clock|std::cout|std::cerr|printf|thread_local|"
    "#include\\s*[<\"](thread|mutex|atomic|condition_variable|chrono|random|iostream|fstream|mpi|fmt/|sys/"
    "|unistd|pthread|"
    "runtime/(?!protocol/)|compiler/|cli/)");

TEST(Purity, NoForbiddenWordInTheMachine) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_SOURCE_DIR "/runtime/protocol")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      EXPECT_FALSE(std::regex_search(line.substr(0, line.find("//")), kForbidden))
          << entry.path().string() << ":" << number << ": " << line;
    }
  }
  EXPECT_GE(files, 7);
}

TEST(Purity, TheForbiddenWordsAreRecognised) {
  for (const char* line : {"#include <thread>", "#include \"runtime/node/node.hpp\"", "std::unordered_map<int, int> m;",
                           "#include <chrono>"}) {
    EXPECT_TRUE(std::regex_search(line, kForbidden)) << line;
  }
  EXPECT_FALSE(std::regex_search("#include \"runtime/protocol/entry.hpp\"", kForbidden));
}

}  // namespace
