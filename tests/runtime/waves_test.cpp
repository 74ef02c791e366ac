// Waves against a model: ranks that send each other random messages until they run out, with
// deliveries delayed at random and answers interleaved with them. The verdict "quiet" must come,
// and never while a message is under way or a rank is active.
#include "runtime/comm/waves.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace tessera::runtime {
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
        if (!waves_.running()) {
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
}  // namespace tessera::runtime
