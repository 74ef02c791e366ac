#include "traces.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "child.hpp"

namespace tessera::tests {

std::string recorded(const Case& c, std::vector<std::string> options, Homes homes) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("tessera-" + std::to_string(getpid()) + ".trace");
  options.insert(options.end(), {"--quiet", "--record", file.string()});
  const std::vector<std::string> words = command(c, options);
  const Outcome run = run_child(words, std::chrono::seconds(90));
  EXPECT_EQ(run.exit_code, 0) << shown(words) << "\n" << run.err;
  std::ifstream in(file);
  EXPECT_TRUE(in) << shown(words) << " leaves no " << file;
  std::string all;
  for (std::string line; std::getline(in, line);) {
    // The graph; not when and where it ran.
    if (line.rfind("run ", 0) == 0) {
      while (std::getline(in, line) && line.rfind("end ", 0) != 0) {}
    }
    std::istringstream words_in(line);
    std::string word;
    for (int column = 0; words_in >> word; ++column) {
      const bool fragment = line.rfind("f ", 0) == 0;
      if (fragment && (column == 5 || (column == 3 && homes == Homes::forgotten))) word = "*";
      if (column == 2 && line.rfind("end ", 0) == 0) word = "*";  // the sum of all
      all += word + " ";
    }
    all += "\n";
  }
  std::filesystem::remove(file);
  return all;
}

}  // namespace tessera::tests
