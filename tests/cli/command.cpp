#include "command.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

namespace tessera::tests {
namespace {

constexpr std::chrono::seconds kLimit{120};

}  // namespace

Command::Command() : cache_(TESSERA_TEST_CACHE) {
  std::string name = (fs::temp_directory_path() / "tessera command XXXXXX").string();
  folder_ = mkdtemp(name.data());
}

Command::~Command() { fs::remove_all(folder_); }

void Command::write(const std::string& name, const std::string& text) {
  fs::create_directories(path(name).parent_path());
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Command::read(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Outcome Command::run(const Words& command) {
  Words all = {"/usr/bin/env", "-C", folder_.string(), "-u", "TESSERA_OPTIONS", "XDG_CACHE_HOME=" + cache_.string()};
  // env takes all -u before the settings.
  for (std::size_t i = 0; i + 1 < environment_.size(); ++i) {
    if (environment_[i] == "-u") all.insert(all.begin() + 1, {"-u", environment_[i + 1]});
  }
  for (const std::string& e : environment_) {
    if (e.find('=') != std::string::npos) all.push_back(e);
  }
  all.insert(all.end(), command.begin(), command.end());
  Outcome o = run_child(all, kLimit);
  EXPECT_FALSE(o.timed_out) << shown(command);
  EXPECT_TRUE(o.survivors.empty()) << o.survivors.front() << " is still there after " << shown(command);
  return o;
}

Outcome Command::tessera(const Words& words) {
  Words command = {TESSERA_COMMAND};
  command.insert(command.end(), words.begin(), words.end());
  return run(command);
}

Outcome Command::tessera_signalled(const std::string& signal, const std::string& word, const Words& words,
                                   bool whole_group) {
  // A shell ignores SIGINT in what it starts with &; env gives it back.
  Words command = {"sh",
                   "-c",
                   "signal=$1 word=$2 group=$3; shift 3; : > printed\n"
                   "env --default-signal=INT ${group:+setsid} \"$@\" > printed & pid=$!\n"
                   "until grep -q \"$word\" printed || ! kill -0 $pid; do sleep 0.05; done\n"
                   "kill -s $signal -- $group$pid; wait $pid; code=$?; cat printed; exit $code",
                   "sh",
                   signal,
                   word,
                   whole_group ? "-" : "",
                   TESSERA_COMMAND};
  command.insert(command.end(), words.begin(), words.end());
  return run(command);
}

testing::AssertionResult ended(const Outcome& o, int exit_code, const std::vector<std::string>& parts) {
  std::string wrong;
  if (o.exit_code != exit_code) {
    wrong += "exit code " + std::to_string(o.exit_code) + ", not " + std::to_string(exit_code) + "\n";
  }
  for (const std::string& part : parts) {
    if (o.err.find(part) == std::string::npos) wrong += "stderr lacks: " + part + "\n";
  }
  if (wrong.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << wrong << "stdout:\n" << o.out << "stderr:\n" << o.err;
}

std::string sorted(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& l : lines) all += l + "\n";
  return all;
}

}  // namespace tessera::tests
