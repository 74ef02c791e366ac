// Scripted histories: a policy is fed events one by one; events and answers become a transcript
// that is compared with a file in goldens/. TESSERA_UPDATE_GOLDENS=1 writes the files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "balancer/policy.hpp"
#include "balancer/transcript.hpp"
#include "times.hpp"

namespace tessera::balancer {

class Script {
 public:
  Script(const std::string& balancer, Setup setup) : policy_(find_policy(balancer)->make(setup)) {}

  // at feeds one event and returns what the policy wants done.
  Actions at(Time now, const Event& event) {
    Actions actions;
    policy_->step(now, event, actions);
    text_ << seconds_text(now) << " " << to_text(event) << "\n";
    for (const Action& a : actions) text_ << "    " << to_text(a) << "\n";
    return actions;
  }
  void note(const std::string& line) { text_ << "# " << line << "\n"; }

  void expect_golden(const std::string& name) const {
    const std::string path = std::string(TESSERA_SOURCE_DIR "/tests/balancer/goldens/") + name + ".txt";
    if (const char* update = std::getenv("TESSERA_UPDATE_GOLDENS"); update != nullptr && *update == '1') {
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      std::ofstream(path) << text_.str();
      return;
    }
    std::ifstream in(path);
    std::ostringstream golden;
    golden << in.rdbuf();
    EXPECT_EQ(text_.str(), golden.str()) << "TESSERA_UPDATE_GOLDENS=1 rewrites " << path;
  }

 private:
  std::unique_ptr<Policy> policy_;
  std::ostringstream text_;
};

// all picks the actions of one kind.
template <class T>
std::vector<T> all(const Actions& actions) {
  std::vector<T> found;
  for (const Action& a : actions) {
    if (const T* t = std::get_if<T>(&a)) found.push_back(*t);
  }
  return found;
}

// sent picks the messages of one kind.
template <class T>
std::vector<std::pair<Rank, T>> sent(const Actions& actions) {
  std::vector<std::pair<Rank, T>> found;
  for (const Send& s : all<Send>(actions)) {
    if (const T* t = std::get_if<T>(&s.message)) found.emplace_back(s.to, *t);
  }
  return found;
}

inline GroupDone done(std::uint32_t group, std::int64_t count, Time each) {
  return {Group{group}, count, count * each,
          static_cast<double>(count) * static_cast<double>(each) * static_cast<double>(each)};
}

inline Setup setup(std::int32_t rank, std::int32_t ranks, std::size_t groups, Settings settings = {}) {
  Setup s;
  s.rank = Rank{rank};
  s.ranks = ranks;
  s.groups.resize(groups);
  for (std::size_t g = 0; g < groups; ++g) s.groups[g].label = "g" + std::to_string(g);
  s.settings = std::move(settings);
  return s;
}

inline Received from(std::int32_t rank, Message m) { return {Rank{rank}, std::move(m)}; }
inline LinkMeasured link() { return {Rank{1}, 50'000, 1e9}; }
inline LoadChanged ready(std::int64_t count, std::vector<GroupDone> finished = {}, std::int64_t bytes = 0) {
  return {{{Group{0}, count, bytes}}, std::move(finished)};
}
inline Report report(std::vector<GroupLoad> ready, std::vector<GroupDone> finished = {}, bool idle = false) {
  Report r;
  r.ready = std::move(ready);
  r.finished = std::move(finished);
  r.idle = idle;
  return r;
}

inline std::int64_t fragments(const Ship& s) {
  std::int64_t n = 0;
  for (const GroupCount& f : s.fragments) n += f.count;
  return n;
}

}  // namespace tessera::balancer
