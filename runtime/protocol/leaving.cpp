// The values of a rank that leaves the run (runtime/node/evacuation.hpp).
//
// Names keep their home: it is part of the name, and copies of names are in frames everywhere. What leaves is what has
// a size: values. After Leave a rank's table has
//   of its own names  entries without a value, whose keeper is another rank, or with a small one;
//   of other names    nothing.
// A Fetch that was under way to this rank is answered with a Refetch: its home has the value by then, for Keep was sent
// before and parcels of a pair keep their order. The keeper of an entrusted value may leave as well: it sends a Keep
// like any other, and the home entrusts it to somebody else.
#include <utility>

#include "runtime/protocol/parts.hpp"

namespace tessera::protocol {

// Has another rank keep the value, unless it is small enough to stay.
void entrust(Entry& e, const View& v, Actions& a) {
  if (!has_value(e.state) || v.size <= std::min(v.limits.stays, v.limits.eager)) return;
  Others& o = others(e);
  e.state = State::kept;
  if (o.keeper != kNobody) return;  // what is here is a copy
  o.keeper = v.next_keeper;
  add(o.copies, v.next_keeper, v.self);
  a.say(Say::entrust, v.next_keeper);
}

void step(Entry& e, const Leave&, const View& v, Actions& a) {
  if (v.at_home()) {
    stays_listed(e, a);
    return entrust(e, v, a);
  }
  publish(e, v, a);
  keep_promises(e, v, a);
  // The home believes it here.
  const bool needed = e.state == State::entrusted || (e.state == State::made && !v.small());
  if (needed) a.say(Say::keep, v.home);
  a.forget = true;
}

void step(Entry& e, const Entrust& m, const View& v, Actions& a) {
  if (v.swept) return a.say(Say::keep, m.from);
  begin(e, v);
  if (!has_value(e.state)) a.wake = true;
  e.state = State::entrusted;  // what is kept for others must not be evicted
  keep_promises(e, v, a);
}

void step(Entry& e, const Keep& m, const View& v, Actions& a) {
  if (!v.scope_lives || (v.sweeps && e.state == State::none)) return;
  begin(e, v);
  stays_listed(e, a);
  if (is_freed(e.state)) return;
  if (e.others != nullptr) {
    if (e.others->keeper != kNobody && e.others->keeper != m.from) return;
    e.others->keeper = kNobody;
  }
  if (has_value(e.state)) return;
  e.state = State::here;
  came_back(e);
  a.wake = true;
  std::vector<Rank> asking;
  if (e.others != nullptr) asking.swap(e.others->asking);
  for (const Rank r : asking) serve(e, v, r, a);
  if (v.swept) entrust(e, v, a);
}

}  // namespace tessera::protocol
