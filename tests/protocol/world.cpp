#include "tests/protocol/world.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <variant>

#include "tests/protocol/world_numbers.hpp"

namespace tessera::protocol {
namespace {

Entry copy(const Entry& e) {
  Entry c(e.state, e.counted);
  if (e.others != nullptr) c.others = std::make_unique<Others>(*e.others);
  c.assigned_by = e.assigned_by;
  c.touched = e.touched;
  c.unheard = e.unheard;
  c.untold = e.untold;
  if (e.counted || e.untold) c.set_uses_left(e.uses_left());
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
  aheads_left_ = setting.aheads;
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
      t.stays = s.stays;
      t.linked = s.linked;
      t.waiting = s.waiting;
    }
  }
  wires_ = o.wires_;
  fragments_ = o.fragments_;
  parts_ = o.parts_;
  members_ = o.members_;
  landing_ = o.landing_;
  later_ = o.later_;
  runs_ = o.runs_;
  kept_back_ = o.kept_back_;
  moves_left_ = o.moves_left_;
  evictions_left_ = o.evictions_left_;
  aheads_left_ = o.aheads_left_;
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
    for (int to = 0; to < setting_->ranks && moves_left_ > 0 && landing_[x.at].fragment < 0; ++to) {
      if (to != x.at && in(members_[x.at].taking_part, to)) add(Does::move, f, to);
    }
  }
  for (int r = 0; r < setting_->ranks; ++r) {
    if (landing_[r].fragment >= 0) add(Does::hand, r);
    for (int to = 0; to < setting_->ranks; ++to) {
      if (landing_[to].fragment < 0 && next(r, to) != nullptr) add(Does::deliver, r, to);
      const Later& l = later_[r][to];
      if (l.used_up != 0 || l.drops != 0 || l.used != decltype(l.used){} || l.passed != decltype(l.passed){})
        add(Does::tell, r, to);
    }
    for (int n = 0; n < kNames; ++n) {
      if (in(kept_back_[r], n)) add(Does::publish, r, n);
    }
    for (int n = 0; n < static_cast<int>(setting_->names.size()) && evictions_left_ > 0; ++n) {
      bool in_use = false;
      for (int f = 0; f < fragments; ++f) in_use = in_use || (fragments_[f].at == r && in(fragments_[f].holds, n));
      if (slots_[r][n].entry.state == State::copy && !in_use) add(Does::evict, r, n);
    }
  }
  for (int n = 0; n < static_cast<int>(setting_->names.size()) && aheads_left_ > 0; ++n) {
    const Slot& s = slots_[kHome][n];
    if (s.entry.state == State::kept && s.waiting == 0) add(Does::ahead, n);
  }
  if (landing_[0].fragment >= 0) return all;
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
    case Does::ahead:
      --aheads_left_;
      happens(kHome, c.a, Wanted{});
      break;
    case Does::tell:
      tell_later(c.a, c.b);
      break;
    case Does::publish:
      kept_back_[c.a] &= static_cast<std::uint8_t>(~bit(c.b));
      if (slots_[c.a][c.b].entry.state != State::none) happens(c.a, c.b, Tell{});
      leave_scope(c.a);
      break;
    case Does::hand:
      hand(c.a);
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
  const bool fresh = s.entry.state == State::none, freed_before = is_freed(s.entry.state);
  actions_.clear();
  (*step_)(s.entry, event, v, actions_);
  const Actions& a = actions_;
  if (fresh && s.entry.state != State::none && rank == kHome && !v.known_uses) s.listed = true;
  const bool had = s.value, got = has_value(s.entry.state) && !had && !a.forget;
  if (got && !brought) fail("takes the value from nowhere");
  if (got) s.value = true, s.told = marked;
  if (a.tell_uses) s.told = s.value, marked = true;
  if (a.publish.out && !std::holds_alternative<Assigned>(event))
    publish(rank, name, static_cast<int>(s.entry.assigned_by) - 1, a.publish);
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
  if (!a.forget && a.listed == Listed::stays) s.stays = true, s.linked = false;
  if (!a.forget && a.listed == Listed::may_leave) s.linked = true;
  if (a.forget && s.stays && !std::holds_alternative<End>(event)) fail("forgets what its scope will look for");
  if (is_freed(s.entry.state) && !freed_before) {
    if (s.linked && !a.forget) fail("loses its links while it is on a list");
    s.entry.others.reset();
  }
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

void World::send(int from, int to, Message m) {
  m.from = static_cast<std::int8_t>(from);
  m.to = static_cast<std::int8_t>(to);
  const auto later = [](const Message& a, const Message& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  };
  wires_.insert(std::upper_bound(wires_.begin(), wires_.end(), m, later), m);
}

const Message* World::next(int from, int to) const {
  for (const Message& m : wires_) {
    if (m.from == from && m.to == to) return &m;
  }
  return nullptr;
}

void World::wake(int rank, int name, std::uint8_t fragments, bool marked) {
  for (int f = 0; f < kFragments; ++f) {
    if (!in(fragments, f)) continue;
    Fragment& x = fragments_[f];
    x.holds |= bit(name);
    if (marked) x.told |= bit(name);
    if (x.holds == setting_->fragments[static_cast<std::size_t>(f)].reads) x.phase = Phase::ready;
  }
}

// ---------------------------------------------------------------------------- bytes and words

void World::write(std::string& bytes) const {
  char written[1 << 14];  // any world of some fragments takes less
  char* at = written;
  const auto put = [&](auto... x) { ((*at++ = static_cast<char>(x)), ...); };
  const auto ranks = [&](const std::vector<Rank>& all) {
    put(all.size());
    for (const Rank r : all) put(number(r));
  };
  for (int r = 0; r < setting_->ranks; ++r) {
    for (std::size_t n = 0; n < setting_->names.size(); ++n) {
      const Slot& s = slots_[r][n];
      const Entry& e = s.entry;
      put(static_cast<int>(e.state) | e.untold << 5,
          e.counted | e.unheard << 1 | s.value << 2 | s.told << 3 | s.listed << 4 | (e.assigned_by != 0) << 5 |
              s.stays << 6 | s.linked << 7,
          s.waiting, e.counted || e.untold ? e.uses_left() : 0, e.others != nullptr);
      if (e.others == nullptr) continue;
      put(e.others->copies.size());
      for (const Holder& h : e.others->copies) put(number(h.rank), number(h.by));
      ranks(e.others->asking);
      put(number(e.others->keeper), e.others->lost, e.others->again);
    }
    for (int to = 0; to < setting_->ranks; ++to) {
      const Later& l = later_[r][to];
      put(l.used_up, l.drops);
      for (const auto u : l.used) put(u);
      for (const auto u : l.passed) put(u);
    }
    put(parts_[r].count, parts_[r].engaged_by, parts_[r].open);
    const Member& m = members_[r];
    put(m.steady | m.parked << 1 | m.swept << 2 | m.left << 3, m.taking_part);
    const Landing& landing = landing_[r];
    put(landing.fragment, landing.waits, landing.promised, landing.unheard);
  }
  put(wires_.size());
  for (const Message& m : wires_) {
    put(m.from << 4 | m.to, static_cast<int>(m.kind), m.name, m.rank, m.due,
        m.value | m.flag << 1 | m.ack << 2 | m.moved << 3, m.uses, m.fragment, m.inputs, m.unheard, m.promised,
        m.count);
  }
  for (std::size_t f = 0; f < setting_->fragments.size(); ++f) {
    const Fragment& x = fragments_[f];
    put(static_cast<int>(x.phase), x.at, x.to, x.holds, x.told, x.inputs, x.promised, x.moved);
  }
  for (const auto r : runs_) put(r);
  for (const auto k : kept_back_) put(k);
  put(moves_left_, evictions_left_, aheads_left_, left_, may_join_, spare_rests_, ended_);
  bytes.append(written, at);
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
    case Does::ahead:
      return "the home sends for name " + text(c.a) + " before it is waited for";
    case Does::tell:
      return "rank " + text(c.a) + " tells rank " + text(c.b) + " what it has put off";
    case Does::publish:
      return "rank " + text(c.a) + " keeps name " + text(c.b) + " back no longer";
    case Does::leave:
      return "rank " + text(c.a) + " is told to leave";
    case Does::join:
      return "rank " + text(c.a) + " is told to join";
    case Does::hand: {
      const Landing& landing = landing_[c.a];
      return "fragment " + text(landing.fragment) + ", which rank " + text(c.a) + " has got, " +
             (landing.waits ? "is handed what it came with" : "begins to wait");
    }
    case Does::deliver:
      break;
  }
  const Message& m = *next(c.a, c.b);
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
