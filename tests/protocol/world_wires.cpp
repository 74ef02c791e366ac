// A small world: what its messages do where they come, and ranks that leave and join.
#include <utility>

#include "tests/protocol/world.hpp"
#include "tests/protocol/world_numbers.hpp"

namespace tessera::protocol {

void World::deliver(int from, int to) {
  const Message m = *next(from, to);
  wires_.erase(wires_.begin() + (next(from, to) - wires_.data()));
  const Rank sender = rank_of(from);
  const int n = m.name;
  switch (m.kind) {
    case Kind::request:
      happens(to, n, Request{sender, m.flag});
      break;
    case Kind::publish: {
      std::vector<Rank> due;
      for (int r = 0; r < kRanks; ++r) {
        if (in(m.due, r)) due.push_back(rank_of(r));
      }
      happens(to, n, Publish{sender, static_cast<std::uint32_t>(m.rank), m.value, m.flag, m.uses, &due}, m.value);
      if (m.ack) send(to, from, {.kind = Kind::acked});
      break;
    }
    case Kind::acked:
      leave_scope(to);
      break;
    case Kind::fetch:
      happens(to, n, Fetch{rank_of(m.rank)});
      break;
    case Kind::give:
      happens(to, n, Give{}, true);
      break;
    case Kind::copied:
      happens(to, n, Copied{sender});
      break;
    case Kind::drop:
      if (m.rank >= 0) return send(to, m.rank, {.kind = Kind::drop, .name = m.name});
      if (slots_[to][n].entry.state != State::none) happens(to, n, Drop{sender});
      break;
    case Kind::free:
      happens(to, n, Free{static_cast<std::uint32_t>(m.rank)});
      break;
    case Kind::used:
      for (int k = 0; k < m.count; ++k) happens(to, n, Used{});
      break;
    case Kind::used_up:
      if (slots_[to][n].entry.state != State::none) happens(to, n, UsedUp{sender});
      break;
    case Kind::gone:
      happens(to, n, Gone{});
      break;
    case Kind::refetch:
      happens(to, n, Request{rank_of(m.rank), true});
      break;
    case Kind::entrust:
      happens(to, n, Entrust{sender}, true);
      break;
    case Kind::keep:
      happens(to, n, Keep{sender}, true);
      break;
    case Kind::ship:
      arrive(from, to, m);
      break;
    case Kind::scope_return:
      leave_scope(to);
      break;
    case Kind::change:
      change(to, m.rank, m.flag);
      break;
    case Kind::taken_back:
      happens(to, n, Used{});
      if (m.ack) send(to, from, {.kind = Kind::acked});
      break;
  }
}

void World::arrive(int from, int to, const Message& m) {
  Part& p = parts_[to];
  if (p.open) {
    ++p.count;
    send(to, from, {.kind = Kind::scope_return});
  } else if (to == kHome) {
    fail("a fragment comes to a scope that has ended");
  } else {
    p = {1, static_cast<std::int8_t>(from), true};
  }
  Fragment& x = fragments_[m.fragment];
  x.at = static_cast<std::int8_t>(to);
  x.moved = m.moved;
  if (members_[to].parked) {
    Message on = m;
    on.promised = 0;
    for (int n = 0; n < kNames; ++n) {
      if (!in(on.unheard, n)) continue;
      to == kHome ? (void)happens(to, n, Keep{rank_of(from)}, true)
                  : send(to, kHome, {.kind = Kind::keep, .name = static_cast<std::uint8_t>(n)});
    }
    on.unheard = 0;
    if (to == kHome) on.inputs = 0;
    return send(to, next_target(to), on);
  }
  for (int n = 0; n < kNames; ++n) {
    if (in(m.inputs, n)) happens(to, n, Shipped{rank_of(from), in(m.unheard, n)}, true);
  }
  landing_[to] = {m.fragment, false, members_[to].left ? std::uint8_t{0} : m.promised, m.unheard};
  if (m.inputs == 0) hand(to);
}

void World::hand(int rank) {
  Landing& landing = landing_[rank];
  if (!std::exchange(landing.waits, true)) {
    start(landing.fragment, landing.promised);
    if (landing.unheard != 0) return;
  }
  for (int n = 0; n < kNames; ++n) {
    if (in(landing.unheard, n)) happens(rank, n, Handed{});
  }
  landing = {};
}

// ---------------------------------------------------------------------------- ranks that leave and join

int World::next_target(int rank) const {
  for (int r = setting_->ranks - 1; r >= 0; --r) {
    if (r != rank && in(members_[rank].taking_part, r)) return r;
  }
  return -1;
}

void World::change(int rank, int who, bool joins) {
  Member& m = members_[rank];
  const bool first = std::exchange(m.steady, false);
  m.taking_part = static_cast<std::uint8_t>(joins ? m.taking_part | bit(who) : m.taking_part & ~bit(who));
  for (int n = 0; n < static_cast<int>(setting_->names.size()) && first; ++n) {
    if (slots_[rank][n].entry.state != State::none) happens(rank, n, WantedByAll{});
  }
  if (who != rank) return;
  if (joins) {
    m.parked = m.swept = false;
  } else {
    m.parked = m.left = true;
    sweep(rank);
    may_join_ = may_join_ || (setting_->joins && who == setting_->leaves.front());
  }
}

void World::sweep(int rank) {
  const int to = next_target(rank);
  for (int f = 0; f < static_cast<int>(setting_->fragments.size()); ++f) {
    if (fragments_[f].at == rank && fragments_[f].phase == Phase::aboard) depart(f);
    if (fragments_[f].at == rank && fragments_[f].phase == Phase::ready) board(f, to, false);
  }
  for (int n = 0; n < kNames; ++n) slots_[rank][n].waiting = 0;
  for (int f = 0; f < static_cast<int>(setting_->fragments.size()); ++f) {
    Fragment& x = fragments_[f];
    if (x.at != rank || x.phase != Phase::waiting) continue;
    const std::uint8_t told = std::exchange(x.told, std::uint8_t{0});
    const std::uint8_t holds = std::exchange(x.holds, std::uint8_t{0});
    for (int n = 0; n < kNames; ++n) {
      if (in(holds, n)) happens(rank, n, PutBack{}, true, in(told, n));
    }
    board(f, to, false);
  }
  members_[rank].swept = true;
  for (int r = 0; r < setting_->ranks; ++r) tell_later(rank, r);
  for (int n = 0; n < static_cast<int>(setting_->names.size()); ++n) {
    if (slots_[rank][n].entry.state != State::none) happens(rank, n, Leave{});
  }
}

}  // namespace tessera::protocol
