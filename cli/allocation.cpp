#include "cli/allocation.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "cli/failure.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// A number above 0, and nothing behind it.
std::optional<std::int32_t> number(const std::string& text) {
  std::int32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1) return std::nullopt;
  return n;
}

std::optional<std::int32_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : number(text);
}

std::ifstream opened(const fs::path& file, const std::string& option) {
  std::ifstream in(file);
  if (!in || fs::is_directory(file)) throw usage_error(option + ": can't read " + file.string());
  return in;
}

std::int32_t slots_in(const std::string& line, const std::string& place) {
  std::istringstream words(line);
  std::int32_t slots = 1;
  for (std::string word; words >> word;) {
    if (word.rfind("slots=", 0) != 0) continue;
    const auto n = number(word.substr(6));
    if (!n) throw usage_error(place + ": `" + word + "` is no number of ranks; write `slots=4`");
    slots = *n;
  }
  return slots;
}

}  // namespace

std::int32_t slots_of(const fs::path& hostfile) {
  std::ifstream in = opened(hostfile, "--hostfile");
  std::int32_t all = 0;
  int at = 0;
  for (std::string line; std::getline(in, line);) {
    ++at;
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    all += slots_in(line, hostfile.string() + ":" + std::to_string(at));
  }
  if (all == 0) throw usage_error("--hostfile: " + hostfile.string() + " has no hosts; write lines like `h1 slots=4`");
  return all;
}

Allocation allocation(const fs::path& hostfile) {
  if (!hostfile.empty()) return {slots_of(hostfile), hostfile.string()};
  if (const auto tasks = number_in("SLURM_NTASKS")) return {*tasks, "SLURM_NTASKS"};
  if (const auto nodes = number_in("SLURM_JOB_NUM_NODES")) return {*nodes, "SLURM_JOB_NUM_NODES"};
  if (const char* file = std::getenv("PBS_NODEFILE")) {
    std::ifstream in = opened(file, "-n auto: PBS_NODEFILE");
    std::int32_t lines = 0;
    for (std::string line; std::getline(in, line);) lines += line.empty() ? 0 : 1;
    if (lines > 0) return {lines, "PBS_NODEFILE"};
  }
  return {};
}

}  // namespace tessera::cli
