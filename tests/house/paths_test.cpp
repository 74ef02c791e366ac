// Files that comments and documentation name exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "root.hpp"

namespace {

namespace fs = std::filesystem;

// Relative to the root, to the file that names it, or to one of the folders whose files name each other so.
bool exists(const std::string& path, const fs::path& named_in) {
  for (const fs::path& from :
       {kRoot, named_in.parent_path(), kRoot / "runtime", kRoot / "runtime" / "abi", kRoot / "balancer",
        kRoot / "compiler", kRoot / "cli", kRoot / "tests", kRoot / "stdlib"}) {
    if (fs::exists(from / path)) return true;
  }
  return false;
}

std::vector<std::string> paths_in(const std::string& text) {
  static const std::regex path(R"((^|[^\w/.<-])((?:[a-z_]+/)+[\w-]+\.(?:hpp|cpp|md|sh|fa))\b)");
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), path); at != std::sregex_iterator(); ++at)
    found.push_back((*at)[2]);
  return found;
}

TEST(Paths, NamedInCommentsAndDocumentationExist) {
  int named = 0;
  for (const char* folder : {"runtime", "balancer", "compiler", "cli", "files", "tests", "docs", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path& file = entry.path();
      const bool code = file.extension() == ".cpp" || file.extension() == ".hpp";
      if (!code && file.extension() != ".md") continue;
      std::ifstream in(file);
      std::string line;
      bool patch = false;  // of what is not in this tree (docs/extending.md)
      for (int number = 1; std::getline(in, line); ++number) {
        if (line.starts_with("```")) patch = line == "```diff";
        if (patch) continue;
        const auto comment = line.find("//");
        if (code && comment == std::string::npos) continue;
        for (const std::string& path : paths_in(code ? line.substr(comment) : line)) {
          if (path.starts_with("cereal/")) continue;  // another library's
          ++named;
          EXPECT_TRUE(exists(path, file)) << file.string() << ":" << number << " names " << path;
        }
      }
    }
  }
  EXPECT_GT(named, 100);
}

// `Class::name` and `kConstant`, in backticks.
std::vector<std::string> names_in(const std::string& text) {
  static const std::regex name(R"(`(?:[A-Z]\w*::)?(k[A-Z]\w*|[A-Z]\w*::[a-z]\w*)`)");
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator(); ++at) {
    const std::string whole = (*at)[1];
    const auto colon = whole.rfind(':');
    found.push_back(colon == std::string::npos ? whole : whole.substr(colon + 1));
  }
  return found;
}

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Names, OfTheSchedulersPageAreInTheCode) {
  std::string code;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "runtime")) {
    if (entry.path().extension() == ".hpp" || entry.path().extension() == ".cpp") code += read(entry.path());
  }
  const std::vector<std::string> names = names_in(read(kRoot / "docs/scheduler.md"));
  EXPECT_GT(names.size(), 30U);
  for (const std::string& name : names) EXPECT_TRUE(std::regex_search(code, std::regex("\\b" + name + "\\b"))) << name;
  EXPECT_EQ(names_in("`Node::no_such_thing`, `Lead::kNone`, `kNone`").size(), 3U);
}

TEST(Paths, OneThatDoesNotExistIsFound) {
  EXPECT_EQ(paths_in("as in data/lifetimes_of_old.cpp").size(), 1u);
  EXPECT_FALSE(exists("data/lifetimes_of_old.cpp", kRoot / "runtime" / "x.cpp"));
  EXPECT_TRUE(exists("data/table.hpp", kRoot / "runtime" / "x.cpp"));
}

}  // namespace
