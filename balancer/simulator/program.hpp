// Program: what the simulated ranks execute, seen from the simulator. A program says which items
// are born and what each makes when it finishes; ranks, queues, links and policies are not its
// business. Programs of millions of items never hold them all: they make them as others finish.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer::simulator {

// Item is one ready fragment on its way through queues, shipments and threads. Plain and small:
// there may be hundreds of millions, one after the other.
struct Item {
  std::uint64_t state = 0;  // the program's own: the number of a fragment, a position of N-Queens
  Time weight = 0;          // ns of work on a rank of speed 1
  std::int64_t bytes = 0;   // its part in GroupLoad::bytes where it is now; kept by the cluster
  std::uint32_t extra = 0;  // the program's own: a depth, ...
  std::uint16_t group = 0;
  std::uint16_t moves = 0;  // how often it was shipped
};
static_assert(sizeof(Item) == 32);

// Births is a run of items that come to be at one time on one rank without a parent.
struct Births {
  Time at = 0;
  Rank rank{0};
  std::uint64_t first = 0;  // the program's own numbers
  std::uint64_t count = 1;
};

// Note is a message between the parts of a program on two ranks.
struct Note {
  std::uint32_t kind = 0;
  std::uint32_t extra = 0;
  std::uint64_t id = 0;
  bool asks = false;  // for the value of that fragment
};

// Effects is what a program may ask of the cluster from within its callbacks.
class Effects {
 public:
  virtual void ready(Rank here, const Item&) = 0;  // an item has all it needs to run here
  // A message over the link; arrives as Program::arrived.
  virtual void send(Rank from, Rank to, std::int64_t bytes, const Note&) = 0;

 protected:
  ~Effects() = default;
};

// How long so much work takes.
inline Time at_speed(Time weight, double speed) { return static_cast<Time>(static_cast<double>(weight) / speed); }

class Program {
 public:
  virtual ~Program() = default;
  virtual const std::vector<GroupInfo>& groups() const = 0;
  virtual std::vector<Births> births() const = 0;
  virtual void born(const Births&, Effects&) = 0;
  virtual void finished(Rank here, const Item&, Effects&) = 0;
  virtual void arrived(Rank here, const Note&, Effects&);

  // Groups whose items wait on a stack: a rank runs its newest first.
  virtual bool newest_first(Group) const { return false; }
  // What of a stack goes into a shipment. In a search the oldest hold most of the work, the newest next
  // to none: half of either end is no half of the work, items from all along the stack are.
  enum class Ships : std::uint8_t { oldest, newest, alternate };
  virtual Ships ships() const { return Ships::oldest; }

  // True: what the live runtime would run on the spot, where and when it is made, is run so: nobody sees
  // it wait, and nobody can ship it. These are items of stacks, and of groups known to be tiny.
  virtual bool runs_on_the_spot() const { return false; }
  // Whether the item is the next turn of `last`, which has just finished and repeats, as calls do each of which reads
  // what the one before has made: who has run that goes on with it at once.
  virtual bool goes_on(const Item& /*last*/, const Item& /*item*/) const { return false; }

  // As runtime/node/retained.hpp: where an item that is ready here is to run, since one of its series was moved.
  virtual Rank settled(const Item&, Rank here) const { return here; }
  // When the item came from outside, for its sojourn; -1: it did not.
  virtual Time came(const Item&) const { return -1; }
  // Where its locator puts the item; -1: it has none.
  virtual Rank home(const Item&) const { return Rank{-1}; }
  // The policy has moved the item.
  virtual void resettle(const Item&, Rank) {}
  // The number of the item's series, 0: of none; the rank where the series belongs; where it runs from now on.
  virtual std::uint64_t series(const Item&) const { return 0; }
  virtual Rank series_home(const Item&) const { return Rank{0}; }
  virtual void settle(std::uint64_t, Rank) {}

  // False: items have no inputs or outputs to speak of, and the following are never called.
  virtual bool has_data() const { return false; }
  // Bytes of inputs that the item, which waits from now on, is the first on this rank to need, as far as other ranks
  // lack them. It runs here: the next one to read these bears them.
  virtual std::int64_t bytes_here(const Item&, Rank here);
  virtual void runs_here(const Item&, Rank) {}
  // Bytes of inputs that `to` lacks and which now travel along; others may be sent it by other ranks.
  virtual std::int64_t board(const Item&, Rank from, Rank to, Effects&);
  // A shipped item is where it was shipped to. False: some input is not; Effects::ready follows.
  virtual bool landed(Rank here, const Item&, Effects&);
  virtual std::int64_t output_bytes(const Item&) const;
  // Puts those first, n of them, for which the least has to travel to `to`.
  virtual void nearest_first(std::span<Item>, std::int64_t n, Rank from, Rank to) const;

  // After the run.
  virtual Time critical_path(double /*speed*/) const { return 0; }  // ns on a rank of this speed; 0: not known
  virtual std::vector<std::string> faults() const { return {}; }
  // What the program computed, for people; empty: nothing worth saying.
  virtual std::string result() const { return {}; }
};

}  // namespace tessera::balancer::simulator
