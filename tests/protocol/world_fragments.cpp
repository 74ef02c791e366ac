// A small world: what its fragments do. They are made, wait, run, move and end.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/protocol/world.hpp"
#include "tests/protocol/world_numbers.hpp"

namespace tessera::protocol {

void World::start(int f, std::uint8_t promised) {
  Fragment& x = fragments_[f];
  const FragmentOf& of = setting_->fragments[static_cast<std::size_t>(f)];
  x.phase = Phase::waiting;
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.reads, n)) continue;
    Slot& s = slots_[x.at][n];
    if (s.value) {
      x.holds |= bit(n);
      if (s.told) x.told |= bit(n);
      const bool late = setting_->names[static_cast<std::size_t>(n)].size >= setting_->limits.counted_late;
      if (s.entry.counted && !late) happens(x.at, n, Used{});
      continue;
    }
    if (s.entry.state == State::none) {
      begin(s.entry, view(x.at, n));
      s.listed = x.at == kHome && !known_uses(n);
    }
    if (is_freed(s.entry.state)) return fail("reads what is freed");
    s.waiting |= bit(f);
    if (s.entry.state == State::unassigned || s.entry.state == State::asked) continue;
    const bool here = members_[x.at].steady && !x.moved;
    const bool sent = here && in(of.expects, n) && of.place == x.at;
    bool made = false;
    for (std::size_t m = 0; here && m < setting_->fragments.size(); ++m) {
      made = made || (setting_->names[static_cast<std::size_t>(n)].awaited && in(setting_->fragments[m].makes, n) &&
                      setting_->fragments[m].place == x.at);
    }
    if (!in(promised, n) && s.entry.state == State::absent && s.entry.others == nullptr && (sent || made)) continue;
    happens(x.at, n, Wanted{in(promised, n)});
  }
  if (x.holds == of.reads) x.phase = Phase::ready;
}

void World::submit(int f) {
  Fragment& x = fragments_[f];
  const FragmentOf& of = setting_->fragments[static_cast<std::size_t>(f)];
  ++parts_[kHome].count;
  x.at = kHome;
  if (of.place == kHome || !in(members_[kHome].taking_part, of.place)) {
    start(f, 0);
  } else {
    x.phase = Phase::aboard;
    x.to = static_cast<std::int8_t>(of.place);
    for (int n = 0; n < kNames; ++n) {
      if (!in(of.reads, n)) continue;
      const Travels travels = happens(kHome, n, SeenOff{rank_of(of.place)}).travels;
      if (travels == Travels::along) x.inputs |= bit(n);
      const bool comes = in(of.expects, n) && members_[kHome].steady;
      if (travels == Travels::promised && !comes) x.promised |= bit(n);
    }
  }
  if (f + 1 == static_cast<int>(setting_->fragments.size())) leave_scope(kHome);  // the body has ended
}

void World::depart(int f) {
  Fragment& x = fragments_[f];
  x.phase = Phase::flying;
  const int to = std::exchange(x.to, std::int8_t{-1});
  const std::uint8_t promised = std::exchange(x.promised, std::uint8_t{0});
  send(x.at, to,
       {.kind = Kind::ship,
        .fragment = static_cast<std::int8_t>(f),
        .inputs = std::exchange(x.inputs, std::uint8_t{0}),
        .promised = promised,
        .moved = x.moved});
  for (int n = 0; n < kNames; ++n) {
    if (in(promised, n)) happens(kHome, n, Request{rank_of(to)});
  }
}

std::uint8_t World::due(int rank, int f, int n) const {
  std::uint8_t ranks = 0;
  if (!members_[rank].steady) return 0;
  for (const FragmentOf& reader : setting_->fragments) {
    if (in(reader.reads | reader.takes_back, n) && in(reader.expects, n)) ranks |= bit(reader.place);
  }
  if (setting_->names[static_cast<std::size_t>(n)].awaited)
    ranks |= bit(setting_->fragments[static_cast<std::size_t>(f)].place);
  return ranks & static_cast<std::uint8_t>(~bit(rank));
}

void World::run(int f) {
  Fragment& x = fragments_[f];
  const FragmentOf& of = setting_->fragments[static_cast<std::size_t>(f)];
  const int at = x.at;
  std::array<int, kNames> readers{}, taken_back{};
  for (const FragmentOf& other : setting_->fragments) {
    for (int n = 0; n < kNames; ++n) {
      readers[n] += in(other.reads, n) ? 1 : 0;
      taken_back[n] += in(other.takes_back, n) ? 1 : 0;
    }
  }
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.reads, n)) continue;
    ++runs_[n];
    if (!known_uses(n) || !in(x.told, n)) continue;
    if (at != kHome) {
      const Entry& e = slots_[at][n].entry;
      if (e.untold) {
        happens(at, n, UsedHere{});
      } else if (e.state != State::none) {
        ++later_[at][kHome].used[n];
      }
    } else if (view(at, n).late()) {
      happens(at, n, Used{});
    }
  }
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.makes, n)) continue;
    std::vector<Rank> due_ranks;
    for (int r = 0; r < setting_->ranks; ++r) {
      if (in(due(at, f, n), r)) due_ranks.push_back(rank_of(r));
    }
    const int uses = known_uses(n) ? readers[n] + taken_back[n] : -1;
    const Actions& a = happens(at, n, Assigned{static_cast<std::uint32_t>(f), uses, &due_ranks, true}, true);
    if (a.untold) {
      kept_back_[at] |= bit(n);
      ++parts_[at].count;
    }
    if (a.publish.out) publish(at, n, f, a.publish);
  }
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.takes_back, n)) continue;
    if (at == kHome) {
      happens(at, n, Used{});
      continue;
    }
    const bool ack = parts_[at].engaged_by != kHome;
    if (ack) ++parts_[at].count;
    send(at, kHome, {.kind = Kind::taken_back, .name = static_cast<std::uint8_t>(n), .ack = ack});
  }
  x.holds = x.told = 0;
  x.phase = Phase::done;
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.reads, n) || !setting_->names[static_cast<std::size_t>(n)].deleted || runs_[n] != readers[n]) continue;
    if (at == kHome) {
      happens(at, n, Free{static_cast<std::uint32_t>(f)});
    } else {
      send(at, kHome, {.kind = Kind::free, .name = static_cast<std::uint8_t>(n), .rank = static_cast<std::int8_t>(f)});
    }
  }
  leave_scope(at);
}

void World::publish(int rank, int n, int by, const Publishing& p) {
  Message m{.kind = Kind::publish,
            .name = static_cast<std::uint8_t>(n),
            .rank = static_cast<std::int8_t>(by),
            .value = p.value,
            .flag = p.given,
            .uses = static_cast<std::int8_t>(p.uses)};
  for (const Rank r : p.due) m.due |= bit(number(r));
  m.ack = must_be_answered(parts_[rank].engaged_by, kHome);
  if (m.ack) ++parts_[rank].count;
  send(rank, kHome, m);
}

void World::board(int f, int to, bool at_once) {
  Fragment& x = fragments_[f];
  const int at = x.at;
  Message ship{.kind = Kind::ship, .fragment = static_cast<std::int8_t>(f)};
  const bool gathered = x.phase == Phase::ready;
  for (int n = 0; n < kNames && gathered; ++n) {
    if (!in(x.holds, n)) continue;
    const Actions& a = happens(at, n, GoesAlong{rank_of(to), at_once}, true, in(x.told, n));
    if (a.travels == Travels::along) ship.inputs |= bit(n);
    if (a.travels == Travels::along && a.unheard) ship.unheard |= bit(n);
    if (a.travels == Travels::promised) ship.promised |= bit(n);
  }
  x.moved = x.moved || gathered;
  ship.moved = x.moved;
  x.holds = x.told = 0;
  x.phase = Phase::flying;
  send(at, to, ship);
}

void World::leave_scope(int rank, int count) {
  Part& p = parts_[rank];
  p.count = static_cast<std::int8_t>(p.count - count);
  if (p.count > 0) return;
  if (p.count < 0 || !p.open) return fail("the scope's count is wrong");
  p.open = false;
  if (rank != kHome) return send(rank, p.engaged_by, {.kind = Kind::scope_return});
  ended_ = true;
  for (int n = 0; n < static_cast<int>(setting_->names.size()); ++n) {
    const Entry& e = slots_[kHome][n].entry;
    if (e.state == State::none) continue;
    // Where ranks leave, some uses are missed (protocol/uses.cpp).
    const bool exact = setting_->leaves.empty();
    if (exact && e.counted && e.state == State::here && !use_to_be_told(n)) {
      fail("what all have read stays until its scope ends");
    }
    if (slots_[kHome][n].listed) happens(kHome, n, End{});
  }
}

bool World::use_to_be_told(int name) const {
  for (int r = 0; r < kRanks; ++r) {
    if (later_[r][kHome].used[static_cast<std::size_t>(name)] != 0) return true;
  }
  return std::any_of(wires_.begin(), wires_.end(),
                     [name](const Message& m) { return m.to == kHome && m.kind == Kind::used && m.name == name; });
}

void World::tell_later(int from, int to) {
  const Later l = std::exchange(later_[from][to], {});
  for (int n = 0; n < kNames; ++n) {
    const auto name = static_cast<std::uint8_t>(n);
    if (l.used[n] != 0)
      send(from, to, {.kind = Kind::used, .name = name, .count = static_cast<std::int8_t>(l.used[n])});
    if (in(l.used_up, n)) send(from, to, {.kind = Kind::used_up, .name = name});
    if (in(l.drops, n)) send(from, to, {.kind = Kind::drop, .name = name});
    for (int r = 0; r < kRanks; ++r) {
      if (in(l.passed[n], r)) send(from, to, {.kind = Kind::drop, .name = name, .rank = static_cast<std::int8_t>(r)});
    }
  }
}

}  // namespace tessera::protocol
