// What the machine says is carried out.
#include "runtime/data/happens.hpp"

namespace tessera::runtime {

using protocol::Listed;
using protocol::Say;
using protocol::State;

protocol::Actions& DataFragments::fresh_actions() {
  static thread_local protocol::Actions actions;
  actions.clear();
  return actions;
}

protocol::View DataFragments::view(const abi::Name& n, const abi::Value* value) const {
  const Surroundings::Presence here = rank_.presence();
  return {.self = facts_.self,
          .home = home_of(n),
          .known_uses = abi::has_known_uses(n) && !abi::is_swept(n),
          .sweeps = abi::is_swept(n),
          .steady = members_.steady(),
          .left = here.left,
          .swept = here.swept,
          .next_keeper = here.next_keeper,
          .size = value == nullptr ? 0 : value->size,
          .limits = limits_};
}

DataFragments::Outcome DataFragments::carry_out(Shard& shard, DfEntry* e, protocol::Entry& fresh, State before,
                                                const abi::Name& n, abi::Value* value, Rank from,
                                                const protocol::Actions& a) {
  const bool known = e != nullptr;
  if (!known && fresh.state != State::none && !a.forget) {
    e = insert(shard, n);
    static_cast<protocol::Entry&>(*e) = std::move(fresh);
  }
  if (e == nullptr) {
    for (const protocol::Send& s : a.sends) send(s, n, nullptr, value);
    return {a, nullptr, 0};
  }
  // A scope that is ending frees what it finds on its list, and tells who has copies.
  const bool forget = a.forget && (!is_home(n) || leaves_scope(e));
  if (has_value(e->state) && e->value == nullptr && !forget) {
    e->value = abi::retain(value);
    if (from != protocol::kNobody) believe_on(e->value, from);
  }
  if (a.tell_uses && value != nullptr) tell_uses(value);
  const bool copy = e->state == State::copy && !forget;
  if (before == State::copy && !copy) forget_copy(e);
  if (before != State::copy && copy) note_copy(e);
  if (a.publish.out && e->made_in != nullptr && !is_home(n)) {  // it was kept back
    publish(n, e->assigned_by - 1, e->made_in, a.publish, e->value);
    e->made_in = nullptr;
  }
  for (const protocol::Send& s : a.sends) {
    if (s.say != Say::drop_later || forget) send(s, n, e, value);
  }
  if (!a.forget && a.listed == Listed::stays) stay_listed(e);
  if (!a.forget && a.listed == Listed::may_leave && !e->others->linked) link(e);
  if (is_freed(e->state) && !is_freed(before)) e->others.reset();
  if (!has_value(e->state) && e->value != nullptr) abi::release(std::exchange(e->value, nullptr));
  const std::uint64_t waiters = a.wake ? std::exchange(e->waiters, 0) : 0;
  if (forget) {
    free_entry(shard.remove(n.id));
    e = nullptr;
  }
  return {a, e, waiters};
}

void DataFragments::send(const protocol::Send& s, const abi::Name& n, const DfEntry* e, abi::Value* value) {
  if (e != nullptr && e->value != nullptr) value = e->value;
  switch (s.say) {
    case Say::request:
      return comm_.send(s.to, Request{n, s.flag});
    case Say::fetch:
      if (value != nullptr) believe_on(value, s.whom);
      return comm_.send(s.to, Fetch{n, s.whom});
    case Say::give:
      believe_on(value, s.to);
      return comm_.send(s.to, Give{n, {ValueRef(abi::retain(value))}});
    case Say::copied:
      return comm_.send(s.to, Copied{n});
    case Say::drop: {
      Drop m;
      Untold::add_to(m, s.whom, n.id);
      return comm_.send(s.to, m);
    }
    case Say::drop_later:
      return untold.drop(s.to, s.whom, n.id);
    case Say::used_up:
      return untold.used_up(s.to, n.id);
    case Say::gone:
      return comm_.send(s.to, Gone{n, e->freed_by(), e->state == State::spent});
    case Say::refetch:
      return comm_.send(s.to, Refetch{n, s.whom});
    case Say::entrust:
      return comm_.send(s.to, Entrust{n, {ValueRef(abi::retain(value))}});
    case Say::keep:
      return comm_.send(s.to, Keep{n, {ValueRef(abi::retain(value))}});
  }
}

// From now on the entry lives until its scope ends. Lock held.
void DataFragments::stay_listed(DfEntry* e) {
  if (e->others != nullptr && e->others->linked) {
    if (!scopes_.unlink(e)) return;  // its scope is ending, and frees it
    e->others->linked = false;
  }
  e->scope_next = nullptr;
  scopes_.add_entry(e->scope, e);
}

// Its scope frees it, if it is there still. Lock held.
void DataFragments::link(DfEntry* e) { e->others->linked = scopes_.link(e); }

// False: its scope is ending, and frees it. Lock held.
bool DataFragments::leaves_scope(DfEntry* e) { return e->others == nullptr || !e->others->linked || scopes_.unlink(e); }

}  // namespace tessera::runtime
