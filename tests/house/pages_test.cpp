// Links of the documentation lead somewhere, and long pages have a list of their contents.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "root.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int kLong = 300;   // lines of a page that needs a list
constexpr int kHead = 60;    // its list stands in the first lines
constexpr int kEntries = 3;  // links to places of the page

struct Page {
  int lines = 0;
  int entries = 0;  // links to places of the page in its head
  std::set<std::string> places;
  std::vector<std::pair<int, std::string>> links;  // of which line
};

// The name of a heading as GitHub makes it: words, and - for each space.
std::string place(const std::string& heading) {
  std::string name;
  for (const char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (c == ' ') name += '-';
    if (std::isalnum(u) != 0 || c == '-' || c == '_' || u >= 0x80) name += static_cast<char>(std::tolower(u));
  }
  return name;
}

Page read(std::istream& in) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  Page page;
  bool code = false;
  std::map<std::string, int> times;
  for (std::string line; std::getline(in, line);) {
    ++page.lines;
    if (line.starts_with("```")) code = !code;
    if (code || line.starts_with("    ")) continue;
    if (line.starts_with("#")) {
      const std::string name = place(line.substr(line.find_first_not_of("# ")));
      const int before = times[name]++;
      page.places.insert(before == 0 ? name : name + "-" + std::to_string(before));
    }
    for (auto at = std::sregex_iterator(line.begin(), line.end(), link); at != std::sregex_iterator(); ++at) {
      const std::string to = (*at)[1];
      page.links.emplace_back(page.lines, to);
      if (to.starts_with("#") && page.lines <= kHead) ++page.entries;
    }
  }
  return page;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> all = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"};
  for (const char* folder : {"docs", "examples", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") all.push_back(fs::relative(entry.path(), kRoot));
    }
  }
  return all;
}

Page read_file(const fs::path& path) {
  std::ifstream in(kRoot / path);
  return read(in);
}

// What is wrong with a link of a page; empty: nothing.
std::string wrong(const fs::path& from, const Page& page, const std::string& link) {
  if (link.find("://") != link.npos) return {};
  const auto hash = link.find('#');
  const fs::path to = (from.parent_path() / link.substr(0, hash)).lexically_normal();
  if (hash != 0 && !fs::exists(kRoot / to)) return "there is no " + to.string();
  if (hash == link.npos) return {};
  const std::string name = link.substr(hash + 1);
  const Page other = hash == 0 ? page : read_file(to);
  return other.places.contains(name) ? "" : (hash == 0 ? from : to).string() + " has no " + name;
}

TEST(Pages, LinksLeadSomewhere) {
  int links = 0;
  for (const fs::path& path : pages()) {
    const Page page = read_file(path);
    for (const auto& [line, link] : page.links) {
      ++links;
      EXPECT_EQ(wrong(path, page, link), "") << path.string() << ":" << line;
    }
  }
  EXPECT_GT(links, 150);
}

TEST(Pages, LongOnesHaveAListOfTheirContents) {
  for (const fs::path& path : pages()) {
    const Page page = read_file(path);
    EXPECT_TRUE(page.lines <= kLong || page.entries >= kEntries) << path.string() << ", " << page.lines << " lines";
  }
}

TEST(Pages, WhatIsWrongIsFound) {
  std::istringstream text(
      "# Of `this` and that\n[a](#of-this-and-that) [b](#of-that)\n```\n[c](gone.md)\n```\n[d](gone.md)\n");
  const Page page = read(text);
  ASSERT_EQ(page.links.size(), 3U);
  EXPECT_EQ(wrong("docs/x.md", page, page.links[0].second), "");
  EXPECT_EQ(wrong("docs/x.md", page, page.links[1].second), "docs/x.md has no of-that");
  EXPECT_EQ(wrong("docs/x.md", page, page.links[2].second), "there is no docs/gone.md");
  EXPECT_EQ(wrong("docs/library.md", page, "errors.md#what-is-nowhere"), "docs/errors.md has no what-is-nowhere");
}

}  // namespace
