// All orders in which loops, deletes and what ranks say about them can come: a delete frees after the readers of loops
// created before it, once, and nothing is remembered at the end. And: a machine that is broken is found out.
#include "runtime/protocol/holding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <ostream>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tessera::protocol {

using HoldingStep = std::function<void(Holding&, const HoldingEvent&, std::int32_t, HoldingActions&)>;

// A loop that reads one element and holds it, or what it is part of. With `body`, it makes one more such loop, and
// lets go when it has.
struct LoopOf {
  Id reads{}, holds{};
  int at = 0;  // its rank
  bool body = false;
  bool twice = false;  // two of its indices are the same element
};
struct DeleteOf {
  std::vector<Id> parts;
  bool all = false;
  int at = 0;  // the rank that says it
};
// One rank creates all this, in this order: of loops and deletes in turn those of `order`, a loop where it has `l`.
struct Story {
  std::string name;
  int ranks = 2, creator = 0;
  std::vector<LoopOf> loops;
  std::vector<DeleteOf> deletes;
  std::string order = "llllddd";
  bool swept = false;  // what a delete that waits would free may be gone before, at any time
};
struct BrokenHolding {
  std::string name;
  HoldingStep step;
};
void PrintTo(const Story& s, std::ostream* out) { *out << s.name; }
void PrintTo(const BrokenHolding& b, std::ostream* out) { *out << b.name; }

namespace {

constexpr std::uint64_t kScope = 7;
constexpr Id kWhole{1, 0}, kFirst{1, 1}, kSecond{1, 2};

enum class Says : std::uint8_t { held, let_go, deletes, question, answer, loop, inner, deleter };
struct Word {
  Says says;
  std::uint8_t number = 0;
};
enum class At : std::uint8_t { not_yet, flying, running, has_made, over };

class HoldingWorld {
 public:
  HoldingWorld(const Story& story, const HoldingStep& step) : story_(&story), step_(&step) {
    loops_.resize(story.loops.size());
    inner_.resize(story.loops.size());
    deletes_.resize(story.deletes.size());
    // A loop: first it is held for, then it is created; so each takes two steps.
    std::size_t l = 0, d = 0;
    for (const char c : story.order) {
      if (c == 'l' && l < loops_.size()) {
        steps_.push_back({Says::held, static_cast<std::uint8_t>(l)});
        steps_.push_back({Says::loop, static_cast<std::uint8_t>(l++)});
      } else if (c == 'd' && d < deletes_.size()) {
        steps_.push_back({Says::deleter, static_cast<std::uint8_t>(d++)});
      }
    }
  }

  // Each choice is one function of a copy.
  std::vector<std::function<void(HoldingWorld&)>> choices() const {
    std::vector<std::function<void(HoldingWorld&)>> all;
    if (created_ < steps_.size()) all.emplace_back([](HoldingWorld& w) { w.create(); });
    for (int from = 0; from < story_->ranks; ++from) {
      for (int to = 0; to < story_->ranks; ++to) {
        if (!wires_[index(from)][index(to)].empty())
          all.emplace_back([from, to](HoldingWorld& w) { w.deliver(from, to); });
      }
    }
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (loops_[l] == At::running || loops_[l] == At::has_made) all.emplace_back([l](HoldingWorld& w) { w.run(l); });
      if (inner_[l] == At::running) all.emplace_back([l](HoldingWorld& w) { w.run_inner(l); });
    }
    for (const auto& [number, w] : home_.waiting) {
      if (w.of.swept) all.emplace_back([number = number](HoldingWorld& h) { h.sweep(number); });
    }
    for (std::size_t d = 0; d < deletes_.size(); ++d) {
      if (deletes_[d] == At::running) all.emplace_back([d](HoldingWorld& w) { w.run_delete(d); });
    }
    return all;
  }

  std::string wrong() const { return wrong_; }
  std::string wrong_at_the_end() const {
    for (std::size_t d = 0; d < freed_.size(); ++d) {
      if (d < deletes_.size() && freed_[d] != 1) return "delete " + std::to_string(d) + " never freed";
    }
    const bool forgotten = home_.scopes.empty() && home_.waiting.empty() && home_.told.empty() &&
                           home_.asked_for.empty() && home_.answers == 0;
    return forgotten ? "" : "the home remembers something";
  }

  std::string bytes() const {
    std::string b;
    const auto put = [&b](auto x) { b += std::to_string(static_cast<long long>(x)) + ' '; };
    put(created_);
    for (const auto& row : wires_) {
      for (const auto& wire : row) {
        put(wire.size());
        for (const Word& w : wire) put(w.says), put(w.number);
      }
    }
    for (const At at : loops_) put(at);
    for (const At at : inner_) put(at);
    for (const At at : deletes_) put(at);
    for (const int f : freed_) put(f);
    const auto put_all = [&](const std::vector<Delete>& list) {
      put(list.size());
      for (const Delete& d : list) put(d.block);
    };
    put_all(home_.told), put_all(home_.asked_for), put(home_.answers);
    put(home_.waiting.size());
    for (const auto& [n, w] : home_.waiting) {
      put(n), put(w.of.block), put(w.holds), put(w.again), put(w.others.size());
      for (const Holding::Other& other : w.others) put(other.block);
    }
    put(home_.joins_at == home_.changes);
    for (const auto& [scope, names] : home_.scopes) {
      for (const auto& [id, holders] : names) {
        put(id[1]);
        for (const auto& [by, holder] : holders) {
          put(by[0]), put(by[1]), put(holder.times), put(holder.deletes.size());
          for (const std::uint64_t n : holder.deletes) put(n);
        }
      }
    }
    return b;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static Id of_loop(std::size_t l) { return {100, l}; }
  static Id of_inner(std::size_t l) { return {200, l}; }

  void send(int from, int to, Word word) { wires_[index(from)][index(to)].push_back(word); }
  // Word to the home, which is rank 0: to itself it is there at once.
  void say(int from, Word word) { from == 0 ? hear(0, word) : send(from, 0, word); }

  void create() {
    const Word word = steps_[created_++];
    if (word.says == Says::held) {
      if (story_->loops[word.number].twice) say(story_->creator, word);
      return say(story_->creator, word);
    }
    const bool loop = word.says == Says::loop;
    (loop ? loops_ : deletes_)[word.number] = At::flying;
    send(story_->creator, loop ? story_->loops[word.number].at : story_->deletes[word.number].at, word);
  }

  void deliver(int from, int to) {
    auto& wire = wires_[index(from)][index(to)];
    const Word word = wire.front();
    wire.pop_front();
    switch (word.says) {
      case Says::loop:
        loops_[word.number] = At::running;
        break;
      case Says::inner:
        inner_[word.number] = At::running;
        break;
      case Says::deleter:
        deletes_[word.number] = At::running;
        break;
      case Says::question:
        send(to, from, {Says::answer});
        break;
      default:
        hear(from, word);
    }
  }

  // `number` from 128 on: of the loop that a loop has made.
  void hear(int, Word word) {
    const bool inner = word.number >= 128;
    const std::size_t n = word.number % 128U;
    const Id by = inner ? of_inner(n) : of_loop(n);
    switch (word.says) {
      case Says::held:
        return happens(Held{{kScope, story_->loops[n].holds}, by});
      case Says::let_go:
        return happens(LetGo{{kScope, story_->loops[n].holds}, by, !inner && story_->loops[n].body});
      case Says::deletes:
        return happens(Deletes{{.scope = kScope,
                                .parts = story_->deletes[n].parts,
                                .all = story_->deletes[n].all,
                                .swept = story_->swept,
                                .block = static_cast<std::uint32_t>(n)}});
      default:
        return happens(Answered{});
    }
  }

  void happens(const HoldingEvent& event) {
    HoldingActions actions;
    (*step_)(home_, event, story_->ranks, actions);
    for (int r = 1; r < story_->ranks && actions.ask_all; ++r) send(0, r, {Says::question});
    for (const Delete& d : actions.frees) {
      if (++freed_[d.block] > 1) wrong_ = "freed twice";
      gone_.push_back(d.parts.back());
    }
  }

  void read(const Id& what) {
    for (const Id& id : gone_) {
      if (id == what || id == kWhole) wrong_ = "a reader comes too late";
    }
  }

  // Nobody was left to read it.
  void sweep(std::uint64_t number) {
    ++freed_[home_.waiting.at(number).of.block];
    happens(Swept{{number}});
  }

  void run(std::size_t l) {
    const LoopOf& loop = story_->loops[l];
    const auto number = static_cast<std::uint8_t>(l);
    if (loops_[l] == At::running && loop.body) {
      say(loop.at, {Says::held, static_cast<std::uint8_t>(number + 128)});
      inner_[l] = At::flying;
      send(loop.at, (loop.at + 1) % story_->ranks, {Says::inner, number});
      loops_[l] = At::has_made;
      return;
    }
    if (!loop.body) read(loop.reads);
    loops_[l] = At::over;
    if (loop.twice) say(loop.at, {Says::let_go, number});
    say(loop.at, {Says::let_go, number});
  }
  void run_inner(std::size_t l) {
    read(story_->loops[l].reads);
    inner_[l] = At::over;
    say((story_->loops[l].at + 1) % story_->ranks, {Says::let_go, static_cast<std::uint8_t>(l + 128)});
  }
  void run_delete(std::size_t d) {
    deletes_[d] = At::over;
    say(story_->deletes[d].at, {Says::deletes, static_cast<std::uint8_t>(d)});
  }

  const Story* story_;
  const HoldingStep* step_;
  std::vector<Word> steps_;  // of the creator
  std::size_t created_ = 0;
  std::array<std::array<std::deque<Word>, 3>, 3> wires_;
  std::vector<At> loops_, inner_, deletes_;
  std::array<int, 4> freed_{};
  std::vector<Id> gone_;
  Holding home_;
  std::string wrong_;
};

struct Result {
  std::string wrong;
  std::size_t worlds = 0;
};
Result explore_all(const Story& story, const HoldingStep& step) {
  std::unordered_set<std::string> seen;
  std::deque<HoldingWorld> next{HoldingWorld(story, step)};
  Result result;
  while (!next.empty()) {
    const HoldingWorld world = std::move(next.front());
    next.pop_front();
    ++result.worlds;
    const auto choices = world.choices();
    if (choices.empty()) result.wrong = world.wrong_at_the_end();
    for (const auto& choice : choices) {
      HoldingWorld then(world);
      choice(then);
      if (result.wrong.empty()) result.wrong = then.wrong();
      if (seen.insert(then.bytes()).second) next.push_back(std::move(then));
    }
    if (!result.wrong.empty()) break;
  }
  return result;
}

std::vector<Story> stories() {
  return {
      {"one loop on another rank, deleted on a third", 3, 1, {{kFirst, kFirst, 1}}, {{{kWhole, kFirst}, false, 2}}},
      {"the home creates it all", 3, 0, {{kFirst, kWhole, 1}}, {{{kWhole, kFirst}, false, 2}}},
      {"two loops, each with a part of its own",
       3,
       1,
       {{kFirst, kFirst, 0}, {kSecond, kSecond, 2}},
       {{{kWhole, kFirst}, false, 2}, {{kWhole, kSecond}, false, 0}}},
      {"a body that makes a loop", 3, 1, {{kFirst, kWhole, 2, true}}, {{{kWhole, kFirst}, false, 0}}},
      {"a body and a loop, and two deletes that share a round or do not",
       3,
       2,
       {{kFirst, kFirst, 1, true}, {kSecond, kWhole, 0}},
       {{{kWhole, kFirst}, false, 1}, {{kWhole, kSecond}, false, 2}}},
      {"two deletes that wait as one, for a loop and a body",
       2,
       1,
       {{kFirst, kWhole, 0, true}, {kSecond, kWhole, 1}},
       {{{kWhole, kFirst}, false, 1}, {{kWhole, kSecond}, false, 0}}},
      {"a delete, a loop that holds what another one frees, and that one",
       2,
       0,
       {{kFirst, kWhole, 1}, {kSecond, kWhole, 1}},
       {{{kWhole, kFirst}, false, 1}, {{kWhole, kSecond}, false, 0}},
       "ldld"},
      {"a delete of what is held itself as well",
       2,
       0,
       {{kFirst, kWhole, 1}, {kSecond, kSecond, 1}},
       {{{kWhole, kFirst}, false, 1}, {{kWhole, kSecond}, false, 0}},
       "lldd"},
      {"a delete, then a loop with one more",
       3,
       1,
       {{kFirst, kFirst, 2}, {kSecond, kSecond, 0}},
       {{{kWhole, kFirst}, false, 0}, {{kWhole, kSecond}, false, 2}},
       "ldld"},
      {"a loop that holds the same twice", 3, 1, {{kFirst, kFirst, 2, false, true}}, {{{kWhole, kFirst}, false, 0}}},
      {"all of it is deleted while parts are held",
       2,
       1,
       {{kFirst, kFirst, 1}, {kSecond, kSecond, 0, true}},
       {{{kWhole}, true, 1}}},
      {"loops and two deletes, which may have nothing left to free",
       2,
       1,
       {{kFirst, kWhole, 0, true}, {kSecond, kSecond, 1}},
       {{{kWhole, kFirst}, false, 1}, {{kWhole, kSecond}, true, 0}},
       "llldd",
       true},
  };
}

std::vector<BrokenHolding> broken() {
  const auto real = [](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
    step(h, e, ranks, a);
  };
  return {
      {"a delete asks nobody",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         real(h, e, std::holds_alternative<Deletes>(e) ? 1 : ranks, a);
       }},
      {"one answer is enough",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         if (std::holds_alternative<Answered>(e)) h.answers = 1;
         real(h, e, ranks, a);
       }},
      {"a delete waits with the last one, whoever holds since",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         h.joins_at = h.changes;
         real(h, e, ranks, a);
         h.joins_at = h.changes;
       }},
      {"a delete joins the round that has begun",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         if (h.answers > 0 && std::holds_alternative<Deletes>(e)) {
           h.asked_for.push_back(std::get<Deletes>(e).what);
         } else {
           real(h, e, ranks, a);
         }
       }},
      {"what a body has made is not waited for",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         LetGo let_go;
         if (!std::holds_alternative<LetGo>(e)) return real(h, e, ranks, a);
         let_go = std::get<LetGo>(e);
         let_go.of_body = false;
         real(h, let_go, ranks, a);
       }},
      {"who holds the whole is not waited for",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         if (!std::holds_alternative<Deletes>(e)) return real(h, e, ranks, a);
         Deletes deletes = std::get<Deletes>(e);
         deletes.what.parts.erase(deletes.what.parts.begin(), deletes.what.parts.end() - 1);
         real(h, deletes, ranks, a);
       }},
      {"who holds a part is not waited for",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         if (!std::holds_alternative<Deletes>(e)) return real(h, e, ranks, a);
         Deletes deletes = std::get<Deletes>(e);
         deletes.what.all = false;
         real(h, deletes, ranks, a);
       }},
      {"who lets go before the word that it holds has come is not known any more",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         real(h, e, ranks, a);
         for (auto& [scope, names] : h.scopes) {
           for (auto& [id, name] : names)
             std::erase_if(name, [](const auto& holder) { return holder.second.times < 0; });
         }
       }},
      {"who says twice that it holds is forgotten",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         const auto* held = std::get_if<Held>(&e);
         const bool again = held != nullptr && h.scopes.count(held->what.scope) != 0 &&
                            h.scopes[held->what.scope].count(held->what.id) != 0 &&
                            h.scopes[held->what.scope][held->what.id].count(held->by) != 0;
         real(h, e, ranks, a);
         if (again) h.scopes[held->what.scope].erase(held->what.id);
       }},
      {"a delete that has nothing left to free waits on",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         if (!std::holds_alternative<Swept>(e)) real(h, e, ranks, a);
       }},
      {"a delete that has waited is forgotten",
       [real](Holding& h, const HoldingEvent& e, std::int32_t ranks, HoldingActions& a) {
         real(h, e, ranks, a);
         if (std::holds_alternative<LetGo>(e)) a.frees.clear();
       }},
  };
}

const auto story_number = [](const auto& of) { return std::to_string(of.index); };

class HoldingStory : public testing::TestWithParam<Story> {};

TEST_P(HoldingStory, HasNoWayToGoWrong) {
  const Result result = explore_all(GetParam(), [](Holding& h, const HoldingEvent& e, std::int32_t ranks,
                                                   HoldingActions& a) { step(h, e, ranks, a); });
  EXPECT_EQ(result.wrong, "");
  EXPECT_GT(result.worlds, 30U);
  std::printf("%zu worlds\n", result.worlds);
}

INSTANTIATE_TEST_SUITE_P(Protocol, HoldingStory, testing::ValuesIn(stories()), story_number);

class BrokenHoldingMachine : public testing::TestWithParam<BrokenHolding> {};

TEST_P(BrokenHoldingMachine, IsFoundOut) {
  for (const Story& story : stories()) {
    const Result result = explore_all(story, GetParam().step);
    if (result.wrong.empty()) continue;
    std::printf("%s\nis found by %s: %s\n", GetParam().name.c_str(), story.name.c_str(), result.wrong.c_str());
    return;
  }
  FAIL() << "nothing goes wrong with: " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Protocol, BrokenHoldingMachine, testing::ValuesIn(broken()), story_number);

// Of what is swept. Each of many deletes would wait for each of many loops.
TEST(Holding, ADeleteThatWouldWaitForManyLoopsIsForgotten) {
  for (const bool swept : {true, false}) {
    Holding h;
    HoldingActions actions;
    const auto deletes = [&] { step(h, Deletes{{kScope, {kWhole}, true, swept}}, 1, actions); };
    for (std::uint64_t loop = 0; loop < Holding::kMostWaitedFor; ++loop)
      step(h, Held{{kScope, {2, loop}}, {3, loop}}, 1, actions);
    deletes();
    EXPECT_EQ(h.waiting.size(), 1U);
    step(h, Held{{kScope, kWhole}, {3, 99}}, 1, actions);
    deletes();
    EXPECT_EQ(h.waiting.size(), swept ? 1U : 2U);
    EXPECT_TRUE(actions.frees.empty());
    step(h, LetGo{{kScope, kWhole}, {3, 99}}, 1, actions);
    for (std::uint64_t loop = 0; loop < Holding::kMostWaitedFor; ++loop)
      step(h, LetGo{{kScope, {2, loop}}, {3, loop}}, 1, actions);
    EXPECT_EQ(actions.frees.size(), swept ? 1U : 2U);
    EXPECT_TRUE(h.scopes.empty());
  }
}

// Each of them was listed by each of the loops.
TEST(Holding, DeletesThatWaitForTheSameLoopsWaitAsOne) {
  Holding h;
  HoldingActions actions;
  for (std::uint64_t loop = 0; loop < 1000; ++loop) step(h, Held{{kScope, kWhole}, {3, loop}}, 1, actions);
  for (std::uint64_t n = 0; n < 1000; ++n) step(h, Deletes{{.scope = kScope, .parts = {kWhole, {4, n}}}}, 1, actions);
  EXPECT_EQ(h.waiting.size(), 1U);
  EXPECT_TRUE(actions.frees.empty());
  for (std::uint64_t loop = 0; loop < 1000; ++loop) step(h, LetGo{{kScope, kWhole}, {3, loop}}, 1, actions);
  EXPECT_EQ(actions.frees.size(), 1000U);
  EXPECT_TRUE(h.scopes.empty() && h.waiting.empty());
}

// A loop that ends with the program holds a name, whose elements are swept meanwhile.
TEST(Holding, DeletesThatHaveNothingLeftToFreeDoNotPileUp) {
  Holding h;
  HoldingActions actions;
  const Id loop{3, 3};
  step(h, Held{{kScope, kWhole}, loop}, 1, actions);
  std::size_t most = 0, looks = 0;
  for (std::uint64_t n = 0; n < 100'000; ++n) {
    actions = {};
    step(h, Deletes{{.scope = kScope, .parts = {kWhole, {4, n}}, .swept = true}}, 1, actions);
    EXPECT_TRUE(actions.frees.empty());
    most = std::max({most, h.waiting.size(), h.scopes[kScope][kWhole][loop].deletes.size()});
    if (!actions.look) continue;
    ++looks;
    Swept swept;
    for (const auto& [number, w] : h.waiting) {
      if (w.of.parts.back()[1] + 10 < n) swept.deletes.push_back(number);
    }
    step(h, swept, 1, actions);
  }
  EXPECT_EQ(most, Holding::kLeastToLook);
  EXPECT_LT(looks, 110U);
  actions = {};
  step(h, LetGo{{kScope, kWhole}, loop}, 1, actions);
  EXPECT_LT(actions.frees.size(), Holding::kLeastToLook);
  EXPECT_TRUE(h.waiting.empty());
}

// With a scope go its deletes, and no others.
TEST(Holding, TheEndOfAScopeForgetsItsOwnDeletes) {
  Holding h;
  HoldingActions actions;
  constexpr std::uint64_t kOther = kScope + 1;
  for (const std::uint64_t scope : {kScope, kOther}) {
    step(h, Held{{scope, kWhole}, {3, 1}}, 1, actions);
    step(h, Held{{scope, {2, 2}}, {3, 2}}, 1, actions);
    for (std::uint64_t n = 0; n < 3; ++n)
      step(h, Deletes{{.scope = scope, .parts = {kWhole, {2, 2}, {4, n}}}}, 1, actions);
  }
  EXPECT_EQ(h.waiting.size(), 2U) << "three wait as one";
  step(h, ScopeEnds{kScope}, 1, actions);
  step(h, ScopeEnds{kScope + 2}, 1, actions);  // nobody has held anything of it
  EXPECT_EQ(h.waiting.size(), 1U);
  EXPECT_TRUE(actions.frees.empty());
  step(h, LetGo{{kOther, kWhole}, {3, 1}}, 1, actions);
  step(h, LetGo{{kOther, {2, 2}}, {3, 2}}, 1, actions);
  EXPECT_EQ(actions.frees.size(), 3U);
  EXPECT_TRUE(h.waiting.empty());
}

}  // namespace
}  // namespace tessera::protocol
