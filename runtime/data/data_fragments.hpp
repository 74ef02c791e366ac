// DataFragments: where values are, who waits for them, and how they travel (docs/messages.md).
//
// The home of a fragment is the rank where its scope instance lives. A value is assigned on some
// rank: consumers there get it at once; the home is told (Publish, with the value itself when it is
// small). A consumer elsewhere asks the home (Request) and gets the value (Give) from the home or
// from its keeper (Fetch). One Request per value and rank, however many fragments wait there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/data/table.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/scopes.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::abi {
struct Worker;
}

namespace tessera::runtime {

class Node;
using abi::Worker;

class DataFragments {
 public:
  explicit DataFragments(Node&);

  // Gives the fragment its inputs. True: all are in its slots. False: it waits, and whichever thread
  // brings the last one calls Node::arrived (it may already have happened).
  // Inputs set in `put_down` are under way without being asked for, or have come already.
  bool gather(Worker&, abi::Cf*, std::uint64_t put_down = 0);

  // Who assigns: a statement (its block), under a scope whose count keeps the name alive.
  struct Assigner {
    std::uint32_t block;
    ScopeRecord* scope;
    const abi::Cf* cf = nullptr;  // with `output`, names the fragment in messages; may be null
    std::uint32_t output = 0;
    const abi::Places* to = nullptr;  // of readers that do not ask
  };
  // Takes the reference. Throws ProgramError when the name has a value already.
  void assign(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v) { assign(w, by, n, v, -1); }

  // The same for a name with known uses: so many fragments will read it.
  void assign_used(Worker&, const Assigner&, const abi::Name&, abi::Value*, std::int64_t uses);

  // A gathered fragment begins to run: the homes of its inputs are to count that, unless they have (uses.cpp).
  void note_uses(const abi::Cf* c) {
    for (unsigned k = 0; k < c->block->input_count; ++k) {
      const abi::Value* v = abi::input(c, *c->block, k);
      if (v != nullptr && uses_told(v)) [[unlikely]] return report_uses(c);
    }
  }
  // What homes and holders of copies are still to be told of uses goes out; at most once in a millisecond unless `all`.
  void tell_uses_now(Clock::time_point now, bool all = false);
  Clock::time_point next_telling(Clock::time_point otherwise) const {
    return any_untold_.load(std::memory_order_relaxed) ? next_telling_ : otherwise;
  }

  // Everything of this scope, here and elsewhere; true when other ranks had to be told.
  bool free_scope(ScopeRecord*);

  // data/lifetimes.cpp: what advice frees before its scope ends. The block is who says so. They throw
  // ProgramError when the advice and the reads can't both be right.
  void free_now(Worker&, const abi::Name&, std::uint32_t block);
  void hint_reads(Worker&, const abi::Cf*, const abi::Name&, std::int64_t n);
  void read_done(Worker&, const abi::Cf*, const abi::Name&, std::uint32_t slot);
  // The statements whose req_count was larger than the number of reads, of the names at home here.
  std::vector<UnreadCounts> unread() const;

  // A fragment goes to another rank before its inputs are gathered: small values of names that are at home here
  // go along. Of names that nobody has assigned yet it returns the inputs as a set; when the
  // shipment is on its way, on(to, Request) puts that rank down for each of `names`.
  std::uint64_t see_off(const abi::Cf*, Rank to, Ship&, std::vector<abi::Name>& names);
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
  void on(Rank from, Gone&&);
  void on(Rank from, Entrust&&);
  void on(Rank from, Keep&&);
  void on(Rank from, Refetch&&);
  // An input that came with a shipment.
  void take_copy(Rank from, PackedInput&&);
  // One that nobody takes here: no more than that its home learns of the value, if it has not.
  void pass_by(Rank from, PackedInput&);

  // data/evacuation.cpp, for a rank that leaves; nothing runs on it.
  // The fragments that wait here, in no list any more; what they had of their inputs is in the table.
  std::vector<abi::Cf*> take_waiting();
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
  void assign(Worker&, const Assigner&, const abi::Name&, abi::Value*, std::int64_t uses);
  void assign_used_away(Worker&, const Assigner&, const abi::Name&, abi::Value*, std::int64_t uses);
  DfEntry* insert(Shard&, const abi::Name&);
  DfEntry* find_or_insert(Shard& shard, const abi::Name& n) {
    DfEntry* e = shard.find(n.id);
    return e != nullptr ? e : insert(shard, n);
  }
  abi::Value* use(Shard&, DfEntry*);
  void list(DfEntry*);
  void share(DfEntry*);
  bool count_down(Shard&, DfEntry*, std::int64_t uses);
  // Large, and may move: its readers at its home are counted when they begin to run, as elsewhere, not when they get it.
  bool counted_late(const abi::Value* v) const { return v->size >= counted_late_; }
  // Of so many readers at home, how many are counted when they get the value.
  std::int64_t counted_now(abi::Value* v, std::int64_t readers) const {
    if (!counted_late(v)) [[likely]] return readers;
    tell_uses(v);
    return 0;
  }
  void free_used(Shard&, DfEntry*);
  bool leaves_scope(DfEntry*);
  void forget_asked(Shard&, DfEntry*);
  void give_to_asking(Worker&, DfEntry*, const abi::Name&);
  bool known_here(const abi::Name&);
  void report_uses(const abi::Cf*);
  void count_use(const abi::Name&);
  void report_used_up(const abi::Name&);
  void put_off_drop(Rank, const abi::Id&);
  void free_at_end(DfEntry*, std::map<Rank, Drop>&);
  void free_shared(ScopeRecord*, std::map<Rank, Drop>&);
  void restore(const abi::Name&, abi::Value*);
  void note_assigner(DfEntry*, const Assigner&) const;
  bool ask(const abi::Name&, DfEntry*);  // whether a message went
  bool made_here(const abi::Cf*, unsigned input) const;
  bool sent_to(Rank, const abi::Cf*, unsigned input) const;
  // The other ranks where fragments wait for this output without having asked, or will.
  std::vector<Rank> due(const Assigner&) const;
  void put_down_due(DfEntry*, const Assigner&, std::int64_t uses);
  void wake(Worker&, std::uint64_t waiters, ValueRef);
  void serve(DfEntry*, const abi::Name&, Rank to);
  void answer(DfEntry*, const abi::Name&, const std::vector<Rank>& asking, const ValueRef&);
  Rank giver_of(DfEntry*, Rank to);
  void keep_promises(DfEntry*, const abi::Name&);
  std::string assigned_twice(std::uint32_t first, std::uint32_t second,
                             const std::string& name) const;
  void note_copy(DfEntry*);
  void forget_copy(DfEntry*);
  bool entrust(DfEntry*);
  void free_here(const abi::Name&, std::uint32_t block);
  void free_entry_early(DfEntry*, const abi::Name&, std::uint32_t block, bool spent);
  std::string freed_text(const std::string& name, std::uint32_t block, bool spent) const;
  std::string count_read(const abi::Name&, std::uint32_t block, std::uint32_t slot);
  std::string set_count(const abi::Name&, std::int64_t reads, std::uint32_t block);
  void note_unread(const DfEntry*);
  void fail_at(const abi::Name&, std::uint32_t block, const std::string& text);
  std::uint64_t hold(ScopeRecord*, Rank home);
  bool is_home(const abi::Name& n) const;
  bool small(const abi::Value* v) const { return v->size <= eager_bytes_; }

  Node& node_;
  const std::uint64_t eager_bytes_, relay_bytes_;  // of RunOptions
  const std::uint64_t counted_late_;               // from this size on
  Table table_;
  std::atomic<std::int64_t> copy_bytes_{0};
  SpinMutex copies_mutex_;
  std::deque<abi::Id> copies_;            // in the order they came; dropped ones linger
  std::atomic<std::int64_t> copies_alive_{0};
  struct Untold {
    Used used;
    Drop drop;
  };
  SpinMutex untold_mutex_;
  std::map<Rank, Untold> untold_;
  std::atomic<bool> any_untold_{false};
  Clock::time_point next_telling_{};
  Clock::time_point next_trim_{};
  mutable SpinMutex unread_mutex_;
  std::map<std::uint32_t, UnreadCounts> unread_;  // by block of the statement with the count
};

}  // namespace tessera::runtime
