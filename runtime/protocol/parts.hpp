// What several files of the machine need.
#pragma once

#include "runtime/protocol/step.hpp"

namespace tessera::protocol {

inline Others& others(Entry& e) {
  if (e.others == nullptr) e.others = std::make_unique<Others>();
  return *e.others;
}
// At home: some rank has the value, for all that is known.
inline bool somewhere(const Entry& e) {
  return e.state == State::here || e.state == State::kept || e.state == State::fetched;
}

// uses.cpp
void stays_listed(Entry&, Actions&);
void may_leave(Entry&, const View&, Actions&);
std::int64_t counted_now(const View&, std::int64_t readers, Actions&);
void count_off(Entry&, const View&, Actions&);
void count_down(Entry&, const View&, std::int64_t uses, Actions&);
void free_used(Entry&, const View&, Actions&);

// step.cpp
// At home, of a value that has come from a rank where a reader had it: if this entry knows of no assignment, an earlier
// one may have been used up, and its copies may be being dropped.
void came_back(Entry&);
void ask(Entry&, const View&, Actions&);
void serve(Entry&, const View&, Rank to, Actions&);
Rank giver_of(Entry&, const View&, Rank to);
void drop_copies(const Entry&, const View&, Say, Actions&);
void keep_promises(Entry&, const View&, Actions&);
// Away from home: it hears of what was kept back.
void publish(Entry&, const View&, Actions&);

// leaving.cpp
void entrust(Entry&, const View&, Actions&);

}  // namespace tessera::protocol
