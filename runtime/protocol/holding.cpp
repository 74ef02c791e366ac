#include "runtime/protocol/holding.hpp"

#include <algorithm>
#include <utility>

namespace tessera::protocol {
namespace {

// Calls it with each that holds now what the delete frees, as long as it returns true.
template <class F>
void for_holders(Holding& h, const Delete& d, F f) {
  const auto scope = h.scopes.find(d.scope);
  if (scope == h.scopes.end()) return;
  const auto of_name = [&](Holding::OfName& name) {
    return std::all_of(name.begin(), name.end(), [&](auto& by) { return by.second.times < 0 || f(by.second); });
  };
  if (d.all) {
    static_cast<void>(
        std::all_of(scope->second.begin(), scope->second.end(), [&](auto& n) { return of_name(n.second); }));
    return;
  }
  for (const Id& id : d.parts) {
    const auto name = scope->second.find(id);
    if (name != scope->second.end() && !of_name(name->second)) return;
  }
}

// Does anybody hold just what it frees, and not what that is part of?
bool is_held_itself(const Holding& h, const Delete& d) {
  const auto scope = h.scopes.find(d.scope);
  return scope != h.scopes.end() && scope->second.count(d.parts.back()) != 0;
}

// Does this one have the same to wait for as the last one that has had to?
bool joins(Holding& h, const Delete& d) {
  if (d.swept || h.joins_at != h.changes) return false;
  const auto last = h.waiting.find(h.number);
  if (last == h.waiting.end()) return false;
  const Delete& of = last->second.of;
  const bool same = of.scope == d.scope && of.marks == d.marks && of.all == d.all &&
                    std::equal(of.parts.begin(), of.parts.end() - 1, d.parts.begin(), d.parts.end() - 1);
  if (!same || is_held_itself(h, d)) return false;
  last->second.others.push_back({d.parts.back(), d.block});
  return true;
}

template <class F>
void for_each_delete(Holding::Waiting&& w, F f) {
  for (const Holding::Other& other : w.others) {
    Delete d = w.of;
    d.parts.back() = other.id;
    d.block = other.block;
    f(std::move(d));
  }
  f(std::move(w.of));
}

// Frees, or waits for who holds it now.
void decide(Holding& h, Delete&& d, HoldingActions& a) {
  if (joins(h, d)) return;
  std::int64_t holds = 0;
  for_holders(h, d, [&](const Holding::Holder&) { return ++holds <= Holding::kMostWaitedFor || !d.swept; });
  if (holds == 0) return a.frees.push_back(std::move(d));
  if (d.swept && holds > Holding::kMostWaitedFor) return;
  const std::uint64_t number = ++h.number;
  for_holders(h, d, [&](Holding::Holder& holder) { return holder.deletes.push_back(number), true; });
  if (!d.swept && !is_held_itself(h, d)) h.joins_at = h.changes;
  h.waiting.emplace(number, Holding::Waiting{std::move(d), {}, holds});
  if (h.waiting.size() < h.look_at) return;
  h.look_at = 2 * h.waiting.size();
  a.look = true;
}

void begin_round(Holding& h, std::int32_t ranks, HoldingActions& a) {
  h.asked_for = std::exchange(h.told, {});
  h.answers = ranks - 1;
  a.ask_all = true;
}

void erase(Holding& h, const Element& what, const Id& by) {
  ++h.changes;
  const auto scope = h.scopes.find(what.scope);
  const auto name = scope->second.find(what.id);
  name->second.erase(by);
  if (name->second.empty()) scope->second.erase(name);
  if (scope->second.empty()) h.scopes.erase(scope);
}

void happens(Holding& h, const Held& e, std::int32_t, HoldingActions&) {
  ++h.changes;
  if (++h.scopes[e.what.scope][e.what.id][e.by].times == 0) erase(h, e.what, e.by);
}

void happens(Holding& h, const LetGo& e, std::int32_t, HoldingActions& a) {
  Holding::Holder& holder = h.scopes[e.what.scope][e.what.id][e.by];
  if (--holder.times != 0) return;
  const std::vector<std::uint64_t> deletes = std::move(holder.deletes);
  erase(h, e.what, e.by);
  for (const std::uint64_t number : deletes) {
    const auto at = h.waiting.find(number);
    if (at == h.waiting.end()) continue;
    at->second.again |= e.of_body;
    if (--at->second.holds > 0) continue;
    Holding::Waiting done = std::move(at->second);
    h.waiting.erase(at);
    const bool again = done.again;
    for_each_delete(std::move(done),
                    [&](Delete&& d) { again ? decide(h, std::move(d), a) : a.frees.push_back(std::move(d)); });
  }
}

void happens(Holding& h, const Deletes& e, std::int32_t ranks, HoldingActions& a) {
  if (ranks == 1) return decide(h, Delete(e.what), a);
  h.told.push_back(e.what);
  if (h.answers == 0) begin_round(h, ranks, a);
}

void happens(Holding& h, const Answered&, std::int32_t ranks, HoldingActions& a) {
  if (--h.answers > 0) return;
  std::vector<Delete> settled = std::exchange(h.asked_for, {});
  if (!h.told.empty()) begin_round(h, ranks, a);
  for (Delete& d : settled) decide(h, std::move(d), a);
}

void happens(Holding& h, const Swept& e, std::int32_t, HoldingActions&) {
  for (const std::uint64_t number : e.deletes) h.waiting.erase(number);
  for (auto& [scope, names] : h.scopes) {
    for (auto& [id, name] : names) {
      for (auto& [by, holder] : name)
        std::erase_if(holder.deletes, [&](std::uint64_t number) { return h.waiting.count(number) == 0; });
    }
  }
  h.look_at = std::max(Holding::kLeastToLook, 2 * h.waiting.size());
}

void happens(Holding& h, const ScopeEnds& e, std::int32_t, HoldingActions&) {
  const auto scope = h.scopes.find(e.scope);
  if (scope == h.scopes.end()) return;
  ++h.changes;
  // Whatever waits is on the list of somebody of its scope. Not all that wait are looked at: many scopes end.
  for (const auto& [id, name] : scope->second) {
    for (const auto& [by, holder] : name) {
      for (const std::uint64_t number : holder.deletes) h.waiting.erase(number);
    }
  }
  h.scopes.erase(scope);
}

}  // namespace

void step(Holding& h, const HoldingEvent& event, std::int32_t ranks, HoldingActions& a) {
  std::visit([&](const auto& e) { happens(h, e, ranks, a); }, event);
}

}  // namespace tessera::protocol
