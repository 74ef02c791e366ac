// Who has a value, who asks for it, who gets it.
#include "runtime/protocol/step.hpp"

#include <utility>

#include "balancer/relay.hpp"
#include "runtime/protocol/parts.hpp"

namespace tessera::protocol {
namespace {

// A value comes to an entry that has none.
void arrives(Entry& e, const View& v, Actions& a) {
  e.state = v.at_home() ? State::here : State::copy;
  e.unheard = false;
  a.wake = true;
}

// The home has learned of the assignment: who has asked, or is due, gets the value.
void answer(Entry& e, const View& v, const std::vector<Rank>& due, Actions& a) {
  std::vector<Rank> asking;
  if (e.others != nullptr) asking.swap(e.others->asking);
  for (const Rank r : due) add(asking, r);
  for (const Rank r : asking) has_value(e.state) ? serve(e, v, r, a) : a.say(Say::give, r);
}

const std::vector<Rank>& list_of(const std::vector<Rank>* ranks) {
  static const std::vector<Rank> none;
  return ranks == nullptr ? none : *ranks;
}

void assigned_at_home(Entry& e, const Assigned& m, const View& v, Actions& a) {
  if (e.state == State::none && m.uses == 0) return;
  begin(e, v);
  const std::vector<Rank>& due = list_of(m.due);
  if (m.uses < 0 || m.uses > Entry::kMostUses) stays_listed(e, a);
  if (e.counted && !due.empty() && v.waiting < m.uses) {
    may_leave(e, v, a);
    for (const Rank r : due) add(others(e).asking, r);
  }
  if (e.assigned_by != 0) {
    a.fault = Fault::assigned_twice;
    return;
  }
  e.assigned_by = m.block + 1;
  a.wake = true;
  if (!e.counted) {
    if (!is_freed(e.state)) e.state = State::here;
    return answer(e, v, due, a);
  }
  // Uses that have been taken back are counted already.
  const std::int64_t left = e.uses_left() + m.uses - counted_now(v, v.waiting, a);
  e.state = State::here;
  e.set_uses_left(left);
  if (left == 0) return free_used(e, v, a);
  answer(e, v, {}, a);
}

void assigned_elsewhere(Entry& e, const Assigned& m, const View& v, Actions& a) {
  if (e.state == State::none && m.uses == 0) return;
  const bool promised = e.others != nullptr && !e.others->asking.empty();
  // Several may be moved one by one, and each would take it along.
  const bool travels_again = v.late() && m.uses > 1;
  if (m.uses >= 0 && e.state != State::none && !has_value(e.state) && !promised && v.waiting == m.uses &&
      !travels_again) {
    // All who read it wait here: its home need not hear of it, only that it is no more asked for.
    if (e.state == State::asked) a.say(Say::used_up, v.home);
    a.wake = a.forget = true;
    return;
  }
  const bool fresh = e.state == State::none;
  begin(e, v);
  if (e.assigned_by != 0) {
    a.fault = Fault::assigned_twice;
    return;
  }
  if (m.uses >= 0) a.tell_uses = true;
  if (fresh && m.may_wait && m.uses > 0 && m.uses <= Entry::kMostUses && v.steady && list_of(m.due).empty()) {
    e.assigned_by = m.block + 1;
    e.state = State::made;
    e.untold = a.untold = true;
    e.set_uses_left(m.uses);
    return;
  }
  e.assigned_by = m.block + 1;
  if (!has_value(e.state)) e.state = State::made;
  a.wake = true;
  keep_promises(e, v, a);
  Publishing& p = a.publish;
  p.due = list_of(m.due);
  const bool home_is_due = std::erase(p.due, v.home) != 0;
  p.given = !v.relayed();
  p.value = v.small() || (home_is_due && p.given);
  p.uses = m.uses;
  if (p.given) {
    for (const Rank r : p.due) a.say(Say::give, r);
  }
  p.out = true;
}

}  // namespace

void publish(Entry& e, const View& v, Actions& a) {
  if (!e.untold) return;
  a.publish.out = true;
  a.publish.value = v.small();
  a.publish.given = !v.relayed();
  a.publish.uses = e.uses_left();
  e.untold = false;
}

void begin(Entry& e, const View& v) {
  if (e.state != State::none) return;
  e.state = v.at_home() ? State::unassigned : State::absent;
  e.counted = v.at_home() && v.known_uses;
}

void came_back(Entry& e) {
  if (e.assigned_by == 0) others(e).again = true;
}

// Sends for the value, unless it is to be assigned here.
void ask(Entry& e, const View& v, Actions& a) {
  if (!v.at_home()) {
    a.say(Say::request, v.home, kNobody, e.state == State::evicted || !v.steady);
    e.state = State::asked;
  } else if (e.state == State::kept) {
    a.say(Say::fetch, e.others->keeper, v.self);
    e.state = State::fetched;
  }
}

// Puts `to` down for a copy and says who sends it: this rank or the keeper, or another that was put down before. Only
// the home decides, by its one list, so nobody waits in a circle.
//
// A large value goes on from those that have got it (balancer/relay.hpp). Where ranks leave and join nobody passes on.
Rank giver_of(Entry& e, const View& v, Rank to) {
  Others& o = others(e);
  const Rank source = has_value(e.state) ? v.self : o.keeper;
  const bool large = !has_value(e.state) || v.relayed();
  // Again: what it was to have from another has not come, or is gone.
  const bool passed_on = large && !o.again && !v.left && !o.copies.empty() && !holds(o.copies, to);
  const Rank by = passed_on ? o.copies[balancer::next_giver(o.copies.size())].rank : source;
  add(o.copies, to, by);
  return by;
}

// Sends the value to `to`, or has another rank do so.
void serve(Entry& e, const View& v, Rank to, Actions& a) {
  if (to == others(e).keeper) return;  // it has made it since it asked
  const Rank by = giver_of(e, v, to);
  by != v.self ? a.say(Say::fetch, by, to) : a.say(Say::give, to);
}

// The value has come, or will not: whoever was to have it from here gets it, or asks again.
void keep_promises(Entry& e, const View& v, Actions& a) {
  if (e.others == nullptr || v.at_home()) return;
  for (const Rank to : std::exchange(e.others->asking, {})) {
    has_value(e.state) ? a.say(Say::give, to) : a.say(Say::refetch, v.home, to);
  }
}

// Who has a copy lets it go.
void drop_copies(const Entry& e, const View& v, Say drop, Actions& a) {
  if (e.others == nullptr) return;
  for (const Holder& h : e.others->copies) {
    if (h.rank == v.self) continue;
    h.by == v.self ? a.say(drop, h.rank) : a.say(drop, h.by, h.rank);
  }
}

void step(Entry& e, const Wanted& m, const View& v, Actions& a) {
  begin(e, v);
  if (e.state == State::absent && m.promised) {
    e.state = State::asked;
  } else if (e.state == State::evicted || e.state == State::kept || e.state == State::absent) {
    ask(e, v, a);
  }
}

void step(Entry& e, const WantedByAll&, const View& v, Actions& a) {
  if (v.waiting != 0 && e.state != State::asked) ask(e, v, a);
}

void step(Entry& e, const Assigned& m, const View& v, Actions& a) {
  v.at_home() ? assigned_at_home(e, m, v, a) : assigned_elsewhere(e, m, v, a);
}

void step(Entry& e, const Tell&, const View& v, Actions& a) { publish(e, v, a); }

// All who read it have begun to run: they hold it.
void step(Entry& e, const UsedHere&, const View&, Actions& a) {
  if (!e.untold) return;
  e.set_uses_left(e.uses_left() - 1);
  a.forget = e.uses_left() == 0;
}

void step(Entry& e, const SeenOff& m, const View& v, Actions& a) {
  if (e.state == State::none || e.state == State::unassigned) {
    // The Request for it is made when the fragment has left, and may by then have had it another way, and have ended.
    if (v.sweeps) begin(e, v);
    a.travels = Travels::promised;
  } else if (e.state == State::here && v.small()) {
    may_leave(e, v, a);
    if (add(others(e).copies, m.to, v.self) || e.others->again) a.travels = Travels::along;
  }
}

void step(Entry& e, const PutBack&, const View& v, Actions& a) {
  if (!v.known_uses) return;
  if (v.at_home()) return count_off(e, v, a);
  publish(e, v, a);
  // Where it was assigned among those who read it, its home has not heard of it.
  a.say(Say::keep, v.home);
}

void step(Entry& e, const GoesAlong& m, const View& v, Actions& a) {
  publish(e, v, a);
  a.travels = Travels::along;
  // Nobody but those who hold it will ask: it was assigned among them, or all uses but theirs have been counted.
  // So it is where a rank has asked its home, which has heard of no assignment.
  const bool asked_only = v.at_home() && e.counted && !somewhere(e);
  if (v.known_uses && (e.unheard || e.state == State::none || asked_only)) {
    a.unheard = true;
    return;
  }
  if (v.at_home() && v.known_uses) count_off(e, v, a);
  if (e.state == State::none) return;
  // What was assigned here and published with its value is at its home.
  const bool published = m.to == v.home && e.assigned_by != 0 && v.small();
  Others& o = others(e);
  // Of a swept name: nobody but this fragment may be going to read it, which tells nobody, so it is gone there soon.
  const bool lasts = v.at_home() || !v.sweeps;
  if (lasts && (published || (!o.again && holds(o.copies, m.to)))) {
    a.travels = Travels::not_along;
  } else if (e.state == State::here && m.at_once && !o.again) {
    if (const Rank by = giver_of(e, v, m.to); by != v.self) {
      a.say(Say::fetch, by, m.to);
      a.travels = Travels::promised;
    }
  } else {
    add(o.copies, m.to, v.self);
  }
}

void step(Entry& e, const Request& m, const View& v, Actions& a) {
  // Asked for by a fragment that has got it another way since, and ended with its scope.
  if (!v.scope_lives) return;
  if (m.known && v.sweeps && e.state == State::none) return;  // nobody could read it any more
  if (m.from == v.self) {                                     // this rank has asked a keeper that has left
    if (e.state == State::fetched) e.state = State::kept;
    return step(e, WantedByAll{}, v, a);
  }
  begin(e, v);
  may_leave(e, v, a);
  if (is_freed(e.state)) {
    a.say(Say::gone, m.from);
  } else if (somewhere(e)) {
    // What has been sent there and not been lost is on its way.
    const Others& o = others(e);
    if (m.lost || o.again || !holds(o.copies, m.from)) serve(e, v, m.from, a);
  } else {
    Others& o = others(e);
    add(o.asking, m.from);
    o.lost = o.lost || m.lost;
  }
}

void step(Entry& e, const Publish& m, const View& v, Actions& a) {
  begin(e, v);
  m.uses >= 0 && m.uses <= Entry::kMostUses ? may_leave(e, v, a) : stays_listed(e, a);
  if (e.assigned_by != 0) {
    a.fault = Fault::assigned_twice;
    return;
  }
  e.assigned_by = m.block + 1;
  if (is_freed(e.state)) {  // before it came here
    a.say(Say::drop, m.from);
    for (const Rank r : list_of(m.due)) {
      if (r != m.from) a.say(Say::drop, r);
    }
    return;
  }
  Others& o = others(e);
  if (e.counted) e.set_uses_left(e.uses_left() + m.uses);
  add(o.copies, m.from, v.self);
  if (m.value && !has_value(e.state)) arrives(e, v, a);
  std::int64_t counted = 0;
  if (has_value(e.state)) {
    if (e.counted) counted = counted_now(v, v.waiting, a);
  } else {
    e.state = State::kept;
    o.keeper = m.from;
    if (v.waiting != 0) ask(e, v, a);
  }
  std::vector<Rank> asking = std::exchange(o.asking, {});
  std::erase(asking, m.from);  // some were put down for a fragment that its own assignment has reached
  for (const Rank r : list_of(m.due)) {
    m.given ? add(o.copies, r, m.from) : add(asking, r);
    if (m.given && !o.lost) std::erase(asking, r);
  }
  for (const Rank r : asking) serve(e, v, r, a);
  if (v.swept) entrust(e, v, a);
  if (e.counted) count_down(e, v, counted, a);
}

void step(Entry& e, const Fetch& m, const View& v, Actions& a) {
  if (has_value(e.state)) {
    a.say(Say::give, m.to);
  } else if (!v.at_home() && e.state != State::evicted && (v.steady || e.state == State::asked)) {
    // Under way: asked for, or sent unasked.
    begin(e, v);
    e.state = State::asked;
    others(e).asking.push_back(m.to);
  } else {
    // Evicted, or given back to its home, while this was under way.
    a.say(Say::refetch, v.home, m.to);
  }
}

void step(Entry& e, const Give&, const View& v, Actions& a) {
  // Dropped, freed, or brought by a shipment in the meantime: normal.
  if (e.state == State::none && (v.at_home() || v.swept)) return;
  if (is_freed(e.state)) return;
  if (has_value(e.state)) {
    e.touched = true;  // somebody is about to look for it
    return;
  }
  // Unknown: earlier than the fragment that reads it. (Or its scope has ended, and the home's Drop came earlier: rare.)
  begin(e, v);
  if (v.waiting == 0 && v.swept) {  // who asked has been sent elsewhere
    if (e.state == State::asked) e.state = State::absent;
    if (e.state == State::fetched) e.state = State::kept;
    return keep_promises(e, v, a);
  }
  if (!v.at_home()) a.tell_uses = true;
  arrives(e, v, a);
  keep_promises(e, v, a);
  if (e.counted) count_down(e, v, counted_now(v, v.waiting, a), a);
}

void step(Entry& e, const Shipped& m, const View& v, Actions& a) {
  begin(e, v);
  // An entry that its scope frees stays on the scope's list.
  const bool may_go = v.at_home() ? e.counted && !somewhere(e) : e.state != State::entrusted;
  if (m.unheard && may_go && !is_freed(e.state)) {
    // What is here yet is being dropped.
    if (!has_value(e.state)) arrives(e, v, a);
    e.unheard = true;
    e.counted = false;  // until they have got it: these are all who read it
    return keep_promises(e, v, a);
  }
  // It comes before its Publish.
  if (v.at_home() && !somewhere(e)) stays_listed(e, a);
  if (has_value(e.state) || is_freed(e.state)) return;  // if freed, the reader says so when it looks for its input
  arrives(e, v, a);
  if (e.counted) count_down(e, v, counted_now(v, v.waiting, a), a);
  if (v.at_home()) return came_back(e);
  a.tell_uses = true;
  keep_promises(e, v, a);
  if (v.home != m.from) a.say(Say::copied, v.home);
}

// Each holds its own reference, and takes it along.
void step(Entry& e, const Handed&, const View& v, Actions& a) {
  if (!e.unheard) return;
  e.unheard = false;
  const bool asked = e.others != nullptr && !(e.others->asking.empty() && e.others->copies.empty());
  if (!v.at_home() || (!asked && e.assigned_by == 0)) {
    a.forget = true;
  } else if (e.assigned_by == 0) {
    e.state = State::unassigned;
    e.counted = true;
  } else {
    a.listed = Listed::stays;  // assigned twice: a mistake of the program
  }
}

void step(Entry& e, const Copied& m, const View& v, Actions& a) {
  if (!v.scope_lives || is_freed(e.state) || (v.sweeps && e.state == State::none)) return a.say(Say::drop, m.from);
  // The Publish may be under way still: then the entry begins here.
  begin(e, v);
  somewhere(e) ? may_leave(e, v, a) : stays_listed(e, a);
  add(others(e).copies, m.from, v.self);
}

void step(Entry& e, const Drop& m, const View& v, Actions& a) {
  if (e.state == State::none || v.waiting != 0) return;
  // Of a copy that another rank has sent here. The value has come back to life at its home since (count_off), and the
  // home, which has left, has had it kept here.
  if (e.state == State::entrusted && m.from != v.home) return;
  keep_promises(e, v, a);
  a.forget = true;
}

// What came with its readers is theirs, and goes when they have got it.
void step(Entry& e, const Evict&, const View&, Actions&) {
  if (!e.unheard) e.state = State::evicted;
}

void step(Entry& e, const End&, const View& v, Actions& a) {
  drop_copies(e, v, Say::drop, a);
  a.forget = true;
}

void step(Entry& e, const Event& event, const View& v, Actions& a) {
  std::visit([&](const auto& m) { step(e, m, v, a); }, event);
}

}  // namespace tessera::protocol
