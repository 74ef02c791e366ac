// The functions of abi.hpp that generated code calls.
#include "runtime/abi/tessera/abi.hpp"

#include <fmt/format.h>

#include "runtime/fragment/cf.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::abi {

using runtime::ScopeRecord;

Cf* cf_new(Worker*, const Block& block, Scope* scope, Id id) {
  return runtime::allocate_cf(block, scope, id);
}

void cf_submit(Worker* w, Cf* c) { w->node.submit(*w, c); }

void cf_locate(Worker* w, Cf* c, std::int64_t rank) {
  if ((c->flags & runtime::kPlaced) == 0) w->moving_to = rank;
  if (w->trace != nullptr) w->trace->located(rank);
}

Scope* scope_open(Worker* w, Scope* parent, Id id) {
  return w->node.scopes.open(static_cast<ScopeRecord*>(parent), id);
}
void scope_close(Worker* w, Scope* s) { w->node.leave_scope(*w, static_cast<ScopeRecord*>(s)); }
void scope_notify(Worker* w, Scope* s, Name done) {
  static_cast<ScopeRecord*>(s)->at_end.push_back({done, w->current->block->index, false});
  if (w->trace != nullptr) w->trace->ends(*s, done.id);
}
void scope_delete(Worker* w, Scope* s, Name x) {
  static_cast<ScopeRecord*>(s)->at_end.push_back({x, w->current->block->index, true});
}

void assign(Worker* w, Cf* c, std::uint32_t output, const Name& n, Df& df) {
  if (df.value == nullptr) {
    throw runtime::ProgramError(
        0, runtime::coded(
               fmt::format("the kernel returned without assigning its output `{}`: assign it on "
                           "every path",
                           df.label),
               "T411"));
  }
  Value* v = df.value;
  df.value = nullptr;
  assign_value(w, c, output, n, v);
}
namespace {

void to_data(Worker* w, Cf* c, std::uint32_t output, const Name& n, Value* v) {
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output}, n, v);
}

// Apart, so that assign_value needs no registers for it.
[[gnu::noinline, gnu::cold]] void to_data_and_trace(Worker* w, Cf* c, std::uint32_t output,
                                                    const Name& n, Value* v) {
  w->trace->made(n.id, v->size);
  to_data(w, c, output, n, v);
}

}  // namespace

void assign_value(Worker* w, Cf* c, std::uint32_t output, const Name& n, Value* v) {
  if (w->node.balancing) {
    w->stats.add_bytes_out(c->block->group, static_cast<std::int64_t>(v->size));
  }
  if (w->trace != nullptr) [[unlikely]] return to_data_and_trace(w, c, output, n, v);
  to_data(w, c, output, n, v);
}

void hint_delete(Worker* w, Cf* c, const Name& n) {
  w->node.data.free_now(*w, n, c->block->index);
}
void hint_reads(Worker* w, Cf* c, const Name& n, std::int64_t reads) {
  w->node.data.hint_reads(*w, c, n, reads);
}
void read_done(Worker* w, Cf* c, const Name& n, std::uint32_t slot) {
  w->node.data.read_done(*w, c, n, slot);
}

}  // namespace tessera::abi
