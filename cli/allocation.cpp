#include "cli/allocation.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "cli/failure.hpp"

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

}  // namespace

Allocation allocation() {
  if (const auto tasks = number_in("SLURM_NTASKS")) return {*tasks, "SLURM_NTASKS"};
  if (const auto nodes = number_in("SLURM_JOB_NUM_NODES")) return {*nodes, "SLURM_JOB_NUM_NODES"};
  if (const char* file = std::getenv("PBS_NODEFILE")) {
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file))
      throw usage_error(std::string("-n auto: PBS_NODEFILE: can't read ") + file);
    std::int32_t lines = 0;
    for (std::string line; std::getline(in, line);) lines += line.empty() ? 0 : 1;
    if (lines > 0) return {lines, "PBS_NODEFILE"};
  }
  return {};
}

}  // namespace tessera::cli
