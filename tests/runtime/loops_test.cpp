// The order of loops in all sequences of what can happen to them, as far as these are short, and in long ones under
// seeds.
#include "runtime/work/loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/fragment/cf.hpp"

namespace tessera::runtime {
namespace {

// What can happen. A loop has two iterations, and the worker's next `push` is of the body that it runs.
enum class Event {
  push,           // a loop
  push_due,       // a loop that is due
  push_turns,     // a loop that the turns of a `while` make, of some family
  push_within,    // one that an iteration of such a loop makes
  push_around,    // a loop around the first kind
  push_while,     // the `while` of that family
  push_come,      // a loop from another rank
  push_last,      // a fragment that goes behind all
  push_first,     // a loop of a worker that stays away
  make,           // by the next loop
  make_due,       // by what is due
  make_sibling,   // another worker does
  another_first,  // as these functions
  in_order,
  next_turns,
  no_turns,
  take_first,  // another rank takes the first one, or the last one
  take_last,
};
constexpr int kEvents = static_cast<int>(Event::take_last) + 1;
const char* const kNames[] = {"push",          "push_due",  "push_turns", "push_within", "push_around", "push_while",
                              "push_come",     "push_last", "push_first", "make",        "make_due",    "make_sibling",
                              "another_first", "in_order",  "next_turns", "no_turns",    "take_first",  "take_last"};

// Loops, and what is known of them besides. `wrong` says what is not as it should be.
class World {
 public:
  ~World() {
    loops_.for_each([&](const Loops::Place& p) {
      loops_.remove(p);
      free_cf(p.cf);
      return true;
    });
  }

  std::string wrong;

  void happen(Event e) {
    switch (e) {
      case Event::push:
        return push(kLoop, 0);
      case Event::push_due:
        return push(kLoop, kDue);
      case Event::push_turns:
        return push(kLoop, family_of(kTurns));
      case Event::push_within:
        return push(kInner, family_of(kTurns) | kWithin);
      case Event::push_around:
        return push(kAround, 0);
      case Event::push_while:
        return push(kWhile, 0);
      case Event::push_come:
        return push(kLoop, kPlaced);
      case Event::push_last:
        return push_last();
      case Event::push_first:
        return push(kLoop, 0, true);
      case Event::make:
        return make(Making::all, true);
      case Event::make_due:
        return make(Making::due, true);
      case Event::make_sibling:
        return make(Making::all, false);
      case Event::another_first:
        return another_first();
      case Event::in_order:
        return in_order();
      case Event::next_turns:
        return take_turns(loops_.turns() + 1);
      case Event::no_turns:
        return take_turns(0);
      case Event::take_first:
      case Event::take_last:
        return take(e == Event::take_first);
    }
  }

  // How often, of so many times, another one has come first.
  int changes(int times) {
    int changed = 0;
    for (int k = 0; k < times; ++k) {
      const Cf* const before = loops_.next(Making::all).cf;
      loops_.another_first();
      changed += loops_.next(Making::all).cf == before ? 0 : 1;
    }
    return changed;
  }

  // What has been listed is so still, once each, unless it has been removed.
  void look() {
    std::multiset<const Cf*> listed, should;
    for (const auto& [c, known] : known_) should.insert(c);
    loops_.for_each([&](const Loops::Place& p) {
      listed.insert(p.cf);
      return true;
    });
    if (listed != should) wrong = "another set of loops is listed";
    if (!loops_.is_sound()) wrong = "what it remembers of places is not so";
    if (loops_.empty() != should.empty()) wrong = "empty";
  }

 private:
  enum Block { kLoop, kInner, kAround, kWhile, kAtomic };
  static constexpr std::uint64_t kTurns = 7;
  static const abi::Block& block(Block number) {
    static const std::vector<abi::Block> blocks = [] {
      static constexpr std::uint32_t kWithinAround[] = {kLoop, kInner + 1, ~0u};
      std::vector<abi::Block> all(kAtomic + 1);
      for (std::uint32_t k = 0; k <= kAtomic; ++k) {
        all[k].index = all[k].group = k;
        all[k].kind = k == kWhile ? abi::Kind::loop : k == kAtomic ? abi::Kind::atomic : abi::Kind::range;
        all[k].layout = "ii";
        all[k].frame_words = all[k].capacity = 2;
      }
      all[kAround].flags = abi::kNested;
      all[kAround].within = kWithinAround;
      return all;
    }();
    return blocks[number];
  }
  struct Known {
    bool due = false;                      // in which list it stands
    std::int64_t since = 0, made_at = -1;  // when it was listed, and when something was made by it
    const Cf* maker = nullptr;             // the loop that made it
  };

  void push(Block number, unsigned flags, bool first = false) {
    Cf* const c = allocate_cf(block(number), nullptr, {0, number == kWhile ? kTurns : 0});
    abi::frame_int(c, 0) = 1, abi::frame_int(c, 1) = 2;
    c->flags |= static_cast<std::uint16_t>(flags);
    first ? loops_.push_first(c) : loops_.push(c);
    if ((flags & kFamily) != 0 || number == kWhile) latest_ = nullptr;  // what the body makes then goes behind that
    known_[c] = {(flags & kDue) != 0, ++now_, -1, (flags & kPlaced) != 0 || first ? nullptr : latest_};
  }
  void push_last() {
    Cf* const c = allocate_cf(block(kAtomic), nullptr, {});
    loops_.push_last(c);
    bool due = false;
    loops_.for_each([&](const Loops::Place& p) {
      if (p.cf == c) due = p.due;
      return true;
    });
    known_[c] = {due, ++now_, -1, nullptr};
  }

  void make(Making making, bool here) {
    if (here) loops_.begin_body(making);
    if (here) latest_ = nullptr;
    const bool any_due = std::any_of(known_.begin(), known_.end(), [](const auto& k) { return k.second.due; });
    const Loops::Place p = loops_.make_by_next(making, here);
    if (p.cf == nullptr) {
      if (making == Making::all ? !known_.empty() : any_due) wrong = "none is next, and some are listed";
      return;
    }
    if (making == Making::due && !p.due) wrong = "what is not due was made by";
    if (here && making == Making::all && any_due && !p.due && loops_.turns() % 2 != 0)
      wrong = "what is due has its turn first";
    look_for_turn(p.cf, making);
    known_[p.cf].made_at = ++now_;
    if (here) latest_ = p.cf;
    if (p.cf->block->kind == abi::Kind::range && ++abi::frame_int(p.cf, 0) <= 2) return;
    remove(p);
  }
  // While they take turns: all that stood in its list when it had its turn have had theirs.
  void look_for_turn(const Cf* c, Making making) {
    if (loops_.turns() == 0 || making != Making::all) return;
    const Known& its = known_[c];
    if (its.made_at <= turns_since_) return;
    for (const auto& [other, known] : known_) {
      if (other != c && known.due == its.due && known.since < its.made_at && known.made_at < its.made_at)
        wrong = "one has a second turn before another has its first";
    }
  }
  void remove(const Loops::Place& p) {
    Cf* const c = p.cf;
    loops_.remove(p);
    for (auto& [other, known] : known_) {
      if (known.maker == c) known.maker = nullptr;
    }
    if (latest_ == c) latest_ = nullptr;
    known_.erase(c);
    free_cf(c);
  }
  void take(bool first) {
    std::optional<Loops::Place> found;
    loops_.for_each([&](const Loops::Place& p) {
      found = p;
      return !first;
    });
    if (found) remove(*found);
  }

  std::vector<const Cf*> all(bool due) {
    std::vector<const Cf*> result;
    loops_.for_each([&](const Loops::Place& p) {
      if (p.due == due) result.push_back(p.cf);
      return true;
    });
    return result;
  }
  void another_first() {
    if (!loops_.are_out_of_order()) {
      order_.clear();
      order_since_ = ++now_;
      for (const bool due : {true, false}) {
        for (const Cf* c : all(due)) order_[c] = ++now_;
      }
    }
    loops_.another_first();
    turns_since_ = ++now_;
  }
  // What has been put first stands again where it stood, and what it made meanwhile before it.
  void in_order() {
    const bool were_out = loops_.are_out_of_order();
    const auto before = std::array{all(false), all(true)};
    loops_.in_order();
    turns_since_ = ++now_;
    for (const bool due : {false, true}) {
      const auto now = all(due);
      if (!were_out && now != before[due ? 1 : 0]) wrong = "nothing was out of order";
      std::int64_t latest = 0;
      for (const Cf* c : now) {
        const auto at = order_.find(c);
        if (!were_out || at == order_.end() || known_[c].since > at->second) continue;
        if (at->second < latest) wrong = "two loops have changed places";
        latest = at->second;
      }
      std::set<const Cf*> earlier;
      for (const Cf* c : now) {
        const Known& its = known_[c];
        const bool plain = c->block->kind != abi::Kind::loop && (c->flags & (kFamily | kPlaced)) == 0;
        if (were_out && plain && its.maker != nullptr && its.since > order_since_ && earlier.contains(its.maker))
          wrong = "what a loop has made stands behind it";
        earlier.insert(c);
      }
    }
  }
  void take_turns(std::uint32_t number) {
    if ((number == 0) != (loops_.turns() == 0)) turns_since_ = ++now_;
    loops_.take_turns(number);
  }

  Loops loops_;
  std::map<const Cf*, Known> known_;
  std::map<const Cf*, std::int64_t> order_;  // when the first was put first
  const Cf* latest_ = nullptr;  // the worker has made by last, and what it made stands before what is left of that
  std::int64_t now_ = 0, turns_since_ = 0, order_since_ = 0;
};

std::string told(const std::vector<Event>& events) {
  std::string text;
  for (const Event e : events) text += std::string(text.empty() ? "" : ", ") + kNames[static_cast<int>(e)];
  return text;
}

TEST(Loops, AreSoundAfterAllShortSequences) {
  constexpr std::size_t kLength = 5;
  std::vector<Event> events;
  std::int64_t looked_at = 0;
  const auto explore = [&](const auto& more) -> bool {
    if (!events.empty()) {
      World world;
      for (const Event e : events) world.happen(e);
      world.look();
      ++looked_at;
      EXPECT_EQ(world.wrong, "") << told(events);
      if (!world.wrong.empty()) return false;
    }
    for (int e = 0; e < kEvents && events.size() < kLength; ++e) {
      events.push_back(static_cast<Event>(e));
      const bool fine = more(more);
      events.pop_back();
      if (!fine) return false;
    }
    return true;
  };
  explore(explore);
  EXPECT_GT(looked_at, 1'000'000);
}

// To look at all of them each time took 30 s for 40,000 calls that waited for data.
TEST(Loops, WhereManyAreListedAnotherComesFirstNowAndThen) {
  constexpr int kListed = 8'192, kAsked = 4'096;
  World world;
  for (int k = 0; k < kListed; ++k) world.happen(k % 2 == 0 ? Event::push : Event::push_within);
  EXPECT_EQ(world.changes(kAsked), kAsked / (kListed / 1024 * 8));
  world.look();
  EXPECT_EQ(world.wrong, "");
}

TEST(Loops, AreSoundAfterLongSequences) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    World world;
    std::vector<Event> events;
    for (int k = 0; k < 60 && world.wrong.empty(); ++k) {
      events.push_back(static_cast<Event>(random() % kEvents));
      world.happen(events.back());
      world.look();
    }
    ASSERT_EQ(world.wrong, "") << "seed " << seed << ": " << told(events);
  }
}

}  // namespace
}  // namespace tessera::runtime
