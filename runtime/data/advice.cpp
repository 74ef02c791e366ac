// What advice frees before its scope ends (runtime/protocol/advice.cpp), and what is said where advice and reads can't
// both be right.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/data/happens.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/words/assigner.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {

using protocol::Fault;

namespace {
// The counters that would tell such runs apart are often ones that the kernel does not take, so nobody knows them any
// more: `for i = 0..n for j = 0..n set(i, m[i])`.
std::string two_runs(const abi::Block& first, const abi::Block& second) {
  return &first != &second ? ""
                           : ": two runs of one statement, whose indices do not tell all iterations around it apart";
}
}  // namespace

std::string DataFragments::assigned_twice(const std::string& name, const std::string& first,
                                          const std::string& second) const {
  return coded(fmt::format("`{}` is assigned twice: first by {}, then by {}", name, first, second), "T402");
}

// Who was second runs here.
void DataFragments::fail_twice(const DfEntry* e, const Assigner& by) const {
  const abi::Block &first = *facts_.program.blocks[e->assigned_by - 1], &second = *facts_.program.blocks[by.block];
  if (by.cf == nullptr) {
    throw ProgramError(0, assigned_twice(">> (...)", describe(facts_.program, first),
                                         describe(facts_.program, second) + two_runs(first, second)));
  }
  const unsigned slot = by.cf->block->input_count + by.output;
  throw ProgramError(
      0, assigned_twice(slot_text(by.cf, slot), describe_assigner(facts_.program, first, name_of_slot(by.cf, slot)),
                        describe(facts_.program, second) + two_runs(first, second)));
}

// Who was second has run elsewhere. The indices are found from the name, since its scope is here.
std::string DataFragments::twice_elsewhere(const abi::Name& n, std::uint32_t first, std::uint32_t second) const {
  const abi::Block &a = *facts_.program.blocks[first], &b = *facts_.program.blocks[second];
  const ScopeRecord* scope = scopes_.find_home(n.scope);
  const std::optional<Indices> indices = scope == nullptr ? std::nullopt : indices_of(n.id, scope->id);
  std::string name = b.output_count > 0 ? b.slots[b.input_count].text : "a data fragment";
  if (!indices) return assigned_twice(name, describe(facts_.program, a), describe(facts_.program, b) + two_runs(a, b));
  if (const std::optional<unsigned> output = output_of(b, {*indices, true})) {
    const abi::SlotInfo& slot = b.slots[b.input_count + *output];
    name = slot.base;
    const std::size_t own = std::min<std::size_t>(slot.indices, indices->size());
    for (std::size_t k = indices->size() - own; k < indices->size(); ++k) name += fmt::format("[{}]", (*indices)[k]);
  }
  return assigned_twice(name, describe_assigner(facts_.program, a, {*indices, true}),
                        describe_assigner(facts_.program, b, {*indices, true}) + two_runs(a, b));
}

std::string DataFragments::freed_text(const std::string& name, std::uint32_t block, bool spent) const {
  const std::string by = describe(facts_.program, *facts_.program.blocks[block]);
  return coded(spent ? fmt::format("reads `{}` once more than its `req_count` says, which {} used up", name, by)
                     : fmt::format("reads `{}`, which {} deletes: nothing makes the reader come first", name, by),
               "T403");
}

// Fails on behalf of a block that runs elsewhere.
void DataFragments::fail_at(const abi::Name& n, std::uint32_t block, const std::string& text) {
  // The scope must not end before the failure is known to rank 0.
  if (ScopeRecord* s = scopes_.find_home(n.scope)) s->count.add();
  const abi::Block& b = *facts_.program.blocks[block];
  rank_.fail(fmt::format("{}: error: {}\n  in `{}`{}", place(facts_.program, b.pos), text, b.text,
                         called_at(facts_.program, b)),
             kExitProgram);
}

// They wait for ever: the run ends here.
void DataFragments::fail_readers(std::uint64_t waiters, std::uint32_t block, bool spent) {
  const Waiter first = waiter_of(waiters);
  rank_.fail_in(first.cf, 0, freed_text(slot_text(first.cf, first.slot), block, spent));
}

void DataFragments::free_now(Worker& w, const abi::Name& n, std::uint32_t block) {
  if (is_home(n)) {
    on(facts_.self, DeleteHint{n, block});
  } else {
    comm_.send(home_of(n), DeleteHint{n, block});
  }
  w.sent = w.sent || facts_.ranks > 1;
}

bool DataFragments::knows(const abi::Id& id) {
  Shard& shard = table_.shard(id);
  const std::lock_guard hold(shard.mutex);
  return shard.find(id) != nullptr;
}

void DataFragments::on(Rank, DeleteHint&& m) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o = happens(shard, shard.find(m.name.id), m.name, protocol::Free{m.block});
    if (o.actions.fault != Fault::none) waiters = o.entry->waiters;
  }
  if (waiters != 0) fail_readers(waiters, m.block, false);
}

void DataFragments::on(Rank, Gone&& m) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o = happens(shard, shard.find(m.name.id), m.name, protocol::Gone{});
    if (o.actions.fault != Fault::none) waiters = o.entry->waiters;
  }
  if (waiters != 0) fail_readers(waiters, m.block, m.spent);
}

// ---------------------------------------------------------------------------- req_count

// At home. Returns what is wrong, or "".
std::string DataFragments::count_read(const abi::Name& n, std::uint32_t block, std::uint32_t slot) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  const Outcome o = happens(shard, shard.find(n.id), n, protocol::Read{block});
  if (o.actions.fault == Fault::none) return "";
  return freed_text(facts_.program.blocks[block]->slots[slot].text, o.entry->freed_by(), true);
}

void DataFragments::read_done(Worker& w, const abi::Cf* c, const abi::Name& n, std::uint32_t slot) {
  w.sent = w.sent || facts_.ranks > 1;
  if (!is_home(n)) {
    const std::uint64_t ack = hold(static_cast<ScopeRecord*>(c->scope), home_of(n));
    return comm_.send(home_of(n), ReadDone{n, c->block->index, slot, ack});
  }
  const std::string wrong = count_read(n, c->block->index, slot);
  if (!wrong.empty()) throw ProgramError(0, wrong);
}
void DataFragments::on(Rank from, ReadDone&& m) {
  const std::string wrong = count_read(m.name, m.block, m.slot);
  if (!wrong.empty()) return fail_at(m.name, m.block, wrong);
  if (m.ack != 0) comm_.send(from, Acked{m.ack});
}

// At home. Returns what is wrong, or "".
std::string DataFragments::set_limit(const abi::Name& n, std::int64_t reads, std::uint32_t block) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  const Outcome o = happens(shard, shard.find(n.id), n, protocol::Limit{reads, block});
  const char* const s = reads == 1 ? "" : "s";
  switch (o.actions.fault) {
    case Fault::limits_differ:
      return coded(fmt::format("`req_count` says {} reads here and {} at {}", reads, o.entry->others->limit,
                               describe(facts_.program, *facts_.program.blocks[o.entry->others->limit_by])),
                   "T412");
    case Fault::limit_too_small:
      return coded(fmt::format("`req_count` says {} read{} here, but there have been {} already", reads, s,
                               o.entry->others->reads),
                   "T403");
    case Fault::limit_unmet:
      return coded(fmt::format("`req_count` says {} read{} here, but {} reads it, too", reads, s,
                               describe(facts_.program, waiter_of(o.entry->waiters).cf)),
                   "T403");
    default:
      return "";
  }
}

void DataFragments::hint_reads(Worker& w, const abi::Cf* c, const abi::Name& n, std::int64_t reads) {
  if (reads < 0) throw ProgramError(0, coded(fmt::format("`req_count` is {}: it must be 0 or more", reads), "T412"));
  w.sent = w.sent || facts_.ranks > 1;
  if (!is_home(n)) {
    const std::uint64_t ack = hold(static_cast<ScopeRecord*>(c->scope), home_of(n));
    return comm_.send(home_of(n), ReadsHint{n, reads, c->block->index, ack});
  }
  const std::string wrong = set_limit(n, reads, c->block->index);
  if (!wrong.empty()) throw ProgramError(0, wrong);
}
void DataFragments::on(Rank from, ReadsHint&& m) {
  const std::string wrong = set_limit(m.name, m.reads, m.block);
  if (!wrong.empty()) return fail_at(m.name, m.block, wrong);
  if (m.ack != 0) comm_.send(from, Acked{m.ack});
}

void DataFragments::note_unread(const DfEntry* e) {
  if (e->assigned_by == 0 || e->others->reads >= e->others->limit) return;
  const std::lock_guard hold(unread_mutex_);
  UnreadCounts& u = unread_[e->others->limit_by];
  if (u.times++ == 0) {
    u.block = e->others->limit_by;
    u.limit = e->others->limit;
    u.reads = e->others->reads;
  }
}

std::vector<UnreadCounts> DataFragments::unread() const {
  const std::lock_guard hold(unread_mutex_);
  std::vector<UnreadCounts> all;
  for (const auto& [block, u] : unread_) all.push_back(u);
  return all;
}

}  // namespace tessera::runtime
