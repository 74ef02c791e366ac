#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "runtime/record/policy_log.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// The logs that the arguments name: files, and all logs of directories in the order of their ranks.
std::vector<std::string> logs_of(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(name)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with("rank-") && file.ends_with(".policy.jsonl")) {
        found.push_back(entry.path().string());
      }
    }
    if (found.empty()) {
      throw usage_error(name + " has no logs of policies (rank-0.policy.jsonl, ...); `tessera run " +
                        "--record-policy " + name + "` writes them");
    }
    std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

int run(const std::vector<std::string>& names) {
  bool all_equal = true;
  for (const std::string& file : logs_of(names)) {
    try {
      const runtime::Replay r = runtime::replay(file);
      if (!r.difference.empty()) {
        all_equal = false;
        std::printf("%s\n", r.difference.c_str());
        continue;
      }
      std::printf("%s: %s on rank %d: %lld events, %lld actions, all the same%s\n", file.c_str(), r.policy.c_str(),
                  balancer::index(r.rank), static_cast<long long>(r.steps), static_cast<long long>(r.actions),
                  r.complete ? "" : "; the log ends early: its rank did not come to its end");
    } catch (const runtime::PolicyLogError& e) {
      throw usage_error(e.what());
    }
  }
  return all_equal ? runtime::kExitOk : runtime::kExitProgram;
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("replay", "tell a recorded run's events to the balancer again");
  const auto names = std::make_shared<std::vector<std::string>>();
  sub->add_option("logs", *names, "logs, or the directory of --record-policy")->option_text("DIR|FILE...")->required();
  sub->footer(
      "Each log is told to a new policy object of this tessera, and the answers are compared "
      "exactly.\n"
      "Exit code 0: all the same; 1: one differs, and where is said; 2: a log can't be read.\n\n"
      "  tessera run prog.fa -n 4 -c --record-policy logs\n"
      "  tessera replay logs");
  sub->callback([names, &action] { action = [names](const Arguments&) { return run(*names); }; });
}

}  // namespace tessera::cli
