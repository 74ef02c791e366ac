#include "cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// When `line` begins with "// key: ", gives what follows.
bool directive(const std::string& line, const std::string& key, std::string& value) {
  const std::string start = "// " + key + ": ";
  if (line.rfind(start, 0) != 0) return false;
  value = line.substr(start.size());
  return true;
}

Case read_case(const fs::path& source) {
  Case c;
  c.name = source.stem().string();
  c.source = source;
  std::istringstream lines(read_file(source));
  for (std::string line, value; std::getline(lines, line);) {
    if (line == "// mpi") c.mpi = true;
    if (line == "// crashes") c.crashes = true;
    if (directive(line, "options", value)) {
      std::istringstream words(value);
      for (std::string word; words >> word;) c.options.push_back(word);
    }
    if (directive(line, "argument", value)) c.arguments.push_back(value);
    if (directive(line, "exit", value)) {  // "1", or "1 [T402]": with this code among the messages
      c.exit_code = std::stoi(value);
      if (value.find('[') != value.npos) c.in_stderr.push_back(value.substr(value.find('[')));
    }
    if (directive(line, "restless", value)) c.restless = std::stoi(value);
    if (directive(line, "stderr", value)) c.in_stderr.push_back(value);
    if (directive(line, "stderr-lines-below", value)) c.stderr_lines_below = std::stoi(value);
  }
  return c;
}

}  // namespace

std::vector<Case> find_cases(const fs::path& folder, bool with_expected) {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".fa") continue;
    fs::path expected = entry.path();
    expected.replace_extension(".expected");
    if (with_expected && !fs::exists(expected)) continue;
    cases.push_back(read_case(entry.path()));
    if (with_expected) cases.back().expected = read_file(expected);
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> command(const Case& c, const std::vector<std::string>& options) {
  const char* other = std::getenv("TESSERA");  // to test an installed command
  std::vector<std::string> words = {other != nullptr ? other : TESSERA_COMMAND, "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), c.options.begin(), c.options.end());
  words.push_back(c.source.string());
  if (!c.arguments.empty()) words.push_back("--");
  words.insert(words.end(), c.arguments.begin(), c.arguments.end());
  return words;
}

}  // namespace tessera::tests
