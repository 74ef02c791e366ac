// Scopes on a model cluster: fragments of one scope are created, moved between ranks and finished at
// random, ScopeReturns travel with random delays (order kept per pair). The home's count must reach
// zero exactly when the last fragment has finished.
#include "runtime/data/scopes.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>

namespace tessera::runtime {
namespace {

class Cluster {
 public:
  Cluster(int ranks, unsigned seed) : random_(seed) {
    for (int r = 0; r < ranks; ++r) scopes_.push_back(std::make_unique<Scopes>(Rank{r}));
    root_ = scopes_[0]->open(nullptr, {1, 1});
    ref_ = root_->ref;
    here_.resize(static_cast<std::size_t>(ranks));
    here_[0] = 1;  // the body's count, as a first fragment
  }
  bool finished() const { return finished_; }
  int alive() const {
    int n = flying_fragments_;
    for (const int h : here_) n += h;
    return n;
  }
  void step() {
    const auto r = random_() % here_.size();
    switch (random_() % 4) {
      case 0:  // create
        if (here_[r] > 0 && budget_-- > 0) {
          ++here_[r];
          record(r)->count.add();
        }
        return;
      case 1:  // move
        if (here_[r] > 0 && here_.size() > 1) {
          auto to = random_() % here_.size();
          if (to == r) return;
          --here_[r];
          ++flying_fragments_;
          wires_[{r, to}].push_back(true);
        }
        return;
      case 2:  // finish
        if (here_[r] > 0) {
          --here_[r];
          leave(r);
        }
        return;
      default:
        deliver();
    }
  }

 private:
  using Wire = std::pair<std::size_t, std::size_t>;
  ScopeRecord* record(std::size_t r) { return scopes_[r]->find(ref_); }
  void leave(std::size_t r) {
    ScopeRecord* s = record(r);
    ASSERT_NE(s, nullptr);
    if (!s->count.take(1)) return;
    if (r == 0) {
      ASSERT_FALSE(finished_);
      ASSERT_EQ(alive(), 0) << "the scope ended with fragments alive";
      finished_ = true;
      return;
    }
    Rank to{-1};
    if (scopes_[r]->close_proxy(s, ref_, to)) {
      wires_[{r, static_cast<std::size_t>(balancer::index(to))}].push_back(false);
    }
  }
  void deliver() {
    if (wires_.empty()) return;
    auto at = wires_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_() % wires_.size()));
    const auto [from, to] = at->first;
    const bool fragment = at->second.front();
    at->second.pop_front();
    if (at->second.empty()) wires_.erase(at);
    if (!fragment) return leave(to);
    Scopes::Debts owed;
    scopes_[to]->arrive(ref_, Rank{static_cast<std::int32_t>(from)}, owed);
    --flying_fragments_;
    ++here_[to];
    if (!owed.empty()) wires_[{to, from}].push_back(false);
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<Scopes>> scopes_;
  ScopeRecord* root_;
  std::uint64_t ref_;
  std::vector<int> here_;
  std::map<Wire, std::deque<bool>> wires_;  // true: a fragment, false: a ScopeReturn
  int flying_fragments_ = 0;
  int budget_ = 60;
  bool finished_ = false;
};

TEST(Scopes, EndExactlyWithTheLastFragment) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Cluster cluster(1 + static_cast<int>(seed % 6), seed);
    for (int i = 0; i < 200000 && !cluster.finished(); ++i) {
      cluster.step();
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
    ASSERT_TRUE(cluster.finished()) << "never ended, seed " << seed;
  }
}

TEST(Scopes, StaleReferencesFindNothing) {
  Scopes scopes(Rank{3});
  ScopeRecord* a = scopes.open(nullptr, {1, 1});
  const std::uint64_t ref = a->ref;
  EXPECT_EQ(home_of(ref), Rank{3});
  EXPECT_EQ(scopes.find_home(ref), a);
  scopes.retire(a);
  scopes.free_retired(a);
  EXPECT_EQ(scopes.find_home(ref), nullptr);
  ScopeRecord* b = scopes.open(nullptr, {1, 2});
  EXPECT_NE(b->ref, ref) << "the slot is used again under another generation";
  scopes.retire(b);
  scopes.free_retired(b);
}

// Slots have the same numbers on all ranks: a scope of another one is none of this rank's, though its slot has one.
TEST(Scopes, OfAnotherRankIsNoneOfThisOne) {
  Scopes here(Rank{0}), there(Rank{1});
  const std::uint64_t own = here.open(nullptr, {1, 1})->ref, other = there.open(nullptr, {2, 2})->ref;
  EXPECT_NE(here.find_home(own), nullptr);
  EXPECT_EQ(here.find_home(other), nullptr);
  EXPECT_NE(there.find_home(other), nullptr);
}

}  // namespace
}  // namespace tessera::runtime
