#include "documents.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

namespace tessera::tests {

std::vector<Case> programs_shown(const std::filesystem::path& document, const std::filesystem::path& folder) {
  std::ifstream in(document);
  if (!in) throw std::runtime_error("cannot read " + document.string());
  std::filesystem::create_directories(folder);
  std::vector<Case> cases;
  std::vector<std::string> arguments;
  std::string block;
  bool inside = false;
  bool is_output = false;
  int number = 0;
  const std::string argument = "<!-- argument: ";
  for (std::string line; std::getline(in, line); ++number) {
    if (line.rfind(argument, 0) == 0)
      arguments.push_back(line.substr(argument.size(), line.find(" -->") - argument.size()));
    if (line.rfind("```", 0) != 0) {
      if (inside) block += line + "\n";
      continue;
    }
    inside = !inside;
    if (inside) {
      is_output = line == "```output";
      block.clear();
      continue;
    }
    if (is_output && !cases.empty()) {
      cases.back().expected = std::exchange(block, {});
      continue;
    }
    if (block.find("sub main(") == std::string::npos) continue;
    Case c;
    c.name = document.stem().string() + "_line_" + std::to_string(number);
    c.source = folder / (c.name + ".fa");
    c.arguments = std::exchange(arguments, {});
    std::ofstream(c.source) << std::exchange(block, {});
    cases.push_back(c);
  }
  return cases;
}

}  // namespace tessera::tests
