// DataFragments: the values on this rank, who waits for them, and how they travel (docs/protocol.md, docs/messages.md).
//
// The home of a fragment is the rank where its scope instance lives. A value is assigned on some rank: consumers there
// get it at once; the home is told (Publish, with the value itself when it is small). A consumer elsewhere asks the
// home (Request) and gets the value (Give) from the home or from its keeper (Fetch). One Request per value and rank,
// however many fragments wait there.
//
// What a rank does about whatever happens to a fragment, runtime/protocol says. Here are the table and its locks, the
// waiting slots, the values and the cache of copies: `happens` asks the machine under the shard's lock and carries out
// what it says. What no other rank is involved in is inline.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/data/scopes.hpp"
#include "runtime/data/surroundings.hpp"
#include "runtime/data/table.hpp"
#include "runtime/data/untold.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/protocol/step.hpp"

namespace tessera::abi {
struct Worker;
}

namespace tessera::runtime {

class Communicator;
class Crew;
class Members;
struct RunFacts;
using abi::Worker;

class DataFragments {
 public:
  // All of one rank; they outlive it.
  DataFragments(Surroundings&, const RunFacts&, const Members&, Communicator&, Scopes&, Crew&);

  // Gives the fragment its inputs. True: all are in its slots. False: it waits, and whichever thread
  // brings the last one calls Surroundings::arrived (it may already have happened). Throws (ProgramError) where it
  // can't have them and waits for none; where it waits for others by then, the rank is told that it has failed.
  // Inputs set in `promised` are under way without being asked for, or have come already.
  bool gather(Worker&, abi::Cf*, std::uint64_t promised = 0);

  // Who assigns: a statement (its block), under a scope whose count keeps the name alive.
  struct Assigner {
    std::uint32_t block;
    ScopeRecord* scope;
    const abi::Cf* cf = nullptr;  // with `output`, names the fragment in messages; may be null
    std::uint32_t output = 0;
    const abi::Places* to = nullptr;  // of readers that do not ask
    const abi::Spot* spot = nullptr;  // of a swept name
  };
  // Takes the reference. Throws ProgramError when the name has a value already. With `uses`: so many fragments will
  // read it.
  void assign(Worker&, const Assigner&, const abi::Name&, abi::Value*, std::int64_t uses = -1);

  // The homes of what this worker has assigned hear of what is not used up. Ends scopes: nothing is locked.
  void tell(Worker&);

  // A value of a swept name is there: what nobody can read any more goes.
  void note_swept(Worker&, const abi::Name&, const abi::Spot&, std::uint64_t bytes);
  // So do those of names that this thread's releases have left without a holder.
  void free_left(Worker&);
  // Of several ranks, whose horizons these are (data/swept.cpp): whether fragments wait for this here, or have and left
  // since the cut; what a sweep has found goes, unless it is needed all the same, and stays on the list. `awaited`:
  // elsewhere, by the low halves.
  Horizons* horizons = nullptr;
  bool is_awaited(const abi::Id&);
  void free_dead(std::vector<Horizons::Dead>&, const std::unordered_set<std::uint64_t>& awaited);
  // These came with a fragment that has them now. Those whose home, this rank, had let them go go again.
  void forget_passed(const std::vector<abi::Name>&);

  // A gathered fragment begins to run: the homes of its inputs are to count that, unless they have.
  void note_uses(const abi::Cf* c) {
    for (unsigned k = 0; k < c->block->input_count; ++k) {
      const abi::Value* v = abi::input(c, *c->block, k);
      if (v != nullptr && uses_told(v)) [[unlikely]]
        return report_uses(c);
    }
  }
  Untold untold;
  // Fragments that were counted will not be made: one use less of the name; and what other homes are to hear of that.
  void take_back(Worker&, const abi::Name&);
  // look copies the value of one that is here, of this home, and a number that no other rank reads; it stays, and is
  // not read: looked says that it has been.
  enum class Seen : std::uint8_t { here, not_yet, not_here };
  Seen look(const abi::Name&, abi::Value& copy);
  void looked(const abi::Name&);
  void tell_taken_back(Worker&, const abi::Cf*);

  // Everything of this scope, here and elsewhere; true when other ranks had to be told.
  bool free_scope(ScopeRecord*);

  // data/advice.cpp: what advice frees before its scope ends. The block is who says so. They throw
  // ProgramError when the advice and the reads can't both be right.
  void free_now(Worker&, const abi::Name&, std::uint32_t block);
  bool knows(const abi::Id&);  // a name that is at home here has been assigned, or asked for, and is not gone
  void hint_reads(Worker&, const abi::Cf*, const abi::Name&, std::int64_t n);
  void read_done(Worker&, const abi::Cf*, const abi::Name&, std::uint32_t slot);
  // The statements whose req_count was larger than the number of reads, of the names at home here.
  std::vector<UnreadCounts> unread() const;

  // A fragment goes to another rank before its inputs are gathered: small values of names that are at home here
  // go along. Of names that nobody has assigned yet it returns the inputs as a set; when the
  // shipment is on its way, give_promised puts that rank down for each of `names`.
  std::uint64_t see_off(const abi::Cf*, Rank to, Ship&, std::vector<abi::Name>& names);
  void give_promised(Rank to, const abi::Name&);
  // One that has just come here goes on: so do values of swept names that came with it.
  void take_on(const abi::Cf*, Ship&);
  // A fragment that holds the value goes to another rank: the value goes along if `to` may lack it. True: another
  // rank sends it.
  bool go_along(const abi::Name&, abi::Value* held, Rank to, Ship&, bool leaves_now);

  void on(Rank from, Request&&);
  void on(Rank from, Publish&&);
  void on(Rank from, Fetch&&);
  void on(Rank from, Give&&);
  void on(Rank from, Copied&&);
  void on(Rank from, Drop&&);
  void on(Rank from, DeleteHint&&);
  void on(Rank from, ReadsHint&&);
  void on(Rank from, ReadDone&&);
  void on(Rank from, Used&&);
  void on(Rank from, TakenBack&&);
  void on(Rank from, Gone&&);
  void on(Rank from, Entrust&&);
  void on(Rank from, Keep&&);
  void on(Rank from, Refetch&&);
  // An input that came with a shipment.
  void take_copy(Rank from, PackedInput&&);
  // The fragments that came with a value of which its home may not have heard have got it.
  void handed(const abi::Name&);
  // One that nobody takes here: no more than that its home learns of the value, if it has not.
  void pass_by(Rank from, PackedInput&);

  // data/leaving.cpp, for a rank that leaves; nothing runs on it.
  // The fragments that wait here, in no list any more; what they had of their inputs is in the table.
  std::vector<abi::Cf*> take_waiting();
  // The same of a rank on which nothing will run any more: the values go, too.
  std::vector<abi::Cf*> abandon_waiting();
  // Values go where they are of use; foreign names are forgotten. What went, and what had to stay.
  Left give_away();
  // Ranks leave or join: what was to be made here or to come unasked (made_here, sent_to) is asked for.
  void ask_for_all();

  // Communication thread: evicts copies beyond the limit, oldest untouched first. Cheap when there
  // is nothing to do.
  void trim_copies(Clock::time_point now);

  Table& table() { return table_; }
  std::int64_t copy_bytes() const { return copy_bytes_.load(std::memory_order_relaxed); }

 private:
  // What came of an event. Valid until the thread's next one.
  struct Outcome {
    const protocol::Actions& actions;
    DfEntry* entry;         // null: there is none (any more)
    std::uint64_t waiters;  // to be woken, without the lock
  };
  // The caller holds the shard's lock; `e` is the name's entry, or null. `value`: what the event brings, of rank
  // `from`.
  template <class Event>
  Outcome happens(Shard&, DfEntry* e, const abi::Name&, const Event&, abi::Value* value = nullptr,
                  Rank from = protocol::kNobody);
  // The same with the lock; and who waits gets the value. Returns whether something was sent.
  template <class Event>
  bool happens_here(const abi::Name&, const Event&, abi::Value* value = nullptr, Rank from = protocol::kNobody);
  static protocol::Actions& fresh_actions();  // of this thread
  protocol::View view(const abi::Name&, const abi::Value*) const;
  Outcome carry_out(Shard&, DfEntry*, protocol::Entry& fresh, protocol::State before, const abi::Name&, abi::Value*,
                    Rank from, const protocol::Actions&);
  void send(const protocol::Send&, const abi::Name&, const DfEntry*, abi::Value*);
  void publish(const abi::Name&, std::uint32_t block, ScopeRecord*, const protocol::Publishing&, abi::Value*,
               const abi::Spot* = nullptr);
  void keep_back(Worker&, DfEntry*, ScopeRecord*);

  bool nobody_due(const Assigner&, const DfEntry*, std::int64_t uses) const;
  std::uint64_t assign_alone(Shard&, DfEntry*, const Assigner&, ValueRef&, std::int64_t uses);
  std::uint64_t assign_shared(Worker&, Shard&, DfEntry*, const Assigner&, const abi::Name&, const ValueRef&,
                              std::int64_t uses);
  DfEntry* insert(Shard&, const abi::Name&);
  static bool is_stuck(abi::Cf*, unsigned k, bool waits);
  abi::Value* use(Shard&, DfEntry*);
  abi::Value* use_shared(Shard&, DfEntry*);
  bool want(Worker&, Shard&, DfEntry*, const abi::Name&, const abi::Cf*, unsigned input, std::uint64_t promised);
  void stay_listed(DfEntry*);
  void link(DfEntry*);
  bool leaves_scope(DfEntry*);
  void free_at_end(const abi::Id&, std::map<Rank, Drop>&);
  void free_shared(ScopeRecord*, std::map<Rank, Drop>&);
  void tell_copies(DfEntry*, std::map<Rank, Drop>&) const;
  void free_swept(ScopeRecord*, std::map<Rank, Drop>&);
  void free_dead(Worker&);
  std::int64_t asks_ahead(const abi::Block&) const;
  void ask_ahead(Worker&, const abi::Cf* chain);
  // Of one rank, what a sweep has found goes. It counts for those who have read it: bytes, by groups that have made it.
  using Found = std::vector<std::pair<std::uint32_t, std::int64_t>>;
  void free_found(DfEntry*, Found&) const;
  void tell_found(const Found&);
  bool free_dead(const abi::Id&, std::map<Rank, Drop>&);
  void report_uses(const abi::Cf*);
  bool made_here(const abi::Cf*, unsigned input) const;
  bool sent_to(Rank, const abi::Cf*, unsigned input) const;
  // The other ranks where fragments wait for this output without having asked, or will.
  std::vector<Rank> due(const Assigner&) const;
  void wake(Worker&, std::uint64_t waiters, ValueRef);
  std::string assigned_twice(const std::string& name, const std::string& first, const std::string& second) const;
  [[gnu::cold]] std::string twice_elsewhere(const abi::Name&, std::uint32_t first, std::uint32_t second) const;
  [[noreturn, gnu::cold]] void fail_twice(const DfEntry*, const Assigner&) const;
  std::string freed_text(const std::string& name, std::uint32_t block, bool spent) const;
  void fail_readers(std::uint64_t waiters, std::uint32_t block, bool spent);
  std::string wrong_count(const abi::Name&, const DfEntry*, const protocol::Actions&, std::int64_t reads,
                          std::uint32_t block, std::uint32_t slot) const;
  std::string count_read(const abi::Name&, std::uint32_t block, std::uint32_t slot);
  std::string set_limit(const abi::Name&, std::int64_t reads, std::uint32_t block);
  void note_copy(DfEntry*);
  void forget_copy(DfEntry*);
  void note_unread(const DfEntry*);
  void fail_at(const abi::Name&, std::uint32_t block, const std::string& text);
  std::uint64_t hold(ScopeRecord*, Rank home);
  bool is_home(const abi::Name& n) const;
  void count_off(Shard&, DfEntry*, const abi::Name&);

  Surroundings& rank_;
  const RunFacts& facts_;
  const Members& members_;
  Communicator& comm_;
  Scopes& scopes_;
  Crew& crew_;
  const protocol::Limits limits_;
  Table table_;
  std::atomic<std::int64_t> copy_bytes_{0};
  SpinMutex copies_mutex_;
  std::deque<abi::Id> copies_;  // in the order they came; dropped ones linger
  std::atomic<std::int64_t> copies_alive_{0};
  Clock::time_point next_trim_{};
  mutable SpinMutex unread_mutex_;
  std::map<std::uint32_t, UnreadCounts> unread_;  // by block of the statement with the count
};

}  // namespace tessera::runtime
