// The rooms of runtime/ include only what stands above them in the table of docs/architecture.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "root.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> rooms() {
  static const std::regex row(R"(^\| `([a-z]+)` \|.*)");
  std::ifstream in(kRoot / "docs/architecture.md");
  std::vector<std::string> found;
  bool inside = false;
  std::smatch m;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line.find("rooms") != std::string::npos;
    if (inside && std::regex_match(line, m, row)) found.push_back(m[1]);
  }
  return found;
}

// Lines of `text`, a file of the room, that include what stands below it.
std::vector<std::string> upward(const std::vector<std::string>& order, const std::string& room, std::istream& text) {
  static const std::regex include(R"re(^#include "runtime/([a-z]+)/.*)re");
  const auto at = [&](const std::string& r) { return std::find(order.begin(), order.end(), r) - order.begin(); };
  std::vector<std::string> found;
  std::smatch m;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_match(line, m, include) && at(m[1]) > at(room)) found.push_back(line);
  }
  return found;
}

TEST(Arrows, OfTheRoomsPointDown) {
  const std::vector<std::string> order = rooms();
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kRoot / "runtime")) {
    if (entry.is_directory()) folders.insert(entry.path().filename());
  }
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()), folders) << "the table of docs/architecture.md";
  for (const std::string& room : order) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "runtime" / room)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      for (const std::string& line : upward(order, room, in)) ADD_FAILURE() << entry.path().string() << ": " << line;
    }
  }
}

TEST(Arrows, OneUpwardIsFound) {
  std::istringstream text("#include \"runtime/data/table.hpp\"\n#include \"runtime/node/node.hpp\"\n");
  EXPECT_EQ(upward({"data", "work", "node"}, "work", text).size(), 1u);
}

}  // namespace
