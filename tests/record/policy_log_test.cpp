// A log says exactly what happened, whatever policy and message; the replay finds the first
// difference.
#include "runtime/record/policy_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "balancer/random.hpp"
#include "balancer/transcript.hpp"
#include "runtime/comm/fields.hpp"
#include "runtime/record/json_archive.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime {
namespace {

namespace fs = std::filesystem;
using namespace balancer;

class Log : public testing::Test {
 protected:
  Log() { file_ = PolicyLog::file_of(folder_.string(), Rank{1}); }

  balancer::Setup setup() const {
    balancer::Setup s;
    s.rank = Rank{1};
    s.ranks = 4;
    s.seed = 0xFFFFFFFFFFFFFFFFu;
    s.ship_cost = ship_cost_;
    s.powers = {1, 0.1, std::numeric_limits<double>::infinity()};
    s.groups.resize(2);
    s.groups[0].label = "mul \"quoted\" at m.fa:1";
    s.groups[0].bulk = bulk_;
    s.groups[1].range = true;
    s.groups[1].body = {Group{0}};
    s.groups[1].below = below_;
    s.groups[1].profile_variance = 1.0 / 3;
    return s;
  }

  // Feeds `policy` events that a run could have, and logs them.
  void record(const std::string& name, std::uint64_t seed) {
    const balancer::Setup s = setup();
    const auto policy = find_policy(name)->make(s);
    PolicyLog log(file_, "m.fa", name, s);
    Random random(seed);
    Time now = 0;
    for (int i = 0; i < 300; ++i) {
      now += static_cast<Time>(random.below(2'000'000));
      const auto n = static_cast<std::int64_t>(random.below(20));
      const Rank peer{static_cast<std::int32_t>(2 + random.below(2))};
      Event e = LoadChanged{{{Group{0}, n, n * 1000}}, {{Group{0}, 1, 3'000'000 + n, 9e12 + random.unit()}}};
      if (i % 7 == 1) e = LinkMeasured{peer, 10'000 + n, 1e9 * random.unit()};
      if (i % 7 == 2) e = Received{peer, StealRequest{static_cast<std::uint64_t>(i), true}};
      if (i % 7 == 3) e = WentIdle{};
      if (i % 7 == 4) e = WentBusy{};
      if (i % 7 == 5) e = OutsideLoad{random.unit()};
      Actions actions;
      policy->step(now, e, actions);
      log.step(now, e, actions);
    }
    ASSERT_EQ(log.close(), "");
  }

  std::vector<std::string> lines() const {
    std::ifstream in(file_);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void write(const std::vector<std::string>& lines, bool last_ends = true) const {
    std::ofstream out(file_);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out << lines[i] << (last_ends || i + 1 < lines.size() ? "\n" : "");
    }
  }
  std::string complaint() const {
    try {
      replay(file_);
    } catch (const PolicyLogError& e) {
      return e.what();
    }
    return "";
  }

  tests::TemporaryFolder folder_;
  std::string file_;
  balancer::Time ship_cost_ = 0;
  bool bulk_ = false;
  std::vector<Group> below_;
};

TEST_F(Log, EveryPolicyAnswersTheSameAgain) {
  for (const PolicyInfo& p : policies()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      ship_cost_ = seed % 3 == 0 ? 0 : 2'000'000;
      bulk_ = seed % 2 == 0;
      if (seed % 3 == 0) below_ = {Group{0}};
      record(std::string(p.name), seed);
      const Replay r = replay(file_);
      EXPECT_EQ(r.difference, "") << p.name;
      EXPECT_TRUE(r.complete);
      EXPECT_EQ(r.steps, 300);
      EXPECT_EQ(r.policy, p.name);
      EXPECT_EQ(r.rank, Rank{1});
    }
  }
}

template <std::size_t I = 0>
void every_message(std::vector<Message>& all) {
  if constexpr (I < std::variant_size_v<Message>) {
    all.emplace_back(std::in_place_index<I>);
    every_message<I + 1>(all);
  }
}

TEST_F(Log, EveryMessageComesBackAsItWas) {
  std::vector<Message> all = {
      Report{{{Group{1}, 2, 3}}, {{Group{4}, 5, INT64_MAX, 1.0 / 3}}, true, 2, 8, {9, UINT64_MAX}},
      LinkReport{Rank{1}, -15, std::numeric_limits<double>::infinity()},
      Order{12, Rank{3}, {{Group{1}, 2}}},
  };
  every_message(all);
  for (const Message& m : all) {
    Message back = StealWake{};
    JsonReader::read(Json::parse(JsonWriter::text_of(m).dump()), back);
    EXPECT_EQ(back, m) << to_text(m);
  }
}

// Its policies were told of no such cost.
TEST_F(Log, ALogOfAnOlderTesseraIsReplayed) {
  record("steal", 1);
  std::vector<std::string> all = lines();
  Json header = Json::parse(all[0]);
  EXPECT_EQ(header.erase("ship_cost"), 1u);
  for (Json& group : header.at("groups")) EXPECT_EQ(group.erase("bulk") + group.erase("below"), 2u);
  all.resize(2);
  all[0] = header.dump();
  write(all);
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(replay(file_).steps, 1);
}

TEST_F(Log, TheFirstDifferenceIsShown) {
  record("steal", 1);
  std::vector<std::string> all = lines();
  std::size_t changed = 0;
  for (std::size_t i = 200; i < all.size() && changed == 0; ++i) {
    Json j = Json::parse(all[i]);
    if (!j.contains("actions") || j["actions"].empty()) continue;
    j["actions"].erase(0);
    all[i] = j.dump();
    changed = i + 1;
  }
  ASSERT_NE(changed, 0u);
  write(all);
  const Replay r = replay(file_);
  EXPECT_NE(r.difference.find(file_ + ":" + std::to_string(changed) + ":"), std::string::npos) << r.difference;
  EXPECT_EQ(r.steps, static_cast<std::int64_t>(changed) - 2);
}

TEST_F(Log, EvenADifferenceThatReadersDoNotSee) {
  record("steal", 1);
  std::vector<std::string> all = lines();
  for (std::string& line : all) {
    Json j = Json::parse(line);
    if (!j.contains("actions")) continue;
    for (Json& a : j["actions"]) {
      if (a[0] == 4) a[1][4] = a[1][4].get<Time>() + 1;  // Decide: load_from, not always printed
      if (a[0] == 2) a[1][1] = a[1][1].get<Time>() + 1;  // SetTimer: one nanosecond later
    }
    line = j.dump();
  }
  write(all);
  EXPECT_NE(replay(file_).difference, "");
}

TEST_F(Log, ALogThatEndsEarlyIsReplayedAsFarAsItGoes) {
  record("central", 1);
  std::vector<std::string> all = lines();
  all.resize(100);
  all.back().resize(all.back().size() / 2);
  write(all, false);
  const Replay r = replay(file_);
  EXPECT_EQ(r.difference, "");
  EXPECT_EQ(r.steps, 98);
  EXPECT_FALSE(r.complete);
}

TEST_F(Log, WhatIsNoLogIsRefused) {
  EXPECT_NE(complaint().find("can't be read"), std::string::npos);
  write({"hello"});
  EXPECT_NE(complaint().find("no log of a policy"), std::string::npos);
  write({"{\"format\": \"tessera-policy-9\"}"});
  EXPECT_NE(complaint().find("tessera-policy-9"), std::string::npos);
  record("steal", 1);
  std::vector<std::string> all = lines();
  const std::vector<std::string> good = all;
  all.front().replace(all.front().find("\"steal\""), 7, "\"steel\"");
  write(all);
  EXPECT_NE(complaint().find("no balancer `steel`"), std::string::npos);
  all = good;
  all.erase(all.begin() + 50);
  write(all);
  // Without one event the policy answers otherwise, or the count at the end is wrong.
  EXPECT_TRUE(!complaint().empty() || !replay(file_).difference.empty());
  all = good;
  all[10] = "{}";
  write(all);
  EXPECT_NE(complaint().find(":11: this is not a line"), std::string::npos) << complaint();
}

}  // namespace
}  // namespace tessera::runtime
