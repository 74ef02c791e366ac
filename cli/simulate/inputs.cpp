#include "cli/simulate/inputs.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "balancer/simulator/lbaf_file.hpp"
#include "balancer/simulator/lbdump_file.hpp"
#include "cli/failure.hpp"
#include "files/nearest.hpp"
#include "runtime/launch/config_file.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/policy_file.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using sim::kMostRanks;

// Beside the executable when installed, in the source tree otherwise.
fs::path configs_folder() {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const fs::path installed = prefix / "share" / "tessera" / "configs";
  return fs::is_directory(installed, ignored) ? installed : fs::path(TESSERA_BUILD_CONFIGS);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string guess(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string nearest = tessera::nearest(word, known);
  return nearest.empty() ? "; " + otherwise : "; did you mean `" + nearest + "`?";
}

fs::path clusters_folder() { return configs_folder() / "clusters"; }
std::vector<std::string> cluster_names() { return names_in(clusters_folder()); }

sim::ClusterModel find_cluster(const std::string& name, const sim::ClusterChanges& changes) {
  const std::vector<std::string> known = cluster_names();
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".toml";
  try {
    if (file) return sim::load_cluster(name, changes);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return sim::load_cluster((clusters_folder() / (name + ".toml")).string(), changes);
    }
  } catch (const sim::ClusterError& e) {
    throw usage_error(e.what());
  }
  throw usage_error("unknown cluster `" + name + "`" +
                    guess(name, known,
                          "`tessera simulate --list` lists them; a file of your own is "
                          "given as FILE.toml"));
}

Study::Balancer find_balancer(const std::string& name) {
  Study::Balancer found;
  try {
    found.policy = launch::find_policy(name);
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  if (found.policy != nullptr) return found;
  const fs::path folder = configs_folder() / "balancer";
  std::vector<std::string> known = names_in(folder);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    for (const balancer::PolicyInfo& p : balancer::policies()) known.emplace_back(p.name);
    throw usage_error("unknown balancer `" + name + "`" + guess(name, known, "`tessera policies` lists them"));
  }
  try {
    const launch::ConfigFile file = launch::read_config((folder / (name + ".toml")).string());
    found.policy = launch::find_policy(file.balancer.value_or(""));
    found.settings = file.settings;
    found.configuration = name;
    std::string wrong = found.policy == nullptr ? "it names no balancer" : "";
    if (found.policy != nullptr) {
      for (const std::string& each : balancer::check_settings(*found.policy, found.settings)) wrong = each;
    }
    if (!wrong.empty()) throw usage_error(file.path + ": " + wrong);
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  return found;
}

void find_workload(const std::string& asked, Study& study) {
  study.workload = asked;
  std::error_code ignored;
  if (fs::is_regular_file(asked, ignored)) {
    try {
      study.trace = sim::names_lbaf(asked)  ? sim::read_lbaf(asked)
                    : sim::is_lbdump(asked) ? sim::read_lbdump(asked)
                                            : sim::read_trace(asked);
    } catch (const sim::TraceError& e) {
      throw usage_error(e.what());
    }
    return;
  }
  std::vector<std::string> wrong;
  const sim::WorkloadRequest request = sim::parse_workload(asked, wrong);
  study.generator = sim::find_workload(request.name);
  if (study.generator == nullptr) {
    std::vector<std::string> known;
    for (const sim::WorkloadInfo& w : sim::workloads()) known.emplace_back(w.name);
    throw usage_error("unknown workload `" + request.name + "`, and no such trace file" +
                      guess(request.name, known, "`tessera simulate --list` lists them"));
  }
  if (wrong.empty()) wrong = sim::check_workload(*study.generator, request.settings);
  if (!wrong.empty()) throw usage_error("--workload: " + wrong.front());
  study.parameters = request.settings;
}

// `2,4,8`, `2..16`, `2..1024*2` (times two each).
std::vector<std::int32_t> parse_counts(const std::string& text, const std::string& option) {
  const auto wrong = [&](const std::string& part) {
    return usage_error(option + ": `" + part + "` is no number of ranks from 1 to " + std::to_string(kMostRanks) +
                       "; write 8, or 2,4,8, or 2..16, or 2..1024*2");
  };
  const auto number = [&](std::string_view s) {
    std::int32_t n = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
    if (error != std::errc{} || end != s.data() + s.size() || n < 1 || n > kMostRanks) {
      throw wrong(text);
    }
    return n;
  };
  std::vector<std::int32_t> counts;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      counts.push_back(number(part));
      continue;
    }
    const std::size_t star = part.find('*', dots);
    const std::int64_t from = number(part.substr(0, dots));
    const std::int64_t to = number(part.substr(dots + 2, star == std::string::npos ? star : star - dots - 2));
    const std::int64_t factor = star == std::string::npos ? 1 : number(part.substr(star + 1));
    if (star != std::string::npos && factor < 2) throw wrong(part);
    for (std::int64_t n = from; n <= to; n = factor > 1 ? n * factor : n + 1) {
      counts.push_back(static_cast<std::int32_t>(n));
    }
  }
  if (counts.empty()) throw wrong(text);
  return counts;
}

}  // namespace tessera::cli
