// All orders in which the fragments of two scopes, one inside the other, can be made, moved and finished, and in which
// what ranks say about them can come: a scope ends once, when nothing of it is left, and what is said to its home comes
// before. And: each rule, broken, is found out.
#include "runtime/protocol/counting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_set>
#include <vector>

namespace tessera::protocol {

struct CountingRules {
  std::string name;
  Arrival (*arrives)(Knows) = protocol::arrives;
  bool (*must_be_answered)(std::int32_t, std::int32_t) = protocol::must_be_answered;
  bool pays_all = true;  // a proxy that closes says so
};
void PrintTo(const CountingRules& r, std::ostream* out) { *out << r.name; }

namespace {

constexpr int kMost = 3;  // ranks
enum Scope : std::uint8_t { outer, inner, scopes };

struct CountWord {
  enum Is : std::uint8_t { fragment, comes_back, says, answers } is;
  std::uint8_t scope;   // of the fragment; whose count; whose fragment it was that spoke
  std::uint8_t of = 0;  // says: the scope of the name
  bool asks = false;    // says: for an answer
};

// What a rank has of a scope.
struct CountPart {
  std::uint8_t knows = 0, count = 0, fragments = 0;
  std::int8_t owes = -1;
};

// How often each of these may still happen.
struct Budget {
  std::uint8_t makes, moves, says, opens;
};

class CountingWorld {
 public:
  CountingWorld(int ranks, Budget budget, const CountingRules& rules) : rules_(&rules), ranks_(ranks), budget_(budget) {
    parts_[outer][0] = {static_cast<std::uint8_t>(Knows::home), 1, 1, -1};
    alive_[outer] = true;
  }

  // Calls `f` with each world that may come next.
  template <class F>
  void each_next(F f) const {
    const auto with = [&](auto change) {
      CountingWorld then(*this);
      change(then);
      f(then);
    };
    for (int from = 0; from < ranks_; ++from) {
      for (int to = 0; to < ranks_; ++to) {
        if (!wires_[from][to].empty()) with([=](CountingWorld& w) { w.deliver(from, to); });
      }
    }
    for (std::uint8_t s = 0; s < scopes; ++s) {
      for (int r = 0; r < ranks_; ++r) {
        if (parts_[s][r].fragments == 0) continue;
        with([=](CountingWorld& w) { w.finish(s, r); });
        if (budget_.makes > 0) with([=](CountingWorld& w) { w.make(s, r); });
        if (budget_.opens > 0 && s == outer) with([=](CountingWorld& w) { w.open(r); });
        for (int to = 0; to < ranks_ && budget_.moves > 0; ++to) {
          if (to != r) with([=](CountingWorld& w) { w.move(s, r, to); });
        }
        if (budget_.says == 0) continue;
        with([=](CountingWorld& w) { w.say(s, r, outer); });
        if (s == inner) with([=](CountingWorld& w) { w.say(s, r, inner); });
      }
    }
  }

  const std::string& wrong() const { return wrong_; }
  // Nothing can happen any more.
  std::string wrong_at_the_end() const { return alive_[outer] || alive_[inner] ? "a scope never ends" : ""; }

  std::string bytes() const {
    std::string b;
    const auto put = [&b](int x) { b += static_cast<char>(x); };
    for (const auto& of_scope : parts_) {
      for (const CountPart& p : of_scope) put(p.knows), put(p.count), put(p.fragments), put(p.owes);
    }
    for (const auto& row : wires_) {
      for (const auto& wire : row) {
        put(static_cast<int>(wire.size()));
        for (const CountWord& w : wire) put(w.is * 16 + w.scope * 4 + w.of * 2 + (w.asks ? 1 : 0));
      }
    }
    put(alive_[outer] * 2 + alive_[inner]), put(inner_home_);
    put(budget_.makes), put(budget_.moves), put(budget_.says), put(budget_.opens);
    return b;
  }

 private:
  void make(std::uint8_t s, int r) {
    --budget_.makes;
    ++parts_[s][r].fragments;
    ++parts_[s][r].count;
  }
  // The inner scope is opened, and gets a first fragment.
  void open(int r) {
    --budget_.opens;
    inner_home_ = r;
    ++parts_[outer][r].count;
    parts_[inner][r] = {static_cast<std::uint8_t>(Knows::home), 1, 1, -1};
    alive_[inner] = true;
  }
  // Its count stays with the sender until it comes back.
  void move(std::uint8_t s, int r, int to) {
    --budget_.moves;
    --parts_[s][r].fragments;
    wires_[r][to].push_back({CountWord::fragment, s});
  }
  void finish(std::uint8_t s, int r) {
    --parts_[s][r].fragments;
    leave(s, r);
  }
  // It assigns a name of scope `of`, and finishes.
  void say(std::uint8_t s, int r, std::uint8_t of) {
    --budget_.says;
    const int home = of == outer ? 0 : inner_home_;
    if (home == r) {
      heard(of);
    } else {
      const bool asks = rules_->must_be_answered(way_home(s, r), home);
      if (asks) ++parts_[s][r].count;
      wires_[r][home].push_back({CountWord::says, s, of, asks});
    }
    finish(s, r);
  }
  int way_home(std::uint8_t s, int r) const {
    if (parts_[s][r].knows == static_cast<std::uint8_t>(Knows::home)) return s == outer ? -1 : way_home(outer, r);
    return parts_[s][r].owes;
  }
  void heard(std::uint8_t of) {
    if (!alive_[of]) wrong_ = "a scope has ended before what was said to its home has come";
  }

  void deliver(int from, int to) {
    const CountWord word = wires_[from][to].front();
    wires_[from][to].erase(wires_[from][to].begin());
    switch (word.is) {
      case CountWord::fragment: {
        CountPart& part = parts_[word.scope][to];
        const Arrival arrival = rules_->arrives(static_cast<Knows>(part.knows));
        if (part.knows == 0) part.knows = static_cast<std::uint8_t>(Knows::proxy);
        if (arrival == Arrival::engages) {
          part.owes = static_cast<std::int8_t>(from);
        } else {
          wires_[to][from].push_back({CountWord::comes_back, word.scope});
        }
        ++part.count;
        ++part.fragments;
        return;
      }
      case CountWord::says:
        heard(word.of);
        if (word.asks) wires_[to][from].push_back({CountWord::answers, word.scope});
        return;
      default:
        leave(word.scope, to);
    }
  }

  void leave(std::uint8_t s, int r) {
    CountPart& part = parts_[s][r];
    if (part.count == 0) {
      wrong_ = "a count comes back that nobody has";
      return;
    }
    if (--part.count > 0) return;
    if (at_zero(static_cast<Knows>(part.knows)) == AtZero::pays) {
      if (part.owes >= 0 && rules_->pays_all) wires_[r][part.owes].push_back({CountWord::comes_back, s});
      part = CountPart{};
      return;
    }
    part = CountPart{};
    alive_[s] = false;
    if (left_of(s)) wrong_ = "a scope has ended with fragments of it alive";
    if (s == inner) leave(outer, r);
  }
  bool left_of(std::uint8_t s) const {
    for (int r = 0; r < ranks_; ++r) {
      if (parts_[s][r].fragments > 0) return true;
      for (int to = 0; to < ranks_; ++to) {
        for (const CountWord& w : wires_[r][to]) {
          if (w.is == CountWord::fragment && w.scope == s) return true;
        }
      }
    }
    return false;
  }

  const CountingRules* rules_;
  int ranks_;
  Budget budget_;
  std::array<std::array<CountPart, kMost>, scopes> parts_{};
  std::array<std::array<std::vector<CountWord>, kMost>, kMost> wires_;
  std::array<bool, scopes> alive_{};
  int inner_home_ = -1;
  std::string wrong_;
};

struct CountResult {
  std::string wrong;
  std::size_t worlds = 0;
};
CountResult explore_counting(int ranks, Budget budget, const CountingRules& rules) {
  CountResult result;
  std::unordered_set<std::string> seen;
  std::vector<CountingWorld> open{CountingWorld(ranks, budget, rules)};
  while (!open.empty() && result.wrong.empty()) {
    const CountingWorld world = std::move(open.back());
    open.pop_back();
    ++result.worlds;
    bool last = true;
    world.each_next([&](CountingWorld& then) {
      last = false;
      if (!then.wrong().empty()) result.wrong = then.wrong();
      if (seen.insert(then.bytes()).second) open.push_back(std::move(then));
    });
    if (last && result.wrong.empty()) result.wrong = world.wrong_at_the_end();
  }
  return result;
}

TEST(Counting, HasNoWayToGoWrong) {
  const CountingRules rules{.name = "the rules"};
  std::size_t worlds = 0;
  for (const Budget budget : {Budget{2, 6, 1, 0}, Budget{1, 5, 1, 1}, Budget{0, 6, 1, 1}, Budget{1, 4, 2, 1}}) {
    const CountResult result = explore_counting(3, budget, rules);
    EXPECT_EQ(result.wrong, "");
    worlds += result.worlds;
  }
  EXPECT_GT(worlds, 500'000U);
  std::printf("%zu worlds\n", worlds);
}

class BrokenCounting : public testing::TestWithParam<CountingRules> {};

TEST_P(BrokenCounting, IsFoundOut) {
  const CountResult result = explore_counting(3, {1, 4, 1, 1}, GetParam());
  EXPECT_NE(result.wrong, "");
  std::printf("%s: %s\n", GetParam().name.c_str(), result.wrong.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, BrokenCounting,
    testing::Values(
        CountingRules{.name = "who has a proxy engages again",
                      .arrives = [](Knows k) { return k == Knows::home ? Arrival::returns : Arrival::engages; }},
        CountingRules{.name = "the home engages",
                      .arrives = [](Knows k) { return k == Knows::proxy ? Arrival::returns : Arrival::engages; }},
        CountingRules{.name = "nobody engages", .arrives = [](Knows) { return Arrival::returns; }},
        CountingRules{.name = "no answer is asked for",
                      .must_be_answered = [](std::int32_t, std::int32_t) { return false; }},
        CountingRules{.name = "an answer is asked for only where the count ends",
                      .must_be_answered = [](std::int32_t next, std::int32_t) { return next < 0; }},
        CountingRules{.name = "a proxy pays nothing", .pays_all = false}),
    [](const auto& of) { return std::to_string(of.index); });

}  // namespace
}  // namespace tessera::protocol
