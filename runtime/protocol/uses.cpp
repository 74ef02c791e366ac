// Names with known uses, of which fragments on several ranks make use (docs/optimisations.md, count-uses).
//
// The home counts. A fragment that gets its input there is counted then, and counted off again if it is moved
// (GoesAlong). One that runs elsewhere is counted when it begins to run, by its rank: it moves no more, and holds its
// input. So is one that reads a large value at home, where a balancer may still move it: then its home knows who has
// the value, and nobody is sent it twice. So each use is counted at most once, and what is freed has no reader left. A
// use that is missed costs memory only: then the scope frees the value.
#include "runtime/protocol/parts.hpp"

namespace tessera::protocol {

// From now on the entry lives until its scope ends: not all of its uses can be counted.
void stays_listed(Entry& e, Actions& a) {
  if (!e.counted) return;
  e.counted = false;
  a.listed = Listed::stays;
}

// Another rank is involved: the scope has to find the entry at its end, if it is there still. A rank that has once left
// the run counts no more.
void may_leave(Entry& e, const View& v, Actions& a) {
  if (!e.counted) return;
  if (v.left) return stays_listed(e, a);
  others(e);
  a.listed = Listed::may_leave;
}

// Of so many readers here, how many are counted when they get the value.
std::int64_t counted_now(const View& v, std::int64_t readers, Actions& a) {
  if (!v.late()) return readers;
  a.tell_uses = true;
  return 0;
}

// A fragment that has been counted when it got the value is going to look for it again, perhaps on another rank.
void count_off(Entry& e, const View& v, Actions& a) {
  if (is_freed(e.state)) return;
  begin(e, v);
  const bool gone = !somewhere(e);
  gone&& v.late() ? stays_listed(e, a) : may_leave(e, v, a);
  if (e.counted) e.set_uses_left(gone ? 1 : e.uses_left() + counted_now(v, 1, a));
  if (!has_value(e.state)) a.wake = true;
  e.state = State::here;
  if (gone) others(e).again = true;
}

// So many fragments have used it.
void count_down(Entry& e, const View& v, std::int64_t uses, Actions& a) {
  e.set_uses_left(e.uses_left() - uses);
  if (e.uses_left() <= 0) free_used(e, v, a);
}

void free_used(Entry& e, const View& v, Actions& a) {
  a.forget = true;
  drop_copies(e, v, Say::drop_later, a);
  if (e.others == nullptr) return;
  for (const Rank r : e.others->asking) {
    if (r != v.self) a.say(Say::drop_later, r);
  }
}

// The maker may have sent the value there before this rank hears of that: then what is left is negative.
void step(Entry& e, const Used&, const View& v, Actions& a) {
  if (!v.scope_lives) return;
  begin(e, v);
  const bool assigned = somewhere(e);
  if (!assigned) may_leave(e, v, a);
  if (!e.counted) return;
  assigned ? count_down(e, v, 1, a) : e.set_uses_left(e.uses_left() - 1);
}

// It was assigned and read there only, although this rank was asked for it. It only forgets that. Nobody drops
// anything: where the value is, a reader may still hold it and be moved, and then that copy is all there is.
void step(Entry& e, const UsedUp& m, const View& v, Actions& a) {
  if (e.state == State::none || !e.counted || somewhere(e) || v.waiting != 0) return;
  // Asked for elsewhere: a fragment that had it there moved while it waited for something else, and its Keep is to
  // come.
  const auto another = [&](Rank r) { return r != m.from; };
  const bool moved = e.others != nullptr && std::any_of(e.others->asking.begin(), e.others->asking.end(), another);
  if (moved) return stays_listed(e, a);
  a.forget = true;
}

}  // namespace tessera::protocol
