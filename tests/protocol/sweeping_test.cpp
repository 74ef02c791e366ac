// All orders in which a loop that goes through a name, and readers that it makes, can move between ranks while sweeps
// come and go: what is freed is read by nobody who is there, on his way, or still to be made; each sweep ends; and what
// nobody can read is freed by the next one. And: each rule, broken, is found out.
//
// A reader waits until it has its value. Who waits is seen where it waits, at home when the value is to be freed,
// elsewhere when the home asks; who has the value is not.
#include "runtime/protocol/sweeping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/protocol/step.hpp"

namespace tessera::protocol {

struct SweepingRules {
  std::string name;
  bool adds_what_crosses = true;       // what comes from before a cut is added to what was written down
  bool waits_for_what_crosses = true;  // a rank tells when that has come
  bool writes_down_first = true;       // and cuts then
  bool marks_first = true;             // a shipment is marked when it is begun, and not when it leaves
  bool tells_of_waiting = true;        // a rank that is asked says what waits there
  bool tells_of_leavers = true;        // ... and what has waited there and left since its cut
  bool asks_behind_all = true;         // the home asks when all have told, not when the first one has
  bool takes_along = true;             // who has the value and moves from elsewhere takes it along
  bool remembers = true;               // the home remembers who has left it since its cut without the value
  bool keeps_awaited = true;           // ... and frees nothing that is waited for there
  bool home_waits_for_all = true;
  bool sweeps_own_only = true;  // by itself a home sweeps what is its own: no fragment that may read it has left
  bool notes_first = true;      // who leaves is noted before it is let go of
  bool looks_again = true;      // the home, whether any has, when it has written down what it holds
  bool own_remembers = true;    // who leaves then, until it has freed
  bool own_is_no_part = true;   // a wave waits for the end of such a sweep
};
void PrintTo(const SweepingRules& r, std::ostream* out) { *out << r.name; }

namespace {

constexpr std::size_t kSweepers = 3;
constexpr int kElements = 3;
constexpr std::uint8_t kAll = (1 << kElements) - 1;

// Of a loop that has come to `first`, it may read that and all behind it; of a reader, one.
struct Reader {
  std::uint8_t first;
  bool loop;
  bool has = false;  // the value
  std::uint8_t hull() const { return static_cast<std::uint8_t>(loop ? kAll & ~((1 << first) - 1) : 1 << first); }
};

struct SweepWord {
  enum Is : std::uint8_t { ship, want, cut, has_cut, expect, tell, found, awaited, heard } is;
  Reader reader{};
  std::uint64_t number = 0;  // mark, wave, or what is to come
  std::uint8_t hull = 0;
  std::vector<std::uint64_t> sent{};
};

struct SweepBudget {
  std::uint8_t makes, moves, waves;
};

class SweepingWorld {
 public:
  SweepingWorld(std::size_t home, SweepBudget budget, const SweepingRules& rules)
      : rules_(&rules), home_(home), budget_(budget) {
    at_[home].push_back({{0, true}, false});
  }

  template <class F>
  void each_next(F f) const {
    const auto with = [&](auto change) {
      SweepingWorld then(*this);
      change(then);
      f(then);
    };
    for (std::size_t r = 0; r < kSweepers; ++r) {
      for (std::size_t k = 0; k < at_[r].size(); ++k) with_reader(r, k, with);
      if (half_[r] != 0) {  // one thread: nothing comes meanwhile
        with([=](SweepingWorld& w) { w.end_cut(r); });
        continue;
      }
      for (std::size_t from = 0; from < kSweepers; ++from) {
        if (wires_[from][r].empty()) continue;
        if (r == home_ && own_ != 0 && rules_->own_is_no_part && is_of_wave(wires_[from][r].front().is)) continue;
        with([=](SweepingWorld& w) { w.deliver(from, r); });
      }
    }
    if (own_ != 0) with([](SweepingWorld& w) { w.go_on_own(); });
    if (budget_.waves > 0 && own_ == 0 && is_own()) {
      with([](SweepingWorld& w) {
        --w.budget_.waves;
        w.own_ = 1;
        w.in_wave_ = w.remembers_[w.home_];
      });
    }
    if (budget_.waves > 0) {
      with([](SweepingWorld& w) {
        --w.budget_.waves;
        w.say(w.home_, 0, {SweepWord::want});
      });
    }
  }

  // Somebody may read what has been freed.
  bool wrong() const {
    for (std::size_t r = 0; r < kSweepers; ++r) {
      for (const Held& h : at_[r]) {
        if (!h.reader.has && (h.reader.hull() & freed_) != 0) return true;
      }
      for (const auto& wires : wires_) {
        for (const SweepWord& m : wires[r]) {
          if (m.is == SweepWord::ship && !m.reader.has && (m.reader.hull() & freed_) != 0) return true;
        }
      }
    }
    return false;
  }
  // Nothing can happen any more.
  std::string wrong_at_the_end() const {
    if (lead_.cuts != 0 || lead_.homes_left != 0) return "a sweep never ends";
    SweepingWorld then(*this);
    then.budget_.waves = 1;
    for (bool more = true; more;) {
      more = false;
      then.each_next([&](SweepingWorld& w) {
        if (!more) then = SweepingWorld(w), more = true;
      });
    }
    return then.freed_ == kAll ? "" : "what nobody can read stays";
  }

  std::string bytes() const {
    std::string b;
    const auto put = [&b](auto x) { b += static_cast<char>(x); };
    for (std::size_t r = 0; r < kSweepers; ++r) {
      put(at_[r].size());
      for (const Held& h : at_[r])
        put(h.reader.first * 8 + (h.reader.has ? 4 : 0) + (h.reader.loop ? 2 : 0) + (h.leaves ? 1 : 0)),
            put(h.leaves ? h.to : 0), put(h.mark);
      const SweepRank& s = ranks_[r];
      for (const std::uint64_t n : s.sent) put(n);
      put(s.wave), put(s.before), put(s.since), put(s.early), put(s.expected), put(s.expects * 2 + s.told);
      put(written_[r]), put(half_[r]);
      for (const auto& wire : wires_[r]) {
        put(wire.size());
        for (const SweepWord& m : wire) {
          put(m.is), put(m.reader.first * 4 + (m.reader.has ? 2 : 0) + (m.reader.loop ? 1 : 0)), put(m.number),
              put(m.hull);
          for (const std::uint64_t n : m.sent) put(n);
        }
      }
    }
    put(lead_.number), put(lead_.homes.size()), put(lead_.next.size()), put(lead_.cuts), put(lead_.homes_left);
    for (const std::uint64_t n : lead_.expected) put(n);
    for (std::size_t r = 0; r < kSweepers; ++r) put(relied_[r]), put(remembers_[r]);
    put(own_), put(written_own_), put(in_wave_), put(shared_), put(swept_);
    put(heard_), put(answered_), put(around_), put(found_), put(awaited_), put(freed_), put(budget_.makes),
        put(budget_.moves), put(budget_.waves);
    return b;
  }

 private:
  struct Held {
    Reader reader;
    bool leaves;  // it has boarded, and nobody holds what it may read
    std::size_t to = 0;
    std::uint64_t mark = 0;
  };

  template <class With>
  void with_reader(std::size_t r, std::size_t k, With with) const {
    const Held& h = at_[r][k];
    if (h.leaves) return with([=](SweepingWorld& w) { w.depart(r, k); });
    with([=](SweepingWorld& w) { w.go_on(r, k); });
    if (!h.reader.loop && !h.reader.has) with([=](SweepingWorld& w) { w.at_[r][k].reader.has = true; });
    if (h.reader.loop && budget_.makes > 0) {
      with([=](SweepingWorld& w) {
        --w.budget_.makes;
        w.at_[r].push_back({{w.at_[r][k].reader.first, false}, false});
      });
    }
    for (std::size_t to = 0; to < kSweepers && budget_.moves > 0; ++to) {
      if (to == r) continue;
      with([=](SweepingWorld& w) { w.board(r, k, to, true); });
      if (h.reader.has && r == home_ && (h.reader.hull() & freed_) == 0)
        with([=](SweepingWorld& w) { w.board(r, k, to, false); });
    }
  }
  void let_go(std::size_t r, std::size_t k) { at_[r].erase(at_[r].begin() + static_cast<std::ptrdiff_t>(k)); }
  // A reader has read; a loop leaves an element behind.
  void go_on(std::size_t r, std::size_t k) {
    Reader& reader = at_[r][k].reader;
    if (!reader.loop || ++reader.first == kElements) let_go(r, k);
  }
  // `along`: so does the value. Else it is there, as the home believes.
  void board(std::size_t r, std::size_t k, std::size_t to, bool along) {
    --budget_.moves;
    Held& h = at_[r][k];
    h.leaves = true;
    h.to = to;
    if (rules_->marks_first) h.mark = ranks_[r].ships(to);
    if (rules_->notes_first && r == home_) shared_ = true;
    if (h.reader.loop || (h.reader.has && along && (r == home_ || rules_->takes_along))) return;
    if (remembers_[r] && (r == home_ ? rules_->remembers : rules_->tells_of_leavers)) relied_[r] |= h.reader.hull();
    h.reader.has = false;
  }
  void depart(std::size_t r, std::size_t k) {
    const Held& h = at_[r][k];
    if (r == home_) shared_ = true;
    wires_[r][h.to].push_back({SweepWord::ship, h.reader, rules_->marks_first ? h.mark : ranks_[r].ships(h.to)});
    let_go(r, k);
  }

  void say(std::size_t from, std::size_t to, SweepWord m) { wires_[from][to].push_back(std::move(m)); }
  void deliver(std::size_t from, std::size_t to) {
    const SweepWord m = wires_[from][to].front();
    wires_[from][to].erase(wires_[from][to].begin());
    switch (m.is) {
      case SweepWord::ship:
        if (ranks_[to].came(m.number) && rules_->adds_what_crosses) {
          (m.reader.loop ? written_[to] : relied_[to]) |= m.reader.hull();
        }
        at_[to].push_back({m.reader, false});
        return tell(to);
      case SweepWord::want:
        lead_.want(static_cast<std::int32_t>(home_));
        return begin();
      case SweepWord::cut:
        if (rules_->writes_down_first) write_down(to);
        if (!rules_->writes_down_first) ranks_[to].cut(m.number);
        half_[to] = static_cast<std::uint8_t>(m.number);
        return;
      case SweepWord::has_cut:
        if (!lead_.cut(m.sent)) return;
        for (std::size_t r = 0; r < kSweepers; ++r) say(0, r, {SweepWord::expect, {}, lead_.expected[r]});
        return;
      case SweepWord::expect:
        ranks_[to].expect(rules_->waits_for_what_crosses ? m.number : ranks_[to].before);
        return tell(to);
      case SweepWord::tell:
        around_ |= m.hull;
        if (++heard_ == (rules_->home_waits_for_all ? kSweepers : kSweepers - 1) && swept_) found_ = kAll & ~around_;
        if (heard_ == (rules_->asks_behind_all ? kSweepers : 1U)) {
          for (std::size_t r = 0; r < kSweepers; ++r) {
            if (r != home_) say(home_, r, {SweepWord::found});
          }
        }
        return free_found();
      case SweepWord::found:
        remembers_[to] = false;
        return say(to, home_, {SweepWord::awaited, {}, 0, static_cast<std::uint8_t>(waits_at(to) | relied_[to])});
      case SweepWord::awaited:
        awaited_ |= m.hull;
        ++answered_;
        return free_found();
      case SweepWord::heard:
        lead_.heard();
        return begin();
    }
  }
  void begin() {
    if (!lead_.begins()) return;
    for (std::size_t r = 0; r < kSweepers; ++r) say(0, r, {SweepWord::cut, {}, lead_.number});
  }
  // At home these take the lock of a sweep by itself: what begins to remember, and what ends that.
  static bool is_of_wave(SweepWord::Is is) {
    return is == SweepWord::cut || is == SweepWord::tell || is == SweepWord::awaited;
  }
  bool is_own() const { return !rules_->sweeps_own_only || !shared_; }
  // The home has looked whether the name is its own; writes down; looks again; and frees.
  void go_on_own() {
    ++own_;
    if (own_ == 2) {
      if (!in_wave_) relied_[home_] = 0, remembers_[home_] = rules_->own_remembers;
      written_own_ = loops_at(home_);
      return;
    }
    if (own_ == 3 && (is_own() || !rules_->looks_again)) return;
    if (own_ == 4) freed_ |= static_cast<std::uint8_t>(kAll & ~(written_own_ | relied_[home_] | waits_at(home_)));
    if (!in_wave_) remembers_[home_] = false;
    own_ = written_own_ = 0;
    in_wave_ = false;
  }
  std::uint8_t loops_at(std::size_t r) const {
    std::uint8_t all = 0;
    for (const Held& h : at_[r]) {
      if (!h.leaves && h.reader.loop) all |= h.reader.hull();
    }
    return all;
  }
  void write_down(std::size_t r) {
    if (r == home_) swept_ = shared_ || !rules_->sweeps_own_only;
    relied_[r] = 0, remembers_[r] = true;
    written_[r] = loops_at(r);
  }
  std::uint8_t waits_at(std::size_t r) const {
    std::uint8_t all = 0;
    for (const Held& h : at_[r]) {
      if (!h.leaves && !h.reader.loop && !h.reader.has) all |= h.reader.hull();
    }
    return (r == home_ ? rules_->keeps_awaited : rules_->tells_of_waiting) ? all : 0;
  }
  // The home has heard of all who hold, and all others have said what is awaited there.
  void free_found() {
    if (heard_ < kSweepers || answered_ + 1U < kSweepers) return;
    freed_ |= static_cast<std::uint8_t>(found_ & ~(awaited_ | relied_[home_] | waits_at(home_)));
    heard_ = answered_ = around_ = found_ = awaited_ = 0;
    remembers_[home_] = false;
    say(home_, 0, {SweepWord::heard});
  }
  void end_cut(std::size_t r) {
    rules_->writes_down_first ? ranks_[r].cut(half_[r]) : write_down(r);
    half_[r] = 0;
    say(r, 0, {SweepWord::has_cut, {}, 0, 0, ranks_[r].sent});
  }
  void tell(std::size_t r) {
    if (ranks_[r].tells()) say(r, home_, {SweepWord::tell, {}, 0, written_[r]});
  }

  const SweepingRules* rules_;
  std::size_t home_;
  SweepBudget budget_;
  std::array<std::vector<Held>, kSweepers> at_;
  std::array<std::array<std::vector<SweepWord>, kSweepers>, kSweepers> wires_;
  std::array<SweepRank, kSweepers> ranks_{SweepRank(kSweepers), SweepRank(kSweepers), SweepRank(kSweepers)};
  std::array<std::uint8_t, kSweepers> written_{}, half_{};  // the wave for which a rank is in the middle of its cut
  SweepLead lead_{kSweepers};
  std::uint8_t heard_ = 0, around_ = 0, found_ = 0, answered_ = 0, awaited_ = 0, freed_ = 0;
  std::uint8_t own_ = 0, written_own_ = 0;  // of a sweep of the home by itself
  bool in_wave_ = false;                    // which began while a wave was on
  bool shared_ = false;                     // a fragment that may read the name has left the home
  bool swept_ = false;                      // it had when the home cut, so the wave is about it
  std::array<std::uint8_t, kSweepers> relied_{};
  std::array<bool, kSweepers> remembers_{};
};

struct SweepingResult {
  std::string wrong;
  std::size_t worlds = 0;
};
SweepingResult explore_sweeping(std::size_t home, SweepBudget budget, const SweepingRules& rules) {
  SweepingResult result;
  std::unordered_set<std::string> seen;
  std::vector<SweepingWorld> open{SweepingWorld(home, budget, rules)};
  while (!open.empty() && result.wrong.empty()) {
    const SweepingWorld world = std::move(open.back());
    open.pop_back();
    ++result.worlds;
    if (world.wrong()) {
      result.wrong = "what may still be read was freed";
      break;
    }
    bool end = true;
    world.each_next([&](SweepingWorld& then) {
      end = false;
      if (seen.insert(then.bytes()).second) open.push_back(std::move(then));
    });
    if (end) result.wrong = world.wrong_at_the_end();
  }
  return result;
}

TEST(Sweeping, HasNoWayToGoWrong) {
  std::size_t worlds = 0;
  for (const auto& [home, budget] : {std::pair{std::size_t{1}, SweepBudget{1, 1, 1}}, {0, {0, 2, 1}}, {1, {0, 1, 2}}}) {
    const SweepingResult result = explore_sweeping(home, budget, {});
    EXPECT_EQ(result.wrong, "") << "home " << home;
    worlds += result.worlds;
  }
  EXPECT_GT(worlds, 100'000U);
  std::printf("%zu worlds\n", worlds);
}

class BrokenSweeping : public testing::TestWithParam<SweepingRules> {};

TEST_P(BrokenSweeping, IsFoundOut) {
  SweepingResult result = explore_sweeping(0, {1, 1, 1}, GetParam());
  if (result.wrong.empty()) result = explore_sweeping(1, {0, 1, 2}, GetParam());
  if (result.wrong.empty())
    result = GetParam().own_is_no_part ? explore_sweeping(1, {1, 2, 1}, GetParam())
                                       : explore_sweeping(0, {1, 1, 2}, GetParam());
  EXPECT_NE(result.wrong, "");
  std::printf("%s: %s, after %zu worlds\n", GetParam().name.c_str(), result.wrong.c_str(), result.worlds);
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, BrokenSweeping,
    testing::Values(SweepingRules{.name = "what crosses a cut is not added", .adds_what_crosses = false},
                    SweepingRules{.name = "what crosses a cut is not waited for", .waits_for_what_crosses = false},
                    SweepingRules{.name = "a rank cuts, and writes down then", .writes_down_first = false},
                    SweepingRules{.name = "who ships has let go before it is marked", .marks_first = false},
                    SweepingRules{.name = "who waits away from home is not told of", .tells_of_waiting = false},
                    SweepingRules{.name = "who has waited away from home and left is forgotten",
                                  .tells_of_leavers = false},
                    SweepingRules{.name = "a home asks before all have told", .asks_behind_all = false},
                    SweepingRules{.name = "who has the value leaves it behind", .takes_along = false},
                    SweepingRules{.name = "who has left home since the cut is forgotten", .remembers = false},
                    SweepingRules{.name = "the home frees what is waited for there", .keeps_awaited = false},
                    SweepingRules{.name = "a home does not wait for all", .home_waits_for_all = false},
                    SweepingRules{.name = "a home asks nobody about what others may read", .sweeps_own_only = false},
                    SweepingRules{.name = "who leaves is let go of before it is noted", .notes_first = false},
                    SweepingRules{.name = "a home that sweeps its own looks once", .looks_again = false},
                    SweepingRules{.name = "who leaves such a home is forgotten", .own_remembers = false},
                    SweepingRules{.name = "a wave cuts into a sweep of a home by itself", .own_is_no_part = false}),
    [](const auto& of) { return std::to_string(of.index); });

// A rank that has left could not pass a value on, and says so when nobody waits for it any more, and it has been freed.
TEST(Swept, WhatHasBeenFetchedAndFreedIsNotRemembered) {
  View v{.self = Rank{0}, .home = Rank{0}, .sweeps = true};
  const auto asked = [&](bool known) {
    Entry e;
    Actions a;
    step(e, Request{Rank{2}, true, known}, v, a);
    return e.state;
  };
  EXPECT_EQ(asked(true), State::none);
  EXPECT_EQ(asked(false), State::unassigned);
  v.sweeps = false;
  EXPECT_EQ(asked(true), State::unassigned);
}

}  // namespace
}  // namespace tessera::protocol
