// What advice frees before its scope ends: `delete`, `-->`, `drop`, and `req_count`.
//
// The home decides. A `delete` is told to it when its fragment (or everything under its call) has
// finished. For `req_count` the home counts the readers that have begun to run, on whichever rank
// they do: each holds its input by itself, so the value may go when the last one is counted, and a
// reader that moves between ranks before it runs is counted once. Which names have a count at all
// is known to the compiler, so other names cost nothing.
#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "runtime/data/data_fragments.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::runtime {

// hold returns what a message about a name must ask to be acknowledged with, so that it reaches the
// name's home before the scope can end there (scopes.hpp); 0: it does anyway.
std::uint64_t DataFragments::hold(ScopeRecord* scope, Rank home) {
  if (node_.scopes.way_home(scope) == home) return 0;
  scope->count.fetch_add(1, std::memory_order_relaxed);  // until Acked
  return reinterpret_cast<std::uint64_t>(scope);
}

std::string DataFragments::freed_text(const std::string& name, std::uint32_t block,
                                      bool spent) const {
  const std::string by = describe(node_.program, *node_.program.blocks[block]);
  return coded(
      spent ? fmt::format("reads `{}` once more than its `req_count` says, which {} used up", name,
                          by)
            : fmt::format("reads `{}`, which {} deletes: nothing makes the reader come first", name,
                          by),
      "T403");
}

// Fails on behalf of a block that runs elsewhere.
void DataFragments::fail_at(const abi::Name& n, std::uint32_t block, const std::string& text) {
  // The scope must not end before the failure is known to rank 0.
  if (ScopeRecord* s = node_.scopes.find_home(n.scope)) s->count.fetch_add(1);
  const abi::Block& b = *node_.program.blocks[block];
  node_.fail(fmt::format("{}: error: {}\n  in `{}`{}", place(node_.program, b.pos), text, b.text,
                         called_at(node_.program, b)),
             kExitProgram);
}

// The caller holds the shard's lock. Fragments that have gathered it hold references of their own.
void DataFragments::free_entry_early(DfEntry* e, const abi::Name& n, std::uint32_t block,
                                     bool spent) {
  e->flags |= spent ? kDeleted | kSpent : kDeleted;
  e->freed_by = (block + 1) & 0xFFFFFFu;
  abi::release(e->value);
  e->value = nullptr;
  const RemoteSide* side = std::exchange(e->remote, nullptr);
  if (side == nullptr) return;
  for (const Rank r : side->copies) {
    if (r != node_.self()) node_.comm.send(r, Drop{{n.id}});
  }
  for (const Rank r : side->asking) node_.comm.send(r, Gone{n, block, spent});
  delete side;
}

void DataFragments::free_here(const abi::Name& n, std::uint32_t block) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(n.id);
    // All who read it have: it went with the last of them.
    if (e == nullptr && abi::has_known_uses(n)) return;
    if (e == nullptr) e = find_or_insert(shard, n);
    if ((e->flags & kDeleted) != 0) return;
    list(e);
    waiters = std::exchange(e->waiters, 0);
    free_entry_early(e, n, block, false);
  }
  if (waiters == 0) return;
  const Waiter first = waiter_of(waiters);  // they wait for ever: the run ends here
  node_.fail_in(first.cf, 0, freed_text(slot_text(first.cf, first.slot), block, false));
}

void DataFragments::free_now(Worker& w, const abi::Name& n, std::uint32_t block) {
  if (is_home(n)) {
    free_here(n, block);
  } else {
    node_.comm.send(home_of(n), DeleteHint{n, block});
  }
  w.sent = w.sent || node_.ranks() > 1;
}
void DataFragments::on(Rank, DeleteHint&& m) {
  if (node_.scopes.find_home(m.name.scope) != nullptr) free_here(m.name, m.block);
}

void DataFragments::on(Rank, Gone&& m) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(m.name.id);
    if (e == nullptr || e->value != nullptr) return;  // a shipment has brought it
    waiters = std::exchange(e->waiters, 0);
    e->flags &= ~kAsked & 0xFFu;
    keep_promises(e, m.name);
  }
  if (waiters == 0) return;
  const Waiter first = waiter_of(waiters);
  node_.fail_in(first.cf, 0, freed_text(slot_text(first.cf, first.slot), m.block, m.spent));
}

// ---------------------------------------------------------------------------- req_count

// At home. Returns what is wrong, or "".
std::string DataFragments::count_read(const abi::Name& n, std::uint32_t block, std::uint32_t slot) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, n);
  if ((e->flags & kDeleted) != 0) {
    // Behind a `delete` the report of an earlier read may come late.
    if ((e->flags & kSpent) == 0) return "";
    return freed_text(node_.program.blocks[block]->slots[slot].text, e->freed_by - 1u, true);
  }
  RemoteSide& side = remote(e);
  if (++side.reads == side.limit) free_entry_early(e, n, block, true);
  return "";
}

void DataFragments::read_done(Worker& w, const abi::Cf* c, const abi::Name& n, std::uint32_t slot) {
  w.sent = w.sent || node_.ranks() > 1;
  if (!is_home(n)) {
    const std::uint64_t ack = hold(static_cast<ScopeRecord*>(c->scope), home_of(n));
    return node_.comm.send(home_of(n), ReadDone{n, c->block->index, slot, ack});
  }
  const std::string wrong = count_read(n, c->block->index, slot);
  if (!wrong.empty()) throw ProgramError(0, wrong);
}
void DataFragments::on(Rank from, ReadDone&& m) {
  const std::string wrong = count_read(m.name, m.block, m.slot);
  if (!wrong.empty()) return fail_at(m.name, m.block, wrong);
  if (m.ack != 0) node_.comm.send(from, Acked{m.ack});
}

// At home. Returns what is wrong, or "".
std::string DataFragments::set_count(const abi::Name& n, std::int64_t reads, std::uint32_t block) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, n);
  if ((e->flags & kDeleted) != 0) return "";
  RemoteSide& side = remote(e);
  if (side.limit >= 0 && side.limit != reads) {
    return coded(fmt::format("`req_count` says {} reads here and {} at {}", reads, side.limit,
                             describe(node_.program, *node_.program.blocks[side.counted_by])),
                 "T412");
  }
  side.limit = reads;
  side.counted_by = block;
  if (side.reads > reads) {
    return coded(fmt::format("`req_count` says {} read{} here, but there have been {} already",
                             reads, reads == 1 ? "" : "s", side.reads),
                 "T403");
  }
  if (side.reads == reads) {
    if (e->waiters != 0) {
      const Waiter first = waiter_of(e->waiters);
      return coded(fmt::format("`req_count` says {} read{} here, but {} reads it, too", reads,
                               reads == 1 ? "" : "s", describe(node_.program, first.cf)),
                   "T403");
    }
    free_entry_early(e, n, block, true);
  }
  return "";
}

void DataFragments::hint_reads(Worker& w, const abi::Cf* c, const abi::Name& n,
                               std::int64_t reads) {
  if (reads < 0) {
    throw ProgramError(
        0, coded(fmt::format("`req_count` is {}: it must be 0 or more", reads), "T412"));
  }
  w.sent = w.sent || node_.ranks() > 1;
  if (!is_home(n)) {
    const std::uint64_t ack = hold(static_cast<ScopeRecord*>(c->scope), home_of(n));
    return node_.comm.send(home_of(n), ReadsHint{n, reads, c->block->index, ack});
  }
  const std::string wrong = set_count(n, reads, c->block->index);
  if (!wrong.empty()) throw ProgramError(0, wrong);
}
void DataFragments::on(Rank from, ReadsHint&& m) {
  const std::string wrong = set_count(m.name, m.reads, m.block);
  if (!wrong.empty()) return fail_at(m.name, m.block, wrong);
  if (m.ack != 0) node_.comm.send(from, Acked{m.ack});
}

void DataFragments::note_unread(const DfEntry* e) {
  if (e->assigned_by == 0 || e->remote->reads >= e->remote->limit) return;
  const std::lock_guard hold(unread_mutex_);
  UnreadCounts& u = unread_[e->remote->counted_by];
  if (u.times++ == 0) {
    u.block = e->remote->counted_by;
    u.limit = e->remote->limit;
    u.reads = e->remote->reads;
  }
}

std::vector<UnreadCounts> DataFragments::unread() const {
  const std::lock_guard hold(unread_mutex_);
  std::vector<UnreadCounts> all;
  for (const auto& [block, u] : unread_) all.push_back(u);
  return all;
}

}  // namespace tessera::runtime
