// What can be known to fail before a run starts: policies, ranks, files.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/policy_file.hpp"

namespace tessera::launch {

std::string policy_of(const runtime::RunOptions& options, std::int32_t ranks) {
  if (!options.balancer.empty()) return options.balancer;
  return std::string(balancer::usual_policy(ranks));
}

void check_ranks(const runtime::RunOptions& options, std::int32_t ranks) {
  const std::int32_t last = ranks + options.spares - 1;
  for (const runtime::MemberPlan& p : options.member_plan) {
    const std::int32_t rank = balancer::index(p.rank);
    if (rank <= last) continue;
    throw OptionsError(std::string(p.joins ? "--join" : "--leave") + ": there is no rank " + std::to_string(rank) +
                       ": this run has " + (last == 0 ? "rank 0 only" : "ranks 0 to " + std::to_string(last)));
  }
  const std::string name = policy_of(options, ranks);
  const balancer::PolicyInfo* policy = find_policy(name);
  if (policy == nullptr) return;
  if (balancer::executing_ranks(*policy, options.settings, ranks) > 0) return;
  throw OptionsError("the balancer `" + name + "` keeps the last rank as its coordinator, which runs " +
                     "no fragments: it needs at least 2 ranks, and there is 1. Give it more " +
                     "(-n 4), or run without it (--balancer none)");
}

void check_given(const CLI::App& app) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_name() == "--cxxflags" || o->get_name() == "--ldflags") continue;
    const std::vector<std::string>& given = o->results();
    if (std::find(given.begin(), given.end(), "") == given.end()) continue;
    throw CLI::ValidationError(o->get_name() + ": what is given is empty; a variable of the shell that is not set?");
  }
}

namespace {

[[noreturn]] void cannot_write(const std::filesystem::path& file, std::string_view what, const std::string& why) {
  throw OptionsError(std::string(what) + ": can't write " + file.string() + ": " + why);
}

}  // namespace

void check_writable(const std::filesystem::path& file, std::string_view what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) cannot_write(file, what, "it is a directory");
  // Who reads a pipe would take a try for its end.
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored)) {
    if (access(file.c_str(), W_OK) != 0) cannot_write(file, what, std::strerror(errno));
    return;
  }
  if (std::filesystem::exists(file, ignored)) {
    const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) cannot_write(file, what, std::strerror(errno));
    close(fd);
    return;
  }
  const std::filesystem::path made = files::target(file);
  const std::filesystem::path parent = made.has_parent_path() ? made.parent_path() : ".";
  if (!std::filesystem::is_directory(parent, ignored)) {
    cannot_write(file, what, "there is no directory " + parent.string());
  }
  // Only trying tells: permissions say nothing to root, or about a full or read-only file system.
  std::string probe = (parent / ".tessera-probe-XXXXXX").string();
  const int fd = mkstemp(probe.data());
  if (fd < 0) cannot_write(file, what, std::strerror(errno));
  close(fd);
  unlink(probe.c_str());
}

void check_directory(const std::filesystem::path& directory, std::string_view what) {
  std::error_code error;
  if (std::filesystem::exists(directory, error) && !std::filesystem::is_directory(directory, error)) {
    cannot_write(directory, what, "it is not a directory");
  }
  std::filesystem::create_directory(directory, error);
  if (error) cannot_write(directory, what, error.message());
  check_writable(directory / "rank-0.policy.jsonl", what);
}

}  // namespace tessera::launch
