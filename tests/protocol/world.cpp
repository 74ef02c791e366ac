#include "tests/protocol/world.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::protocol {
namespace {

constexpr int kHome = 0;

std::uint8_t bit(int k) { return static_cast<std::uint8_t>(1u << k); }
bool in(std::uint8_t set, int k) { return (set >> k & 1) != 0; }
Rank rank_of(int r) { return Rank{r}; }
int number(Rank r) { return balancer::index(r); }

Entry copy(const Entry& e) {
  Entry c(e.state, e.counted);
  if (e.others != nullptr) c.others = std::make_unique<Others>(*e.others);
  c.assigned_by = e.assigned_by;
  c.touched = e.touched;
  c.unheard = e.unheard;
  if (e.counted) c.set_uses_left(e.uses_left());
  if (is_freed(e.state)) c.set_freed(e.state, e.freed_by());
  return c;
}

const char* const kKinds[] = {"Request", "Publish",    "Acked", "Fetch",       "Give",         "Copied",
                              "Drop",    "DeleteHint", "Used",  "Used (up)",   "Gone",         "Refetch",
                              "Entrust", "Keep",       "Ship",  "ScopeReturn", "MemberChange", "TakenBack"};

}  // namespace

World::World(const Setting& setting, const Step& step) : setting_(&setting), step_(&step) {
  parts_[kHome] = {1, -1, true};  // the count of the body that creates the fragments
  for (int r = 0; r < setting.ranks; ++r)
    members_[r].taking_part = static_cast<std::uint8_t>((1u << setting.ranks) - 1);
  if (setting.spare >= 0) {
    for (int r = 0; r < setting.ranks; ++r) members_[r].taking_part &= static_cast<std::uint8_t>(~bit(setting.spare));
    Member& m = members_[setting.spare];
    m.parked = m.swept = m.left = spare_rests_ = true;
  }
  moves_left_ = setting.moves;
  evictions_left_ = setting.evictions;
}

World::World(const World& o) { *this = o; }

World& World::operator=(const World& o) {
  setting_ = o.setting_;
  step_ = o.step_;
  for (int r = 0; r < setting_->ranks; ++r) {
    for (int n = 0; n < static_cast<int>(setting_->names.size()); ++n) {
      const Slot& s = o.slots_[r][n];
      Slot& t = slots_[r][n];
      t.entry = copy(s.entry);
      t.value = s.value;
      t.told = s.told;
      t.listed = s.listed;
      t.waiting = s.waiting;
    }
  }
  for (int r = 0; r < setting_->ranks; ++r) {
    for (int to = 0; to < setting_->ranks; ++to) wires_[r][to] = o.wires_[r][to];
  }
  fragments_ = o.fragments_;
  parts_ = o.parts_;
  members_ = o.members_;
  later_ = o.later_;
  runs_ = o.runs_;
  moves_left_ = o.moves_left_;
  evictions_left_ = o.evictions_left_;
  left_ = o.left_;
  may_join_ = o.may_join_;
  spare_rests_ = o.spare_rests_;
  ended_ = o.ended_;
  return *this;
}

// ---------------------------------------------------------------------------- what can happen

std::vector<Choice> World::choices() const {
  std::vector<Choice> all;
  const auto add = [&](Does does, int a = 0, int b = 0) {
    all.push_back({does, static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)});
  };
  const int fragments = static_cast<int>(setting_->fragments.size());
  bool unborn = false;
  for (int f = 0; f < fragments; ++f) {
    const Fragment& x = fragments_[f];
    // They are created in their order.
    if (x.phase == Phase::unborn && !std::exchange(unborn, true)) add(Does::submit, f);
    if (x.phase == Phase::aboard) add(Does::depart, f);
    if (x.phase != Phase::ready) continue;
    add(Does::run, f);
    for (int to = 0; to < setting_->ranks && moves_left_ > 0; ++to) {
      if (to != x.at && in(members_[x.at].taking_part, to)) add(Does::move, f, to);
    }
  }
  for (int r = 0; r < setting_->ranks; ++r) {
    for (int to = 0; to < setting_->ranks; ++to) {
      if (!wires_[r][to].empty()) add(Does::deliver, r, to);
      const Later& l = later_[r][to];
      if (l.used_up != 0 || l.drops != 0 || l.used != decltype(l.used){} || l.passed != decltype(l.passed){})
        add(Does::tell, r, to);
    }
    for (int n = 0; n < static_cast<int>(setting_->names.size()) && evictions_left_ > 0; ++n) {
      bool in_use = false;
      for (int f = 0; f < fragments; ++f) in_use = in_use || (fragments_[f].at == r && in(fragments_[f].holds, n));
      if (slots_[r][n].entry.state == State::copy && !in_use) add(Does::evict, r, n);
    }
  }
  if (left_ < setting_->leaves.size()) {
    const int who = setting_->leaves[left_];
    // Somebody stays.
    if ((who != kHome || !unborn) && (members_[0].taking_part & ~bit(who)) != 0) add(Does::leave, who);
  }
  if (may_join_) add(Does::join, setting_->leaves.front());
  if (spare_rests_) add(Does::join, setting_->spare);
  return all;
}

std::string World::take(const Choice& c) {
  wrong_.clear();
  switch (c.does) {
    case Does::submit:
      submit(c.a);
      break;
    case Does::depart:
      depart(c.a);
      break;
    case Does::deliver:
      deliver(c.a, c.b);
      break;
    case Does::run:
      run(c.a);
      break;
    case Does::move:
      --moves_left_;
      board(c.a, c.b, true);
      break;
    case Does::evict:
      --evictions_left_;
      happens(c.a, c.b, Evict{});
      break;
    case Does::tell:
      tell_later(c.a, c.b);
      break;
    case Does::leave:
    case Does::join: {
      const bool joins = c.does == Does::join;
      !joins ? void(++left_) : c.a == setting_->spare ? void(spare_rests_ = false) : void(may_join_ = false);
      for (int r = 1; r < setting_->ranks; ++r) {
        send(0, r, {.kind = Kind::change, .rank = c.a, .flag = joins});
      }
      change(0, c.a, joins);
      break;
    }
  }
  return wrong_;
}

std::string World::wrong_at_the_end() const {
  for (std::size_t f = 0; f < setting_->fragments.size(); ++f) {
    if (fragments_[f].phase != Phase::done)
      return "fragment " + std::to_string(f) + " never runs: the program is stuck";
  }
  if (!ended_) return "the scope never ends";
  for (int r = 0; r < setting_->ranks; ++r) {
    for (int n = 0; n < kNames; ++n) {
      if (slots_[r][n].value)
        return "rank " + std::to_string(r) + " keeps the value of name " + std::to_string(n) + " after its scope";
      if (r == kHome && slots_[r][n].entry.state != State::none)
        return "the home keeps name " + std::to_string(n) + " after its scope";
    }
  }
  return "";
}

// ---------------------------------------------------------------------------- the machine, as runtime/data uses it

View World::view(int rank, int name) const {
  const Member& m = members_[rank];
  return {.self = rank_of(rank),
          .home = rank_of(kHome),
          .known_uses = known_uses(name),
          .scope_lives = !ended_,
          .steady = m.steady,
          .left = m.left,
          .swept = m.swept,
          .next_keeper = m.swept ? rank_of(next_target(rank)) : kNobody,
          .waiting = 0,
          .size = setting_->names[static_cast<std::size_t>(name)].size,
          .limits = setting_->limits};
}

const Actions& World::happens(int rank, int name, const Event& event, bool brought, bool marked) {
  Slot& s = slots_[rank][name];
  View v = view(rank, name);
  const bool counts = std::holds_alternative<Assigned>(event) || std::holds_alternative<Publish>(event) ||
                      std::holds_alternative<Give>(event) || std::holds_alternative<Shipped>(event);
  v.waiting = counts && v.known_uses ? std::popcount(s.waiting) : s.waiting != 0 ? 1 : 0;
  const bool fresh = s.entry.state == State::none;
  actions_.clear();
  (*step_)(s.entry, event, v, actions_);
  const Actions& a = actions_;
  if (fresh && s.entry.state != State::none && rank == kHome && !v.known_uses) s.listed = true;
  const bool had = s.value, got = has_value(s.entry.state) && !had && !a.forget;
  if (got && !brought) fail("takes the value from nowhere");
  if (got) s.value = true, s.told = marked;
  if (a.tell_uses) s.told = s.value, marked = true;
  for (const Send& x : a.sends) {
    const bool carries = x.say == Say::give || x.say == Say::entrust || x.say == Say::keep;
    if (carries && !had && !brought) fail("sends a value that it has not");
    const auto n = static_cast<std::uint8_t>(name);
    const int to = number(x.to);
    const auto whom = static_cast<std::int8_t>(number(x.whom));
    if (to == rank && x.say != Say::drop_later) fail("sends to itself");
    switch (x.say) {
      case Say::request:
        send(rank, to, {.kind = Kind::request, .name = n, .flag = x.flag});
        break;
      case Say::fetch:
        send(rank, to, {.kind = Kind::fetch, .name = n, .rank = whom});
        break;
      case Say::give:
        send(rank, to, {.kind = Kind::give, .name = n});
        break;
      case Say::copied:
        send(rank, to, {.kind = Kind::copied, .name = n});
        break;
      case Say::drop:
        send(rank, to, {.kind = Kind::drop, .name = n, .rank = whom});
        break;
      case Say::drop_later:
        whom < 0 ? (later_[rank][to].drops |= bit(name)) : (later_[rank][to].passed[name] |= bit(whom));
        break;
      case Say::used_up:
        later_[rank][to].used_up |= bit(name);
        break;
      case Say::gone:
        send(rank, to, {.kind = Kind::gone, .name = n});
        break;
      case Say::refetch:
        send(rank, to, {.kind = Kind::refetch, .name = n, .rank = whom});
        break;
      case Say::entrust:
        send(rank, to, {.kind = Kind::entrust, .name = n});
        break;
      case Say::keep:
        send(rank, to, {.kind = Kind::keep, .name = n});
        break;
    }
  }
  if (!a.forget && a.listed != Listed::as_before) s.listed = true;
  if (!has_value(s.entry.state)) s.value = s.told = false;
  const std::uint8_t waiting = a.wake ? std::exchange(s.waiting, std::uint8_t{0}) : std::uint8_t{0};
  if (s.value && s.waiting != 0) fail("has the value, and somebody waits for it");
  if (a.forget) {
    if (s.waiting != 0) fail("forgets what somebody waits for");
    s = Slot{};
  }
  if (a.fault == Fault::read_freed) fail("a reader waits for what is freed");
  if (a.fault != Fault::none) fail("takes a program that is right for a wrong one");
  if (waiting != 0) wake(rank, name, waiting, marked);
  return actions_;
}

void World::send(int from, int to, Message m) { wires_[from][to].push_back(m); }

void World::wake(int rank, int name, std::uint8_t fragments, bool marked) {
  for (int f = 0; f < kFragments; ++f) {
    if (!in(fragments, f)) continue;
    Fragment& x = fragments_[f];
    x.holds |= bit(name);
    if (marked) x.told |= bit(name);
    if (x.holds == setting_->fragments[static_cast<std::size_t>(f)].reads) x.phase = Phase::ready;
  }
}

// ---------------------------------------------------------------------------- fragments

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
  std::array<int, kNames> readers{};
  for (const FragmentOf& other : setting_->fragments) {
    for (int n = 0; n < kNames; ++n) readers[n] += (in(other.reads, n) ? 1 : 0) + (in(other.takes_back, n) ? 1 : 0);
  }
  for (int n = 0; n < kNames; ++n) {
    if (!in(of.reads, n)) continue;
    ++runs_[n];
    if (!known_uses(n) || !in(x.told, n)) continue;
    if (at != kHome) {
      if (slots_[at][n].entry.state != State::none) ++later_[at][kHome].used[n];
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
    const int uses = known_uses(n) ? readers[n] : -1;
    const Actions& a = happens(at, n, Assigned{static_cast<std::uint32_t>(f), uses, &due_ranks}, true);
    if (!a.publish.out) continue;
    Message m{.kind = Kind::publish,
              .name = static_cast<std::uint8_t>(n),
              .rank = static_cast<std::int8_t>(f),
              .value = a.publish.value,
              .flag = a.publish.given,
              .uses = static_cast<std::int8_t>(uses)};
    for (const Rank r : a.publish.due) m.due |= bit(number(r));
    m.ack = must_be_answered(parts_[at].engaged_by, kHome);
    if (m.ack) ++parts_[at].count;
    send(at, kHome, m);
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
    // Where fragments move, some uses are missed (protocol/uses.cpp).
    const bool exact = setting_->moves == 0 && setting_->leaves.empty();
    if (exact && e.counted && e.state == State::here && !use_to_be_told(n)) {
      fail("what all have read stays until its scope ends");
    }
    if (slots_[kHome][n].listed) happens(kHome, n, End{});
  }
}

bool World::use_to_be_told(int name) const {
  const auto says = [name](const Message& m) { return m.kind == Kind::used && m.name == name; };
  for (int r = 0; r < kRanks; ++r) {
    if (later_[r][kHome].used[static_cast<std::size_t>(name)] != 0) return true;
    if (std::any_of(wires_[r][kHome].begin(), wires_[r][kHome].end(), says)) return true;
  }
  return false;
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

// ---------------------------------------------------------------------------- messages

void World::deliver(int from, int to) {
  const Message m = wires_[from][to].front();
  wires_[from][to].erase(wires_[from][to].begin());
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
  start(m.fragment, members_[to].left ? std::uint8_t{0} : m.promised);
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

// ---------------------------------------------------------------------------- bytes and words

void World::write(std::string& bytes) const {
  const auto put = [&](auto... x) { (bytes.push_back(static_cast<char>(x)), ...); };
  const auto ranks = [&](const std::vector<Rank>& all) {
    put(all.size());
    for (const Rank r : all) put(number(r));
  };
  for (int r = 0; r < setting_->ranks; ++r) {
    for (std::size_t n = 0; n < setting_->names.size(); ++n) {
      const Slot& s = slots_[r][n];
      const Entry& e = s.entry;
      put(static_cast<int>(e.state),
          e.counted | e.unheard << 1 | s.value << 2 | s.told << 3 | s.listed << 4 | (e.assigned_by != 0) << 5,
          s.waiting, e.counted ? e.uses_left() : 0, e.others != nullptr);
      if (e.others == nullptr) continue;
      put(e.others->copies.size());
      for (const Holder& h : e.others->copies) put(number(h.rank), number(h.by));
      ranks(e.others->asking);
      put(number(e.others->keeper), e.others->lost, e.others->again);
    }
    for (int to = 0; to < setting_->ranks; ++to) {
      put(wires_[r][to].size());
      for (const Message& m : wires_[r][to]) {
        put(static_cast<int>(m.kind), m.name, m.rank, m.due, m.value | m.flag << 1 | m.ack << 2 | m.moved << 3, m.uses,
            m.fragment, m.inputs, m.unheard, m.promised, m.count);
      }
      const Later& l = later_[r][to];
      put(l.used_up, l.drops);
      for (const auto u : l.used) put(u);
      for (const auto u : l.passed) put(u);
    }
    put(parts_[r].count, parts_[r].engaged_by, parts_[r].open);
    const Member& m = members_[r];
    put(m.steady | m.parked << 1 | m.swept << 2 | m.left << 3, m.taking_part);
  }
  for (std::size_t f = 0; f < setting_->fragments.size(); ++f) {
    const Fragment& x = fragments_[f];
    put(static_cast<int>(x.phase), x.at, x.to, x.holds, x.told, x.inputs, x.promised, x.moved);
  }
  for (const auto r : runs_) put(r);
  put(moves_left_, evictions_left_, left_, may_join_, spare_rests_, ended_);
}

std::string World::tell(const Choice& c) const {
  const auto text = [](int n) { return std::to_string(n); };
  switch (c.does) {
    case Does::submit:
      return "fragment " + text(c.a) + " is created";
    case Does::depart:
      return "fragment " + text(c.a) + " departs to rank " + text(fragments_[c.a].to);
    case Does::run:
      return "fragment " + text(c.a) + " runs on rank " + text(fragments_[c.a].at);
    case Does::move:
      return "fragment " + text(c.a) + " is moved from rank " + text(fragments_[c.a].at) + " to " + text(c.b);
    case Does::evict:
      return "rank " + text(c.a) + " evicts name " + text(c.b);
    case Does::tell:
      return "rank " + text(c.a) + " tells rank " + text(c.b) + " what it has put off";
    case Does::leave:
      return "rank " + text(c.a) + " is told to leave";
    case Does::join:
      return "rank " + text(c.a) + " is told to join";
    case Does::deliver:
      break;
  }
  const Message& m = wires_[c.a][c.b].front();
  std::string line = "rank " + text(c.b) + " gets " + kKinds[static_cast<int>(m.kind)] + " from rank " + text(c.a);
  if (m.kind == Kind::ship) return line + ": fragment " + text(m.fragment) + (m.inputs != 0 ? " and inputs" : "");
  if (m.kind == Kind::acked || m.kind == Kind::scope_return || m.kind == Kind::change) return line;
  line += ": name " + text(m.name);
  if ((m.kind == Kind::fetch || m.kind == Kind::refetch || m.kind == Kind::drop) && m.rank >= 0)
    line += " for rank " + text(m.rank);
  if (m.kind == Kind::publish && m.value) line += ", with its value";
  return line;
}

}  // namespace tessera::protocol
