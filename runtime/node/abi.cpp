// The functions of abi.hpp that generated code calls.
#include "runtime/abi/tessera/abi.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/balance/link_meter.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/journal/doing.hpp"
#include "runtime/node/input_sums.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/sweeping.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/trace/trace_buffer.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {
std::int32_t placed_ranks = 1;  // ranks of one process are of one run
}
void set_placed_ranks(std::int32_t n) { placed_ranks = n; }
}  // namespace tessera::runtime

namespace tessera::abi {

std::int32_t ranks() { return runtime::placed_ranks; }

using runtime::AtEnd;
using runtime::ScopeRecord;

Cf* cf_new(Worker*, const Block& block, Scope* scope, Id id) { return runtime::allocate_cf(block, scope, id); }

void cf_submit(Worker* w, Cf* c) { w->node.submit(*w, c); }

void cf_locate(Worker* w, Cf* c, std::int64_t rank) {
  if ((c->flags & runtime::kPlaced) == 0) w->moving_to = rank;
  if (w->trace != nullptr) w->trace->located(rank);
}

Scope* scope_open(Worker* w, Scope* parent, Id id) {
  return w->node.scopes.open(static_cast<ScopeRecord*>(parent), id);
}
void scope_close(Worker* w, Scope* s) { w->node.leave_scope(*w, static_cast<ScopeRecord*>(s)); }
void scope_notify(Worker* w, Scope* s, Name done, const Spot& spot) {
  static_cast<ScopeRecord*>(s)->at_end.push_back(
      {done, w->current->block->index, AtEnd::Does::assigns, {}, false, spot});
  if (w->trace != nullptr) w->trace->ends(*s, done.id);
}
void scope_delete(Worker* w, Scope* s, Name x) {
  static_cast<ScopeRecord*>(s)->at_end.push_back({x, w->current->block->index, AtEnd::Does::frees, {}, false});
}
void scope_hold(Worker* w, Scope* s, Name x) {
  hold(w, x, s->id);
  static_cast<ScopeRecord*>(s)->at_end.push_back({x, 0, AtEnd::Does::ends_hold, {}, false});
}
void hold(Worker* w, Name x, Id by) {
  w->node.holds.take(x, by);
  w->sent = w->sent || w->node.ranks() > 1;
}
void hold_ends(Worker* w, Name x, Id by) {
  w->node.holds.end(x, by, true);
  w->sent = w->sent || w->node.ranks() > 1;
}

namespace {

std::vector<Id> ids_of(const Name* parts, std::uint32_t count) {
  std::vector<Id> ids;
  for (std::uint32_t k = 0; k < count; ++k) ids.push_back(parts[k].id);
  return ids;
}

}  // namespace

void scope_delete_held(Worker* w, Scope* s, const Name* parts, std::uint32_t count, bool all) {
  static_cast<ScopeRecord*>(s)->at_end.push_back(
      {parts[count - 1], w->current->block->index, AtEnd::Does::frees, ids_of(parts, count), all});
}
void hint_delete_held(Worker* w, Cf* c, const Name* parts, std::uint32_t count, bool all) {
  w->node.holds.free({parts[count - 1], c->block->index, ids_of(parts, count), all});
  w->sent = w->sent || w->node.ranks() > 1;
}

namespace {

// The memory of others is damaged, too: nothing may go on.
[[noreturn, gnu::noinline, gnu::cold]] void end_overrun(const Cf* c, std::uint32_t output, const Value* v,
                                                        runtime::Overrun where) {
  const std::string text = fmt::format(
      "the kernel wrote {} its output `{}`, which has {} bytes, into memory that belongs to others; `tessera run -g "
      "--sanitize address` shows where [T415]",
      where == runtime::Overrun::behind ? "behind the end of" : "before the start of",
      runtime::slot_text(c, c->block->input_count + output), v->size);
  runtime::end_saying(text, "tessera: error: " + text, runtime::kExitProgram);
}

// The kernel has given no value. If it was not called, that of an earlier run; where nobody needs that: none.
[[gnu::noinline, gnu::cold]] bool has_none(const Worker* w, const Cf* c, const Name& n, Df& df) {
  runtime::no_child();
  if (!recalled(c)) {
    throw runtime::ProgramError(
        0, runtime::coded(fmt::format("the kernel returned without assigning its output `{}`: assign it on "
                                      "every path",
                                      df.label),
                          "T411"));
  }
  try {
    df.value = w->node.journal->known()->output(n.id);
  } catch (const std::exception& e) {
    w->node.fail(fmt::format("tessera: error: {}", e.what()), runtime::kExitEnvironment);
    throw;
  }
  if (df.value == nullptr && w->node.journal->flows()) df.value = value_memo();
  return df.value == nullptr;
}

// The value that a kernel gave its output.
Value* taken(const Cf* c, std::uint32_t output, Df& df) {
  runtime::no_child();
  if (const runtime::Overrun where = runtime::overrun(df.value); where != runtime::Overrun::none) [[unlikely]] {
    end_overrun(c, output, df.value, where);
  }
  return std::exchange(df.value, nullptr);
}

// Apart, so that assigning needs no registers for it.
[[gnu::noinline, gnu::cold]] void watch_output(Worker* w, const Name& n, Value* v, std::int64_t uses) {
  if (w->inputs != nullptr) {
    try {
      w->inputs->compare();
    } catch (...) {
      release(v);
      throw;
    }
  }
  if (w->doing != nullptr) {
    w->doing->output(n.id, v, uses);
  } else if (w->page != nullptr && w->page->noting) {
    w->page->note(n.id, v);
  }
  if (w->trace != nullptr) w->trace->made(n.id, v->size);
}

// As its declaration calls it, where the parameter of a sub is part of one name only. What is written in another file
// than the program's own, as those of the library, is called by a name that is known there.
std::string name_and_file(const abi::Program& program, const abi::Block& b, std::uint32_t slot) {
  if (const char* whole = b.slots[slot].producers; whole != nullptr) return whole;
  const auto file = static_cast<std::uint32_t>(b.pos >> 48);
  std::string name = b.slots[slot].base;
  if (file == 0 || file >= program.file_count) return name;
  const std::string path = program.files[file];
  return fmt::format("{} (of {})", name, path.substr(path.rfind('/') + 1));
}

[[gnu::noinline, gnu::cold]] void sample_output(Worker* w, const Cf* c, std::uint32_t output, Value* v) {
  w->held.again();
  if (recalled(c)) return;  // what a journal gives may stay to the end, and nobody makes more of it
  w->node.held->sample(name_and_file(w->node.facts.program, *c->block, c->block->input_count + output), c->block->group,
                       v);
}

void note_output(Worker* w, const Cf* c, std::uint32_t output, const Name& n, Value* v, std::int64_t uses = -1) {
  if (w->watched) [[unlikely]] {
    if (w->page != nullptr && w->page->alone && w->doing == nullptr) {
      w->page->note(n.id, v);
    } else {
      watch_output(w, n, v, uses);
    }
  }
  if (w->held.next(v)) [[unlikely]]
    sample_output(w, c, output, v);
  if (w->tells && uses != 0) {  // what nobody reads goes nowhere
    w->stats.add_bytes_out(c->block->group, static_cast<std::int64_t>(v->size));
    if (w->node.facts.balancing) w->node.links->made(v->size);
  }
}

}  // namespace

void assign(Worker* w, Cf* c, std::uint32_t output, const Name& n, Df& df) {
  if (df.value == nullptr && has_none(w, c, n, df)) return;
  Value* v = taken(c, output, df);
  if (!has_known_uses(n) || is_swept(n)) return assign_value(w, c, output, n, v);
  note_output(w, c, output, n, v, 1);
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output}, n, v, 1);
}
Places* places(Worker* w) {
  if (w->node.ranks() == 1) return nullptr;
  w->places.count = 0;
  return &w->places;
}
void assign_used(Worker* w, Cf* c, std::uint32_t output, const Name& n, Df& df, std::int64_t uses, const Places* to) {
  if (df.value == nullptr && has_none(w, c, n, df)) return;
  Value* v = taken(c, output, df);
  note_output(w, c, output, n, v, uses);
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output, to}, n, v, uses);
}
void assign_value(Worker* w, Cf* c, std::uint32_t output, const Name& n, Value* v) {
  note_output(w, c, output, n, v);
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output}, n, v);
}

void assign_swept(Worker* w, Cf* c, std::uint32_t output, const Name& n, Df& df, const Spot& spot) {
  if (df.value == nullptr && has_none(w, c, n, df)) return;
  assign_value(w, c, output, n, taken(c, output, df), spot);
}
void assign_value(Worker* w, Cf* c, std::uint32_t output, const Name& n, Value* v, const Spot& spot) {
  const std::uint64_t bytes = sizeof(Value) + v->size;
  note_output(w, c, output, n, v);
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output, nullptr, &spot}, n, v);
  if (spot.horizon == 0) return;
  if (bytes >= runtime::Growing::kLarge && w->node.horizons == nullptr)  // of one rank: loops go in an order there
    w->node.crew.growing.makes_swept(c->block->group, static_cast<std::int64_t>(bytes));
  w->node.data.note_swept(*w, n, spot, bytes);
}
std::int64_t horizon_open(Worker* w, Scope* s) {
  auto* scope = static_cast<ScopeRecord*>(s);
  if (w->node.horizons != nullptr) {
    scope->horizons = w->node.horizons->open(scope->horizons);
    return scope->horizons->handle();
  }
  scope->horizons = new runtime::Horizon(scope->horizons);
  scope->horizons->open();
  return scope->horizons->handle();
}
void horizon_close(Worker* w, std::int64_t horizon) {
  if (w->node.horizons != nullptr) return w->node.horizons->close(horizon);
  runtime::Horizon::of(horizon).close();
  w->node.data.free_left(*w);
}

void hulls_stay(const Hulls& hulls, std::int64_t until) {
  runtime::Node& node = runtime::thread_worker->node;
  if (node.horizons != nullptr) return node.sweeping->stay(hulls, until);
  runtime::HeldHull* const held = runtime::Horizon::hold(hulls, nullptr);
  if (until != 0) runtime::Horizon::of(until).hand(held);
}

// What waits for values that come late is looked at now and then only.
bool look(Worker* w, const Block& b, const Name* names, Value* copies) {
  constexpr std::uint8_t kAgain = 8;
  if (w->watched) return false;
  std::uint8_t& blind = w->blind[b.index % w->blind.size()];
  if (blind > 0) return --blind, false;
  for (unsigned k = 0; k < b.input_count; ++k) {
    const runtime::DataFragments::Seen seen = w->node.data.look(names[k], copies[k]);
    if (seen == runtime::DataFragments::Seen::not_yet) blind = kAgain;
    if (seen != runtime::DataFragments::Seen::here) return false;
  }
  return true;
}
void looked(Worker* w, const Block& b, const Name* names) {
  for (unsigned k = 0; k < b.input_count; ++k) w->node.data.looked(names[k]);
}

void take_back(Worker* w, const Name& n) {
  if (w->doing != nullptr) [[unlikely]]
    w->doing->took_back(n.id);
  w->node.data.take_back(*w, n);
}
void taken_back(Worker* w, const Cf* c) {
  if (!w->taken_back.empty()) w->node.data.tell_taken_back(*w, c);
}

void hint_delete(Worker* w, Cf* c, const Name& n) {
  runtime::no_child();
  w->node.data.free_now(*w, n, c->block->index);
}
void hint_reads(Worker* w, Cf* c, const Name& n, std::int64_t reads) {
  runtime::no_child();
  w->node.data.hint_reads(*w, c, n, reads);
}
void read_done(Worker* w, Cf* c, const Name& n, std::uint32_t slot) { w->node.data.read_done(*w, c, n, slot); }

}  // namespace tessera::abi
