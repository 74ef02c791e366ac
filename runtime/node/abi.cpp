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
}

Scope* scope_open(Worker* w, Scope* parent, Id id) {
  return w->node.scopes.open(static_cast<ScopeRecord*>(parent), id);
}
void scope_close(Worker* w, Scope* s) { w->node.leave_scope(*w, static_cast<ScopeRecord*>(s)); }
void scope_notify(Worker* w, Scope* s, Name done) {
  auto* scope = static_cast<ScopeRecord*>(s);
  scope->notify = done;
  scope->notify_block = w->current->block->index;
  scope->has_notify = true;
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
void assign_value(Worker* w, Cf* c, std::uint32_t output, const Name& n, Value* v) {
  if (w->node.balancing) {
    w->stats.add_bytes_out(c->block->group, static_cast<std::int64_t>(v->size));
  }
  w->node.data.assign(*w, {c->block->index, static_cast<ScopeRecord*>(c->scope), c, output}, n, v);
}

void hint_delete(Worker* w, Cf* c, const Name& n) { w->node.data.hint_delete(*w, c, n); }
void hint_reads(Worker* w, Cf*, const Name& n, std::int64_t reads) {
  w->node.data.hint_reads(n, reads);
  w->sent = true;
}

}  // namespace tessera::abi
