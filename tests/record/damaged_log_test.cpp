// Whatever is in a log, the replay ends with an answer: the policies behind it trust their host.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "balancer/random.hpp"
#include "runtime/record/json_archive.hpp"
#include "runtime/record/policy_log.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime {
namespace {

namespace fs = std::filesystem;
using namespace balancer;

constexpr Time kStep = 200'000;

// Four ranks that tell their policies what a host would, and log it: 60 fragments on rank 0, one of which each rank
// runs per step; the last rank leaves and comes back.
class Cluster {
 public:
  Cluster(const PolicyInfo& info, const fs::path& folder) : executing_(executing_ranks(info, {}, kRanks)) {
    for (std::int32_t r = 0; r < kRanks; ++r) {
      Setup s;
      s.rank = Rank{r};
      s.ranks = kRanks;
      s.workers = r < executing_ ? 1 : 0;
      s.ship_cost = 600;
      s.groups.resize(2);
      s.groups[1].range = true;
      s.groups[1].body = {Group{0}};
      hosts_.push_back({info.make(s), PolicyLog(PolicyLog::file_of(folder.string(), s.rank), "p.fa", info.name, s)});
    }
    hosts_[0].ready = {50, 10};
  }

  void run(int steps) {
    for (std::int32_t r = 0; r < executing_; ++r) tell(r, LinkMeasured{Rank{(r + 1) % executing_}, 20'000, 1e9});
    for (int i = 0; i < steps; ++i, now_ += kStep) {
      for (std::int32_t r = 0; r < kRanks; ++r) {
        if (i == steps / 3) tell(r, RankLeaving{Rank{executing_ - 1}});
        if (i == steps / 2) tell(r, RankJoined{Rank{executing_ - 1}});
        if (i == steps / 4) tell(r, OutsideLoad{0.5});
        pass(r);
        if (r < executing_) work(r);
      }
    }
    for (Host& h : hosts_) ASSERT_EQ(h.log.close(), "");
  }

 private:
  static constexpr std::int32_t kRanks = 4;
  struct Host {
    std::unique_ptr<Policy> policy;
    PolicyLog log;
    std::vector<std::int64_t> ready = {0, 0};
    std::map<std::uint32_t, Time> timers{};
    std::deque<Event> inbox{};
    bool idle = true;
  };
  Host& host(std::int32_t r) { return hosts_[static_cast<std::size_t>(r)]; }
  Host& host(Rank r) { return host(index(r)); }

  // What has come, and timers that are due.
  void pass(std::int32_t r) {
    Host& h = host(r);
    for (std::size_t n = h.inbox.size(); n > 0; --n) {
      const Event e = h.inbox.front();
      h.inbox.pop_front();
      if (const auto* a = std::get_if<Arrived>(&e)) {
        for (const GroupCount& f : a->fragments) h.ready[index(f.group)] += f.count;
      }
      tell(r, e);
    }
    const std::map<std::uint32_t, Time> timers = h.timers;
    for (const auto& [timer, at] : timers) {
      if (at > now_ || h.timers.erase(timer) == 0) continue;
      tell(r, TimerFired{timer});
    }
  }
  void work(std::int32_t r) {
    Host& h = host(r);
    LoadChanged load;
    for (std::uint32_t g : {1u, 0u}) {
      if (h.ready[g] == 0 || !load.finished.empty()) continue;
      --h.ready[g];
      load.finished.push_back({Group{g}, 1, kStep, 4e10, 8});
    }
    for (std::uint32_t g : {0u, 1u}) load.ready.push_back({Group{g}, h.ready[g], 100 * h.ready[g]});
    const bool idle = load.finished.empty();
    if (h.idle && !idle) tell(r, WentBusy{});
    tell(r, load);
    if (!h.idle && idle) tell(r, WentIdle{});
    h.idle = idle;
  }
  void tell(std::int32_t r, const Event& e) {
    Actions actions;
    host(r).policy->step(now_, e, actions);
    host(r).log.step(now_, e, actions);
    for (const Action& a : actions) {
      if (const auto* send = std::get_if<Send>(&a)) host(send->to).inbox.push_back(Received{Rank{r}, send->message});
      if (const auto* set = std::get_if<SetTimer>(&a)) host(r).timers[set->timer] = set->at;
      if (const auto* cancel = std::get_if<CancelTimer>(&a)) host(r).timers.erase(cancel->timer);
      if (const auto* ship = std::get_if<Ship>(&a)) carry_out(r, *ship);
    }
  }
  void carry_out(std::int32_t r, const Ship& ship) {
    Shipped done{ship.ticket, ship.to, {}, 0};
    for (const GroupCount& f : ship.fragments) {
      std::int64_t& here = host(r).ready[index(f.group)];
      const std::int64_t n = std::min(here, f.count);
      here -= n;
      if (n > 0) done.fragments.push_back({f.group, n});
    }
    if (!done.fragments.empty()) host(ship.to).inbox.push_back(Arrived{Rank{r}, done.fragments, ship.ticket});
    host(r).inbox.push_front(done);
  }

  std::int32_t executing_;
  std::vector<Host> hosts_;
  Time now_ = 0;
};

class DamagedLog : public testing::Test {
 protected:
  std::string log_of(const PolicyInfo& info, std::int32_t rank) {
    const std::string file = PolicyLog::file_of(folder_.string(), Rank{rank});
    if (rank == 0) Cluster(info, folder_).run(100);
    const Replay r = replay(file);
    EXPECT_EQ(r.difference, "") << info.name;
    EXPECT_TRUE(r.complete) << info.name;
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  // What the replay says of a log; empty: it read all of it.
  std::string complaint(const std::string& log) {
    const std::string file = (folder_ / "damaged.policy.jsonl").string();
    std::ofstream(file) << log;
    try {
      replay(file);
    } catch (const PolicyLogError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(file + ":", 0), 0u) << e.what();
      return e.what();
    }
    return "";
  }

  tests::TemporaryFolder folder_;
};

// One number of a log becomes another one, or is gone.
TEST_F(DamagedLog, IsAnswered) {
  const std::regex number("-?[0-9]+(\\.[0-9]+)?");
  for (const PolicyInfo& info : policies()) {
    Random random(7);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const std::string log = log_of(info, rank);
      const std::vector<std::smatch> all{std::sregex_iterator(log.begin(), log.end(), number), {}};
      ASSERT_GT(all.size(), 100u);
      for (int i = 0; i < 50; ++i) {
        constexpr const char* kValues[] = {"-1",
                                           "0",
                                           "4",
                                           "7",
                                           "99999999",
                                           "4294967295",
                                           "2147483647",
                                           "\"nan\"",
                                           "1e308",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "[]",
                                           "true",
                                           ""};
        const std::smatch& hit = all[random.below(all.size())];
        const char* value = kValues[random.below(std::size(kValues))];
        SCOPED_TRACE(std::string(info.name) + " rank " + std::to_string(rank) + " at " +
                     std::to_string(hit.position()) + ": " + value);
        std::string damaged = log;
        damaged.replace(static_cast<std::size_t>(hit.position()), static_cast<std::size_t>(hit.length()), value);
        complaint(damaged);
      }
    }
  }
}

TEST_F(DamagedLog, IsRefusedWithItsLine) {
  const std::string log = log_of(*find_policy("steal"), 0);
  const std::string header = log.substr(0, log.find('\n') + 1);
  const auto told = [&](const std::string& event) {
    return complaint(header + "{\"at\":5,\"event\":" + event + ",\"actions\":[]}\n");
  };
  EXPECT_EQ(told("[1,[]]"), "");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"[0,[[[4294967295,1,0]],[]]]", "a group is 4294967295"},
      {"[0,[[[2,1,0]],[]]]", "a group is 2"},
      {"[0,[[[-1,1,0]],[]]]", "out of range: -1"},
      {"[0,[[[0,-1,0]],[]]]", "a number of fragments is -1"},
      {"[0,[[[0,9223372036854775807,0]],[]]]", "a number of fragments is 9223372036854775807"},
      {"[8,[4]]", "a rank is 4"},
      {"[8,[-1]]", "a rank is -1"},
      {"[3,[7,[6,[1]]]]", "a rank is 7"},
      {"[3,[1,[5,[1,true,5,9]]]]", "a kind of offspring is 9"},
      {"[5,[3,1,[],0]]", "nothing was to be shipped with ticket 3 to rank 1"},
      {"[6,[1]]", "timer 1 was not set"},
  };
  for (const auto& [event, why] : wrong) {
    const std::string text = told(event);
    EXPECT_NE(text.find(".jsonl:2: "), std::string::npos) << event << ": " << text;
    EXPECT_NE(text.find(why), std::string::npos) << event << ": " << text;
  }
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"ranks", "0"}, {"ranks", "2147483647"}, {"rank", "4"}}) {
    Json j = Json::parse(header);
    j[key] = Json::parse(value);
    const std::string text = complaint(j.dump() + "\n");
    EXPECT_NE(text.find(".jsonl:1: "), std::string::npos) << key << ": " << text;
  }
}

}  // namespace
}  // namespace tessera::runtime
