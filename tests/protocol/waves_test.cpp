// Waves against models. One is small, and walked through in all orders; machines that are broken are found out there.
// The other is larger: ranks that send each other random messages until they run out, with
// deliveries delayed at random and answers interleaved with them. The verdict "quiet" must come,
// and never while a message is under way or a rank is active.
#include "runtime/protocol/waves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tessera::protocol {

using WavesAnswer = std::function<Waves::Verdict(Waves&, std::uint64_t, Waves::Answer)>;
struct BrokenWaves {
  std::string name;
  WavesAnswer answer;
};
void PrintTo(const BrokenWaves& b, std::ostream* out) { *out << b.name; }

namespace {

struct ModelRank {
  bool active = false;
  std::uint64_t sent = 0, received = 0;
};

class Model {
 public:
  Model(int ranks, unsigned seed) : ranks_(ranks), random_(seed), state_(ranks), waves_(ranks) {
    state_[0].active = true;
    budget_ = 50 + static_cast<int>(random_() % 100);
  }
  // One random step of the world; true when the machine said quiet.
  bool step() {
    switch (random_() % 4) {
      case 0:
        act();
        return false;
      case 1:
        deliver();
        return false;
      case 2:
        if (!waves_.running) {
          number_ = waves_.begin();
          asked_.clear();
          for (int r = 0; r < ranks_; ++r) asked_.push_back(r);
          std::shuffle(asked_.begin(), asked_.end(), random_);
        }
        return false;
      default:
        return answer();
    }
  }
  bool really_quiet() const {
    for (const ModelRank& r : state_) {
      if (r.active) return false;
    }
    return flying_.empty();
  }

 private:
  void act() {
    const auto r = random_() % static_cast<unsigned>(ranks_);
    if (!state_[r].active) return;
    if (budget_ > 0 && random_() % 3 != 0) {
      --budget_;
      ++state_[r].sent;
      flying_.push_back(random_() % static_cast<unsigned>(ranks_));
    } else {
      state_[r].active = false;
    }
  }
  void deliver() {
    if (flying_.empty()) return;
    const std::size_t at = random_() % flying_.size();
    const auto to = flying_[at];
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(at));
    state_[to].active = true;
    ++state_[to].received;
  }
  bool answer() {
    if (asked_.empty()) return false;
    const ModelRank& r = state_[static_cast<std::size_t>(asked_.back())];
    asked_.pop_back();
    return waves_.answer(number_, {!r.active, r.sent, r.received}) == Waves::Verdict::quiet;
  }

  int ranks_;
  std::mt19937 random_;
  std::vector<ModelRank> state_;
  std::deque<unsigned long> flying_;
  int budget_ = 0;
  Waves waves_;
  std::uint64_t number_ = 0;
  std::vector<int> asked_;
};

TEST(Waves, AreNeverEarlyAndAlwaysCome) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Model model(1 + static_cast<int>(seed % 7), seed);
    bool quiet = false;
    for (int i = 0; i < 200000 && !quiet; ++i) quiet = model.step();
    ASSERT_TRUE(quiet) << "never quiet, seed " << seed;
    ASSERT_TRUE(model.really_quiet()) << "too early, seed " << seed;
  }
}

// Ranks that send each other so many messages in all. Messages overtake each other. Once in a run one rests instead of
// becoming idle, where `rests`: it goes on when it is called, or by itself.
class WavesWorld {
 public:
  static constexpr int kRanks = 3;

  WavesWorld(int budget, bool rests, const WavesAnswer& answer) : budget_(budget), answer_(&answer), may_rest_(rests) {}

  template <class F>
  void each_next(F f) const {
    const auto with = [&](auto change) {
      WavesWorld then(*this);
      change(then);
      f(then);
    };
    if (quiet_) return;
    for (std::size_t r = 0; r < kRanks; ++r) {
      for (std::size_t to = 0; to < kRanks && active_[r] && budget_ > 0; ++to) {
        if (to != r) with([=](WavesWorld& w) { --w.budget_, ++w.sent_[r], ++w.flying_[to]; });
      }
      if (active_[r]) with([=](WavesWorld& w) { w.active_[r] = false; });
      if (active_[r] && may_rest_) with([=](WavesWorld& w) { w.active_[r] = w.may_rest_ = false, w.rests_[r] = true; });
      if (rests_[r]) with([=](WavesWorld& w) { w.rests_[r] = false, w.active_[r] = true; });
      if (flying_[r] > 0) with([=](WavesWorld& w) { --w.flying_[r], ++w.received_[r], w.active_[r] = true; });
      if (waves_.running && !answered_[r]) with([=](WavesWorld& w) { w.answer(r); });
    }
    if (!waves_.running) with([=](WavesWorld& w) { w.waves_.begin(), w.answered_ = {}; });
  }
  bool too_early() const { return quiet_ && !over(); }
  // Nothing happens any more, and some waves more do not tell.
  bool too_late() const {
    if (quiet_ || !over()) return false;
    WavesWorld then(*this);
    for (int wave = 0; wave < 3 && !then.quiet_; ++wave) then.whole_wave();
    return !then.quiet_;
  }
  // Nothing goes on but who rests, and some waves more do not call it.
  bool never_called() const {
    if (quiet_ || over() || !over(true)) return false;
    WavesWorld then(*this);
    for (int wave = 0; wave < 3 && !then.called_; ++wave) then.whole_wave();
    return !then.called_;
  }
  std::string bytes() const {
    std::string b;
    const auto put = [&b](auto x) { b += static_cast<char>(x); };
    for (std::size_t r = 0; r < kRanks; ++r)
      put(active_[r] * 4 + rests_[r] * 2 + answered_[r]), put(sent_[r]), put(received_[r]), put(flying_[r]);
    put(budget_), put(may_rest_), put(quiet_), put(waves_.running),
        put(waves_.answers);  // not its number: only to tell waves apart
    for (const Waves::Answer& a : {waves_.now, waves_.before}) put(a.idle), put(a.rests), put(a.sent), put(a.received);
    return b;
  }

 private:
  void answer(std::size_t r) {
    answered_[r] = true;
    const Waves::Answer a{!active_[r] && !rests_[r], sent_[r], received_[r], rests_[r]};
    const Waves::Verdict v = (*answer_)(waves_, waves_.number, a);
    quiet_ = v == Waves::Verdict::quiet;
    called_ = v == Waves::Verdict::rests;
  }
  void whole_wave() {
    if (!waves_.running) waves_.begin(), answered_ = {};
    for (std::size_t r = 0; r < kRanks; ++r) {
      if (!answered_[r]) answer(r);
    }
  }
  bool over(bool but_for_who_rests = false) const {
    for (std::size_t r = 0; r < kRanks; ++r) {
      if (active_[r] || flying_[r] > 0 || (rests_[r] && !but_for_who_rests)) return false;
    }
    return true;
  }

  int budget_;
  const WavesAnswer* answer_;
  bool may_rest_;
  std::array<bool, kRanks> active_{true}, rests_{}, answered_{};
  std::array<std::uint64_t, kRanks> sent_{}, received_{};
  std::array<int, kRanks> flying_{};
  Waves waves_{kRanks};
  bool quiet_ = false, called_ = false;
};

struct WavesResult {
  std::string wrong;
  std::size_t worlds = 0;
};
WavesResult explore_waves(int budget, bool rests, const WavesAnswer& answer) {
  WavesResult result;
  std::unordered_set<std::string> seen;
  std::vector<WavesWorld> open{WavesWorld(budget, rests, answer)};
  while (!open.empty() && result.wrong.empty()) {
    const WavesWorld world = std::move(open.back());
    open.pop_back();
    ++result.worlds;
    if (world.too_early()) result.wrong = "told too early";
    if (world.too_late()) result.wrong = "never told";
    if (world.never_called()) result.wrong = "never called";
    world.each_next([&](WavesWorld& then) {
      if (seen.insert(then.bytes()).second) open.push_back(std::move(then));
    });
  }
  return result;
}

Waves::Verdict really(Waves& w, std::uint64_t to, const Waves::Answer& a) { return w.answer(to, a); }

TEST(Waves, HaveNoWayToGoWrong) {
  for (const auto& [budget, rests] : {std::pair(4, false), std::pair(3, true)}) {
    const WavesResult result = explore_waves(budget, rests, really);
    EXPECT_EQ(result.wrong, "");
    EXPECT_GT(result.worlds, 100'000U);
    std::printf("%zu worlds\n", result.worlds);
  }
}

class BrokenWavesMachine : public testing::TestWithParam<BrokenWaves> {};

TEST_P(BrokenWavesMachine, IsFoundOut) {
  WavesResult result = explore_waves(2, true, GetParam().answer);
  if (result.wrong.empty()) result = explore_waves(4, false, GetParam().answer);
  EXPECT_NE(result.wrong, "");
  std::printf("%s: %s\n", GetParam().name.c_str(), result.wrong.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, BrokenWavesMachine,
    testing::Values(BrokenWaves{"one calm wave is enough",
                                [](Waves& w, std::uint64_t to, Waves::Answer a) {
                                  const auto v = w.answer(to, a);
                                  return v == Waves::Verdict::ask_again ? Waves::Verdict::quiet : v;
                                }},
                    BrokenWaves{"whether ranks are idle does not matter",
                                [](Waves& w, std::uint64_t to, Waves::Answer a) {
                                  a.idle = true;
                                  return w.answer(to, a);
                                }},
                    BrokenWaves{"who rests is idle",
                                [](Waves& w, std::uint64_t to, Waves::Answer a) {
                                  a.idle = a.idle || std::exchange(a.rests, false);
                                  return w.answer(to, a);
                                }},
                    BrokenWaves{"who rests is busy",
                                [](Waves& w, std::uint64_t to, Waves::Answer a) {
                                  a.rests = false;
                                  return w.answer(to, a);
                                }},
                    BrokenWaves{"what is received does not matter",
                                [](Waves& w, std::uint64_t to, Waves::Answer a) {
                                  a.received = a.sent;
                                  return w.answer(to, a);
                                }},
                    BrokenWaves{
                        "the sums of two waves may differ",
                        [](Waves& w, std::uint64_t to, Waves::Answer a) {
                          w.before = {w.before.idle, w.now.sent + a.sent, w.now.received + a.received, w.before.rests};
                          return w.answer(to, a);
                        }}),
    [](const auto& of) { return std::to_string(of.index); });

TEST(Waves, OneCalmWaveIsNotEnough) {
  Waves w(1);
  const auto n = w.begin();
  EXPECT_EQ(w.answer(n, {true, 3, 3}), Waves::Verdict::ask_again);
  const auto m = w.begin();
  EXPECT_EQ(w.answer(m, {true, 4, 4}), Waves::Verdict::ask_again) << "something moved in between";
  const auto k = w.begin();
  EXPECT_EQ(w.answer(k, {true, 4, 4}), Waves::Verdict::quiet);
}

TEST(Waves, IgnoresAnswersToOldWaves) {
  Waves w(2);
  const auto old = w.begin();
  const auto now = w.begin();
  EXPECT_EQ(w.answer(old, {true, 0, 0}), Waves::Verdict::waiting);
  EXPECT_EQ(w.answer(now, {true, 0, 0}), Waves::Verdict::waiting);
  EXPECT_EQ(w.answer(now, {false, 0, 0}), Waves::Verdict::busy);
}

}  // namespace
}  // namespace tessera::protocol
