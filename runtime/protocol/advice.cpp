// What advice frees before its scope ends: `delete`, `-->`, `drop`, and `req_count`.
//
// The home decides. A `delete` is told to it when its fragment (or everything under its call) has finished. For
// `req_count` the home counts the readers that have begun to run, on whichever rank they do: each holds its input by
// itself, so the value may go when the last one is counted, and a reader that moves between ranks before it runs is
// counted once. Which names have a count at all is known to the translator, so other names cost nothing.
#include <utility>

#include "runtime/protocol/parts.hpp"

namespace tessera::protocol {
namespace {

// Fragments that have gathered it hold references of their own.
void free_early(Entry& e, State how, std::uint32_t block, const View& v, Actions& a) {
  stays_listed(e, a);
  e.set_freed(how, block);
  if (e.others == nullptr) return;
  drop_copies(e, v, Say::drop, a);
  e.others->copies.clear();
  for (const Rank r : std::exchange(e.others->asking, {})) a.say(Say::gone, r);
}

}  // namespace

void step(Entry& e, const Free& m, const View& v, Actions& a) {
  if (!v.scope_lives || is_freed(e.state)) return;
  // All who read it have: it went with the last of them, or when nobody could read it any more. Or they hold it, and it
  // goes when they have got it: a worker may run one before that.
  if ((e.state == State::none && (v.known_uses || v.sweeps)) || e.unheard) return;
  begin(e, v);
  free_early(e, State::freed, m.block, v, a);
  if (v.waiting != 0) a.fault = Fault::read_freed;
}

void step(Entry& e, const Gone&, const View& v, Actions& a) {
  if (e.state == State::none || has_value(e.state)) return;  // a shipment has brought it
  if (e.state == State::asked) e.state = State::absent;
  keep_promises(e, v, a);
  if (v.waiting != 0) a.fault = Fault::read_freed;
}

void step(Entry& e, const Read& m, const View& v, Actions& a) {
  begin(e, v);
  if (e.state == State::spent) a.fault = Fault::read_too_often;
  if (is_freed(e.state)) return;  // behind a `delete` the word of an earlier read may come late
  Others& o = others(e);
  if (++o.reads == o.limit) free_early(e, State::spent, m.block, v, a);
}

void step(Entry& e, const Limit& m, const View& v, Actions& a) {
  begin(e, v);
  if (is_freed(e.state)) return;
  Others& o = others(e);
  if (o.limit >= 0 && o.limit != m.reads) {
    a.fault = Fault::limits_differ;
    return;
  }
  o.limit = m.reads;
  o.limit_by = m.block;
  if (o.reads > m.reads) {
    a.fault = Fault::limit_too_small;
  } else if (o.reads == m.reads && v.waiting != 0) {
    a.fault = Fault::limit_unmet;
  } else if (o.reads == m.reads) {
    free_early(e, State::spent, m.block, v, a);
  }
}

}  // namespace tessera::protocol
