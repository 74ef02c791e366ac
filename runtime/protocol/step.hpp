// What happens to a data fragment on one rank, and what that rank does about it: a pure machine. It has no clock, no
// threads and no transport; the same entry, event and view always give the same actions. runtime/data carries them out
// under the shard's lock; tests/protocol walks through all orders in which the events of small worlds can come.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "runtime/protocol/entry.hpp"

namespace tessera::protocol {

// Sizes in bytes from which values are treated in another way.
struct Limits {
  std::uint64_t eager = 4096;   // up to this size a value goes to its home with the word that it is assigned
  std::uint64_t relay = 65536;  // from this size on, ranks that have it give it to further ones
  std::uint64_t counted_late =
      ~std::uint64_t{0};     // from this size on, readers at home are counted when they begin to run
  std::uint64_t stays = 64;  // up to this size it stays with a home that leaves
};

// All that a rank sees besides the entry.
struct View {
  Rank self = kNobody, home = kNobody;
  bool known_uses = false;     // the translator has counted who reads the name
  bool sweeps = false;         // what nobody can read any more of the name goes before its scope
  bool scope_lives = true;     // home: the name's scope has not ended
  bool steady = true;          // no rank has left or joined the run
  bool left = false;           // this rank has once taken no part in it
  bool swept = false;          // this rank takes no part and has given everything away
  Rank next_keeper = kNobody;  // with `swept`: who is to keep values for it
  std::int64_t waiting = 0;    // fragments that wait here for the value
  std::uint64_t size = 0;      // of the value that is here, or comes with the event
  Limits limits{};

  bool at_home() const { return self == home; }
  bool small() const { return size <= limits.eager; }
  bool relayed() const { return size >= limits.relay; }
  bool late() const { return size >= limits.counted_late; }
};

// ---- What happens here.
struct Wanted {           // a fragment begins to wait for it
  bool promised = false;  // it came with the word that the value will be sent
};
struct WantedByAll {};  // a rank has left or joined: what was to come unasked may not
struct Assigned {
  std::uint32_t block = 0;
  std::int64_t uses = -1;                  // so many fragments will read it; -1: not known
  const std::vector<Rank>* due = nullptr;  // other ranks where fragments wait for it without having asked, or will
  bool may_wait = false;                   // Tell comes soon
};
struct Tell {};      // it was kept back from its home for long enough
struct UsedHere {};  // elsewhere: a reader of what is kept back has begun to run
struct SeenOff {
  Rank to;
};                  // home: a fragment that reads it goes to another rank before it has its inputs
struct GoesAlong {  // a fragment that holds the value goes to another rank
  Rank to;
  bool at_once;  // before anything else goes there
};
struct PutBack {};  // a fragment that holds the value is going to look for it again, perhaps on another rank
struct Used {};     // home: a reader has begun to run
struct Read {
  std::uint32_t block = 0;
};              // home: a reader of a name with a req_count has begun to run
struct Limit {  // home: a req_count
  std::int64_t reads = 0;
  std::uint32_t block = 0;
};
struct Free {
  std::uint32_t block = 0;
};                // home: advice frees it
struct Evict {};  // the cache of copies is full
struct Leave {};  // this rank gives everything away
struct End {};    // home: its scope has ended

// ---- What messages of the same name say (runtime/comm/messages.hpp); `from` is their sender.
struct Request {
  Rank from;
  bool lost = false;
  bool known = false;  // the home has had an entry since this was on its way: if it has none now, the value was freed
};
struct Publish {
  Rank from;
  std::uint32_t block = 0;
  bool value = false;  // comes with it
  bool given = false;
  std::int64_t uses = -1;
  const std::vector<Rank>* due = nullptr;
};
struct Fetch {
  Rank to;
};
struct Give {};
struct Shipped {  // an input that came with fragments
  Rank from;
  bool unheard = false;
};
struct Handed {};  // the fragments that it came with have got it
struct Copied {
  Rank from;
};
struct Drop {
  Rank from = kNobody;
};
struct UsedUp {
  Rank from;
};
struct Gone {};
struct Entrust {
  Rank from;
};
struct Keep {
  Rank from;
};

using Event = std::variant<Wanted, WantedByAll, Assigned, Tell, UsedHere, SeenOff, GoesAlong, PutBack, Used, Read,
                           Limit, Free, Evict, Leave, End, Request, Publish, Fetch, Give, Shipped, Handed, Copied, Drop,
                           UsedUp, Gone, Entrust, Keep>;

// ---- What is to be done about it.

// Messages, and what their further fields mean.
enum class Say : std::uint8_t {
  request,  // `flag`: it may have been given to this rank, and lost
  fetch,    // `whom` is to get it
  give,     // with the value
  copied,
  drop,        // `whom`, if set, is told by the receiver, who has sent it the value
  drop_later,  // a drop that may wait for others
  used_up,     // may wait for others, too
  gone,
  refetch,  // `whom` was to get it from here
  entrust,  // with the value
  keep,     // with the value
};
struct Send {
  Say say;
  Rank to;
  Rank whom = kNobody;
  bool flag = false;
  friend bool operator==(const Send&, const Send&) = default;
};
// The Publish that is to be sent, if it is.
struct Publishing {
  bool out = false;
  bool value = false, given = false;
  std::int64_t uses = -1;
  std::vector<Rank> due;
};

enum class Fault : std::uint8_t {
  none,
  assigned_twice,   // Entry::assigned_by is who was first
  read_freed,       // who waits here reads what is freed
  read_too_often,   // more reads than the req_count
  limits_differ,    // two statements with different req_counts
  limit_too_small,  // there have been more reads before the req_count was said
  limit_unmet,      // the fragment that waits here is one too many
};

// How a fragment on its way to another rank gets the value there.
enum class Travels : std::uint8_t {
  not_along,  // it is there, or its reader asks for it
  along,      // in the shipment
  promised,   // it will be sent: the home puts the receiver down when the shipment has left, or another rank has been
              // told to send it
};

// Which of the lists of its scope the entry is to be on.
enum class Listed : std::uint8_t { as_before, may_leave, stays };

struct Actions {
  std::vector<Send> sends;
  Publishing publish;
  bool wake = false;       // who waits here gets the value
  bool tell_uses = false;  // mark the value: who begins to run with it tells its home
  bool untold = false;     // it is kept back: a Tell is due
  bool forget = false;  // the entry goes. Of one that may leave its scope's list: unless that is ending, and frees it
  Listed listed = Listed::as_before;
  Travels travels = Travels::not_along;
  bool unheard = false;  // with Travels::along: the value's home may not have heard of it
  Fault fault = Fault::none;

  void say(Say what, Rank to, Rank whom = kNobody, bool flag = false) { sends.push_back({what, to, whom, flag}); }
  void clear() {
    sends.clear();
    publish.due.clear();
    publish.out = publish.value = publish.given = wake = tell_uses = untold = forget = unheard = false;
    listed = Listed::as_before;
    travels = Travels::not_along;
    fault = Fault::none;
  }
};

// The value of an entry is where its state says (has_value): a state that comes to have one takes the event's, one that
// has it no more lets it go when the messages are out.
void step(Entry&, const Wanted&, const View&, Actions&);
void step(Entry&, const WantedByAll&, const View&, Actions&);
void step(Entry&, const Assigned&, const View&, Actions&);
void step(Entry&, const Tell&, const View&, Actions&);
void step(Entry&, const UsedHere&, const View&, Actions&);
void step(Entry&, const SeenOff&, const View&, Actions&);
void step(Entry&, const GoesAlong&, const View&, Actions&);
void step(Entry&, const PutBack&, const View&, Actions&);
void step(Entry&, const Used&, const View&, Actions&);
void step(Entry&, const Read&, const View&, Actions&);
void step(Entry&, const Limit&, const View&, Actions&);
void step(Entry&, const Free&, const View&, Actions&);
void step(Entry&, const Evict&, const View&, Actions&);
void step(Entry&, const Leave&, const View&, Actions&);
void step(Entry&, const End&, const View&, Actions&);
void step(Entry&, const Request&, const View&, Actions&);
void step(Entry&, const Publish&, const View&, Actions&);
void step(Entry&, const Fetch&, const View&, Actions&);
void step(Entry&, const Give&, const View&, Actions&);
void step(Entry&, const Shipped&, const View&, Actions&);
void step(Entry&, const Handed&, const View&, Actions&);
void step(Entry&, const Copied&, const View&, Actions&);
void step(Entry&, const Drop&, const View&, Actions&);
void step(Entry&, const UsedUp&, const View&, Actions&);
void step(Entry&, const Gone&, const View&, Actions&);
void step(Entry&, const Entrust&, const View&, Actions&);
void step(Entry&, const Keep&, const View&, Actions&);
void step(Entry&, const Event&, const View&, Actions&);

// A name that was not known here begins to be.
void begin(Entry&, const View&);

}  // namespace tessera::protocol
