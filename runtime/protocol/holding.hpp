// Holds, at a name's home: which deletes wait for readers that the runtime has not made yet. A pure machine, as
// step.hpp.
//
// A statement that holds a name (with some of its indices) says so to the name's home before it is created, and says
// when everything under it has finished. A `delete` frees an element when all have finished that held it, or what it is
// part of, at the time.
//
// Between ranks: whoever is created before a delete has said so before, but perhaps on another rank than the one that
// deletes. So the home, told of a delete, first asks all ranks to answer: as messages of a pair keep their order, what
// they have said before is there then. One round at a time, for all deletes told since the last one.
//
// What deletes of a swept name would free goes without them, only later. So that they do not pile up behind a loop that
// lives to the end of the program, they are looked through when there are twice as many, and those that have nothing
// left to free are forgotten. One that would have to wait for more than a few loops is forgotten at once: where many
// are made ahead, each delete would wait for each of them.
//
// Without deletes other names would stay, so theirs wait for as many as there are. Those that come one behind the other
// and have the same to wait for wait as one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

namespace tessera::protocol {

using Id = std::array<std::uint64_t, 2>;

struct Element {
  std::uint64_t scope = 0;  // without marks
  Id id{};
};
struct Delete {
  std::uint64_t scope = 0;
  std::vector<Id> parts;    // it, the last one, and what it is part of
  bool all = false;         // it may be held as part of something else, too
  bool swept = false;       // without it, it would go when nobody can read it any more
  std::uint32_t block = 0;  // whose statement it is
  std::uint64_t marks = 0;  // whatever else comes with the name
};

// ---- What happens at the home.
struct Held {  // `by` is about to be created
  Element what;
  Id by{};
};
struct LetGo {
  Element what;
  Id by{};
  bool of_body = false;  // it held until all in the body was created, not until it had finished
};
struct Deletes {
  Delete what;
};
struct Answered {};  // another rank, to the question of this round
struct ScopeEnds {
  std::uint64_t scope = 0;
};
struct Swept {  // what these deletes would free has gone before
  std::vector<std::uint64_t> deletes;
};
using HoldingEvent = std::variant<Held, LetGo, Deletes, Answered, ScopeEnds, Swept>;

// ---- What is to be done about it.
struct HoldingActions {
  bool ask_all = false;       // each other rank: answer
  bool look = false;          // which of those that wait have nothing left to free
  std::vector<Delete> frees;  // nobody holds what these free
};

struct Holding {
  struct Other {
    Id id{};  // of what it frees
    std::uint32_t block = 0;
  };
  struct Waiting {
    Delete of;
    std::vector<Other> others;  // that have the same to wait for; else as `of`
    std::int64_t holds = 0;     // that have not finished
    bool again = false;         // a body that it waited for has made loops since, which hold the name, too
  };
  struct Holder {
    // How often it holds: two indices may be the same element. Below 0: it has let go before the word that it holds has
    // come, from another rank.
    std::int32_t times = 0;
    std::vector<std::uint64_t> deletes;  // numbers of those that wait for it
  };
  using OfName = std::map<Id, Holder>;
  std::map<std::uint64_t, std::map<Id, OfName>> scopes;
  std::map<std::uint64_t, Waiting> waiting;
  std::uint64_t number = 0;             // of the last delete that has had to wait, with others or not
  std::uint64_t changes = 0;            // of who holds
  std::uint64_t joins_at = ~0ull;       // then others may join that one
  std::vector<Delete> told, asked_for;  // since the last round began; in it
  std::int32_t answers = 0;             // still missing in this round
  std::size_t look_at = kLeastToLook;   // when so many wait: twice what the last look has left
  static constexpr std::size_t kLeastToLook = 1024;
  static constexpr std::int64_t kMostWaitedFor = 16;  // by a delete of a swept name
};
void step(Holding&, const HoldingEvent&, std::int32_t ranks, HoldingActions&);

}  // namespace tessera::protocol
