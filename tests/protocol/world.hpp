// World: a small cluster around the machine of runtime/protocol. Ranks, fragments that read and make names of one
// scope, messages on their way, what a balancer may move, a cache that evicts, a rank that leaves. A world is a value:
// it can be copied, compared by its bytes, and asked what can happen next; carrying that out yields another world.
//
// What is not the machine here is written after runtime/node and runtime/data, as simply as it can be: everything a
// rank does at once is one step. What a shipment brings is three (Landing), since other threads go on meanwhile. The
// scope's count travels as in runtime/data/scopes.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/protocol/counting.hpp"
#include "runtime/protocol/step.hpp"
#include "tests/protocol/broken.hpp"

namespace tessera::protocol {

inline constexpr int kRanks = 5, kNames = 2, kFragments = 5;

// ---- What does not change.
struct NameOf {
  bool uses_known = false;
  std::uint64_t size = 1;
  bool deleted = false;  // whoever reads it last deletes it
  bool awaited = false;  // readers that are placed where its maker is do not ask
};
struct FragmentOf {
  std::uint8_t reads = 0, makes = 0;  // sets of names
  int place = 0;                      // rank where it is sent when it is created
  std::uint8_t expects = 0;           // of what it reads: the maker knows where it is placed, and sends it there
  std::uint8_t takes_back = 0;        // set of names: readers that it would have made, at its own place
};
struct Setting {
  std::string name;
  int ranks = 2;
  std::vector<NameOf> names;
  std::vector<FragmentOf> fragments;
  int moves = 0;  // of fragments that are ready, in all
  int evictions = 0;
  int aheads = 0;                // values are sent for before who reads them waits for them
  std::vector<int> leaves = {};  // these ranks may leave, in this order
  bool joins = false;            // and the first one join again
  int spare = -1;                // this rank takes no part, but may join
  Limits limits{.eager = 10, .relay = 100, .counted_late = 1000, .stays = 2};
};
// The machine, or a broken one.

// ---- What does.
enum class Kind : std::uint8_t {
  request,
  publish,
  acked,
  fetch,
  give,
  copied,
  drop,
  free,
  used,
  used_up,
  gone,
  refetch,
  entrust,
  keep,
  ship,
  scope_return,
  change,
  taken_back
};
struct Message {
  Kind kind;
  std::uint8_t name = 0;
  std::int8_t rank = -1;             // fetch, refetch, drop: for whom; change: who
  std::uint8_t due = 0;              // publish: set of ranks
  bool value = false, flag = false;  // publish: with its value, given; request: lost; change: joins
  std::int8_t uses = -1;
  bool ack = false;
  std::int8_t fragment = -1;                           // ship
  std::uint8_t inputs = 0, unheard = 0, promised = 0;  // ship: sets of names
  bool moved = false;
  std::int8_t count = 1;  // scope_return
  std::int8_t from = 0, to = 0;
};
struct Slot {
  Entry entry;  // State::none: there is none
  bool value = false;
  bool listed = false;       // its scope finds it at its end
  bool stays = false;        // ... on a list that it can't leave
  bool linked = false;       // ... or on one that it may leave, by what it knows of others
  bool told = false;         // the value is marked: who begins to run with it tells its home
  std::uint8_t waiting = 0;  // set of fragments
};
enum class Phase : std::uint8_t { unborn, aboard, flying, waiting, ready, done };
struct Fragment {
  Phase phase = Phase::unborn;
  std::int8_t at = 0;
  std::int8_t to = -1;                    // aboard
  std::uint8_t holds = 0, told = 0;       // sets of names
  std::uint8_t inputs = 0, promised = 0;  // aboard
  bool moved = false;
};
struct Part {  // of the scope, on one rank
  std::int8_t count = 0;
  std::int8_t engaged_by = -1;
  bool open = false;
};
struct Member {
  bool steady = true, parked = false, swept = false, left = false;
  std::uint8_t taking_part = 0;  // set of ranks, as far as it knows
};
// A fragment that came with values, which are there. Then it begins to wait, and then they are handed over. Meanwhile
// the rank takes nothing else that comes, moves and evicts nothing (one thread does all that), but whatever is ready
// may run.
struct Landing {
  std::int8_t fragment = -1;  // none
  bool waits = false;
  std::uint8_t promised = 0, unheard = 0;  // sets of names
};
// What a rank has put off telling another.
struct Later {
  std::array<std::uint8_t, kNames> used{};
  std::uint8_t used_up = 0, drops = 0;
  std::array<std::uint8_t, kNames> passed{};  // drops, for sets of ranks
};

enum class Does : std::uint8_t { submit, depart, deliver, run, move, evict, ahead, tell, publish, leave, join, hand };
struct Choice {
  Does does;
  std::int8_t a = 0, b = 0;
};

class World {
 public:
  World(const Setting&, const Step&);
  World(const World&);
  World& operator=(const World&);

  // All that can happen next. Empty: it is the end.
  std::vector<Choice> choices() const;
  // What went wrong, or "".
  std::string take(const Choice&);
  // What is wrong with a world in which nothing can happen any more, or "".
  std::string wrong_at_the_end() const;
  // For telling worlds apart.
  void write(std::string& bytes) const;
  // As a line for a person; before it is taken.
  std::string tell(const Choice&) const;

 private:
  bool known_uses(int n) const { return setting_->names[static_cast<std::size_t>(n)].uses_known; }
  View view(int rank, int name) const;
  // Lets it happen, and carries it out as runtime/data does. `brought`: the event comes with the value, marked or not.
  const Actions& happens(int rank, int name, const Event&, bool brought = false, bool marked = false);
  void send(int from, int to, Message);
  const Message* next(int from, int to) const;  // on its way; null: none is
  void wake(int rank, int name, std::uint8_t fragments, bool marked);
  void start(int fragment, std::uint8_t promised);
  void submit(int fragment);
  void depart(int fragment);
  void run(int fragment);
  void board(int fragment, int to, bool at_once);
  void deliver(int from, int to);
  void arrive(int from, int to, const Message&);
  void hand(int rank);  // the next step of what has landed
  void leave_scope(int rank, int count = 1);
  bool use_to_be_told(int name) const;  // to its home, of a fragment that runs elsewhere
  void tell_later(int from, int to);
  void publish(int rank, int name, int by, const Publishing&);
  void change(int rank, int who, bool joins);
  void sweep(int rank);
  int next_target(int rank) const;
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  std::uint8_t due(int rank, int fragment, int name) const;

  const Setting* setting_;
  const Step* step_;
  std::array<std::array<Slot, kNames>, kRanks> slots_;
  std::vector<Message> wires_;  // of each pair of ranks together, in their order
  std::array<Fragment, kFragments> fragments_;
  std::array<Part, kRanks> parts_;
  std::array<Member, kRanks> members_;
  std::array<Landing, kRanks> landing_;
  std::array<std::array<Later, kRanks>, kRanks> later_;  // of a rank for another
  std::array<std::uint8_t, kNames> runs_{};              // readers that have run
  std::array<std::uint8_t, kRanks> kept_back_{};         // sets of names, each with a count of the scope
  int moves_left_ = 0, evictions_left_ = 0, aheads_left_ = 0;
  std::size_t left_ = 0;  // of Setting::leaves
  bool may_join_ = false, spare_rests_ = false, ended_ = false;
  Actions actions_;
  std::string wrong_;
};

// What walking through all orders has found.
struct Found {
  std::int64_t states = 0;
  bool complete = false;  // there was no more to see; of a walk: it came to an end
  std::string wrong;      // the first thing, with the shortest way to it as a transcript
};
Found explore(const Setting&, const Step&, std::int64_t most_states);
// The same of one way through the world, which is too deep to be explored.
Found walk(const Setting&, const Step&, std::uint64_t seed);
// The machine as it is.
Step real();

}  // namespace tessera::protocol
