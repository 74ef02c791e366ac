#include "runtime/protocol/holding.hpp"

#include <utility>

namespace tessera::protocol {
namespace {

// Frees, or waits for who holds it now.
void decide(Holding& h, Delete&& d, HoldingActions& a) {
  const auto scope = h.scopes.find(d.scope);
  std::int64_t holds = 0;
  const auto wait_for = [&](Holding::OfName& name) {
    for (auto& [by, holder] : name) {
      if (holder.times < 0) continue;
      holder.deletes.push_back(h.number + 1);
      ++holds;
    }
  };
  if (scope != h.scopes.end() && d.all) {
    for (auto& [id, name] : scope->second) wait_for(name);
  } else if (scope != h.scopes.end()) {
    for (const Id& id : d.parts) {
      if (const auto name = scope->second.find(id); name != scope->second.end()) wait_for(name->second);
    }
  }
  if (holds == 0) return a.frees.push_back(std::move(d));
  h.waiting.emplace(++h.number, Holding::Waiting{std::move(d), holds});
}

void begin_round(Holding& h, std::int32_t ranks, HoldingActions& a) {
  h.asked_for = std::exchange(h.told, {});
  h.answers = ranks - 1;
  a.ask_all = true;
}

void erase(Holding& h, const Element& what, const Id& by) {
  const auto scope = h.scopes.find(what.scope);
  const auto name = scope->second.find(what.id);
  name->second.erase(by);
  if (name->second.empty()) scope->second.erase(name);
  if (scope->second.empty()) h.scopes.erase(scope);
}

void happens(Holding& h, const Held& e, std::int32_t, HoldingActions&) {
  if (++h.scopes[e.what.scope][e.what.id][e.by].times == 0) erase(h, e.what, e.by);
}

void happens(Holding& h, const LetGo& e, std::int32_t, HoldingActions& a) {
  Holding::Holder& holder = h.scopes[e.what.scope][e.what.id][e.by];
  if (--holder.times != 0) return;
  const std::vector<std::uint64_t> deletes = std::move(holder.deletes);
  erase(h, e.what, e.by);
  for (const std::uint64_t number : deletes) {
    const auto at = h.waiting.find(number);
    at->second.again |= e.of_body;
    if (--at->second.holds > 0) continue;
    Holding::Waiting done = std::move(at->second);
    h.waiting.erase(at);
    done.again ? decide(h, std::move(done.of), a) : a.frees.push_back(std::move(done.of));
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

void happens(Holding& h, const ScopeEnds& e, std::int32_t, HoldingActions&) {
  h.scopes.erase(e.scope);
  std::erase_if(h.waiting, [&](const auto& w) { return w.second.of.scope == e.scope; });
}

}  // namespace

void step(Holding& h, const HoldingEvent& event, std::int32_t ranks, HoldingActions& a) {
  std::visit([&](const auto& e) { happens(h, e, ranks, a); }, event);
}

}  // namespace tessera::protocol
