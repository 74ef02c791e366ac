#include "balancer/central/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "balancer/central/plan_price.hpp"
#include "balancer/central/reasons.hpp"
#include "balancer/price.hpp"
#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kCheckTimer = 2;
constexpr std::uint32_t kProbeTimer = 5, kLineTimer = 6;  // 3 and 4 are those of `hierarchical`
constexpr Time kLongestHold = 10 * kMillisecond;
constexpr Time kRepeatRefusal = 5 * kSecond;
// A plan costs its coordinator about a microsecond per member (docs/benchmarks.md, plans): with
// more than this many members it plans more rarely, or it would do nothing else.
constexpr std::int32_t kManyMembers = 500;

// Of fragments that nobody has seen run so many ranks get one at first (of many members, one in so many), and twice as
// many whenever this time has passed and nobody knows yet: what they produce may keep a line busy for long.
constexpr std::int64_t kFirstProbes = 8;
constexpr std::int32_t kFirstProbesOneIn = 32;
constexpr Time kProbesDouble = 2 * kMillisecond;
// Over a line that is not measured yet none go, unless that takes long: it may be slow.
constexpr Time kNeverMeasured = 50 * kMillisecond;
constexpr const char* kLittle = "too little work left";
constexpr const char* kAlike = "loads differ too little";
constexpr const char* kBalanced = "balanced";

double work_of(const Load& from, const Move& move) {
  double work = 0;
  for (const GroupCount& f : move.fragments) {
    const GroupWork* g = from.find(f.group);
    if (g != nullptr) work += static_cast<double>(f.count) * static_cast<double>(g->weight);
  }
  return work;
}

std::vector<Turnover> turnovers_of(const std::vector<Load>& loads, const Plan& plan) {
  std::vector<Turnover> turnovers(loads.size());
  for (const Move& m : plan) {
    const double work = work_of(loads[m.from], m);
    turnovers[m.from].goes += work / loads[m.from].capacity;
    turnovers[m.to].comes += work / loads[m.to].capacity;
  }
  return turnovers;
}

}  // namespace

Coordinator::Coordinator(const Setup& setup, const CentralParameters& p, Members members)
    : self_(setup.rank),
      members_(members),
      p_(p),
      ship_cost_(setup.ship_cost),
      view_(Weights(setup.groups, p.weight_memory, p.faithful ? 0 : kShippings * setup.ship_cost), setup.groups,
            members, setup.powers),
      links_(Hosts(setup.hosts)),
      ticket_(static_cast<std::uint64_t>(index(members.first)) << 32) {}

std::int64_t Coordinator::bytes_of(const Load& from, Rank to, const std::vector<GroupCount>& fragments) const {
  std::int64_t bytes = 0;
  for (const GroupCount& f : fragments) {
    const GroupWork* g = from.find(f.group);
    if (g != nullptr) bytes += view_.bytes_to(to, *g, f.count);
  }
  return bytes;
}

void Coordinator::step(Time now, const Event& event, Actions& out) {
  std::visit([&](const auto& e) { handle(now, e, out); }, event);
  check_when_due(now, out);
}

void Coordinator::handle(Time now, const Received& r, Actions& out) {
  if (const auto* report = std::get_if<Report>(&r.message)) {
    if (!members_.has(r.from)) return;
    // What a group weighs is what plans wait for: they need not wait for plan_interval too.
    for (const GroupDone& d : report->finished) {
      if (!p_.faithful && d.count > 0 && !view_.known(d.group)) next_check_ = now;
    }
    view_.report(now, r.from, *report);
    wanted_ = true;
    out.push_back(Send{r.from, ReportSeen{hold_}});
  } else if (const auto* confirm = std::get_if<Confirm>(&r.message)) {
    is_theft(confirm->ticket) ? view_.stolen(r.from, *confirm) : view_.confirmed(*confirm);
    wanted_ = true;
  } else if (const auto* link = std::get_if<LinkReport>(&r.message)) {
    const Link measured{link->latency, link->bandwidth};
    if (index(link->peer) < 0) {
      links_.set(r.from, measured);
      usual(measured);
    } else {
      links_.set(r.from, link->peer, measured);
      if (!usual_.measured) usual(measured);
    }
  }
}

void Coordinator::handle(Time, const TimerFired& e, Actions&) {
  if (e.timer == kCheckTimer) timer_set_ = false;
  if (e.timer == kProbeTimer || e.timer == kLineTimer) wanted_ = true;
}

void Coordinator::handle(Time, const LinkMeasured& e, Actions&) {
  const Link link{e.latency, e.bandwidth};
  links_.set(self_, e.peer, link);
  if (!usual_.measured || !links_.hosts().same(self_, e.peer)) usual(link);
}

void Coordinator::usual(const Link& link) {
  wanted_ = wanted_ || std::exchange(awaits_link_, false);
  usual_ = link;
  links_.set_default(link);
}

void Coordinator::handle(Time, const RankLeaving& e, Actions&) {
  view_.present(e.rank, false);
  wanted_ = true;
}

void Coordinator::handle(Time, const RankJoined& e, Actions&) {
  view_.present(e.rank, true);
  wanted_ = true;
}

void Coordinator::check_when_due(Time now, Actions& out) {
  if (!wanted_) return;
  if (now < next_check_) {
    if (!timer_set_) out.push_back(SetTimer{kCheckTimer, next_check_});
    timer_set_ = true;
    return;
  }
  wanted_ = false;
  next_check_ = now + p_.plan_interval * std::max(kManyMembers, members_.count) / kManyMembers;
  check(now, out);
}

// A message is worth its trip when it gains more than the trip's own latency: order, shipment and
// the handling at both ends.
Time Coordinator::min_gain() const { return p_.min_gain_auto ? 4 * usual_.latency + 200 * kMicrosecond : p_.min_gain; }

// Whether one of the group costs more to move than to run.
bool Coordinator::unworthy(const GroupWork& g, const Link& link) const {
  const Time weight = p_.faithful ? g.weight : view_.weights().cautious(g.group);
  const Time ship_cost = p_.faithful ? 0 : view_.weights().ship_cost(g.group, ship_cost_);
  return !worth_moving(weight, g.bytes, link, p_.transfer_margin, ship_cost);
}

// Whether moving one keeps both ranks as busy as running it, however fast the line is.
bool Coordinator::too_busy(const GroupWork& g, const Link& link) const {
  const Time shipping = view_.weights().ship_cost(g.group, kShippings * ship_cost_);
  return !may_travel(link, g.bytes) || view_.weights().cautious(g.group) < shipping + copy_time(g.bytes);
}

// mark_unworthy makes immovable what costs more to move than to run; true when there is any. Where moves have a price,
// that is what keeps ranks busy that only send and take in; and what is dear to move where there is something better.
bool Coordinator::mark_unworthy(std::vector<Load>& loads) const {
  bool any = false;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Rank from = members_.rank(i);
    const Link& link = links_.between(from, Rank{-1});
    const auto worthy = [&](const GroupWork& g) {
      const Time least = p_.priced ? view_.weights().ship_cost(g.group, kShippings * ship_cost_) : 0;
      return view_.weights().cautious(g.group) >= least && !unworthy(g, link);
    };
    const bool better = std::any_of(loads[i].groups.begin(), loads[i].groups.end(),
                                    [&](const GroupWork& g) { return g.movable && view_.known(g.group) && worthy(g); });
    for (GroupWork& g : loads[i].groups) {
      // Nobody has seen one run: its weight is a guess, and what it produces is not known either.
      // The truth comes with the first that ends; until then probe() keeps idle ranks busy with
      // single ones.
      if (!p_.faithful && !view_.known(g.group)) {
        g.movable = false;
        continue;
      }
      if (!g.movable) continue;
      if (p_.priced && !better ? !too_busy(g, link) : worthy(g)) continue;
      g.movable = false;
      any = true;
    }
  }
  return any;
}

std::vector<Load> Coordinator::loads(Time now) const {
  std::vector<Load> loads = view_.loads(now);
  mark_unworthy(loads);
  return loads;
}

void Coordinator::check(Time now, Actions& out) {
  if (p_.faithful && view_.any_unconfirmed()) return;  // rebalance_count != 0
  std::vector<Load> loads = view_.loads(now);
  double total = 0, latest = 0, earliest = 1e300;
  for (const Load& load : loads) {
    total += load.work();
    latest = std::max(latest, load.finish());
    if (load.receives) earliest = std::min(earliest, load.finish());
  }
  if (total <= 0) return;
  awaits_link_ = !usual_.measured;
  const bool unworthy = mark_unworthy(loads);
  if (!p_.faithful) view_.settle(loads);
  bool moved = probe(now, loads, out);

  const bool little = p_.jobs_left_auto ? latest < static_cast<double>(min_gain())
                                        : total < static_cast<double>(p_.jobs_left_threshold);
  if (little) {
    if (!moved) refuse(now, kLittle, nullptr, out);
  } else {
    PlanCosts costs;
    costs.min_gain = min_gain();
    costs.transfer = [this](std::size_t from, std::size_t to, std::int64_t bytes) {
      const Rank a = members_.rank(from), b = members_.rank(to);
      return usual_.latency + transfer_time(links_.between(a, b), bytes);
    };
    Plan plan = p_.makespan ? plan_makespan(loads, costs) : plan_mean(loads);
    if (plan.empty() && !moved) {
      const bool uneven = latest - earliest > static_cast<double>(min_gain());
      refuse(now, unworthy && uneven ? kCosts : kBalanced, nullptr, out);
    }
    const std::vector<Turnover> turnovers = turnovers_of(loads, plan);
    std::erase_if(plan, [&](const Move& m) { return !pays(loads, turnovers, m, out, now); });
    std::stable_sort(plan.begin(), plan.end(),
                     [&](const Move& a, const Move& b) { return loads[a.to].finish() < loads[b.to].finish(); });
    look_again_when_free(now, plan, out);
    if (p_.priced) {
      const bool planned = !plan.empty();
      cut_to_price(now, loads, plan);
      if (planned && plan.empty() && !moved) refuse(now, kCosts, nullptr, out);
    }
    cut_to_window(now, loads, plan);
    for (const Move& m : plan) {
      order(now, loads, m, "moved", out);
      moved = true;
    }
  }
  // While nothing moves for long, reports may come more rarely.
  hold_ = moved ? 0 : std::min(kLongestHold, std::max(hold_ * 5 / 4, 50 * kMicrosecond));
}

// probe sends one fragment per thread of a group nobody has measured, and which the plan therefore
// leaves alone, to ranks with nothing to do: that costs them nothing, and soon its weight is known.
bool Coordinator::probe(Time now, const std::vector<Load>& loads, Actions& out) {
  std::vector<std::size_t> starving;
  for (std::size_t to = 0; to < loads.size(); ++to) {
    if (loads[to].receives && view_.starving(members_.rank(to))) starving.push_back(to);
  }
  std::map<Group, std::size_t> tried;  // of `starving`
  bool any = false;
  Time again = 0;
  for (std::size_t from = 0; from < loads.size() && !starving.empty(); ++from) {
    for (const GroupWork& g : loads[from].groups) {
      if (view_.known(g.group) || g.count < 2) continue;
      if (g.movable && g.count * g.weight >= min_gain()) continue;
      std::int64_t left = g.count - 1;
      const Rank source = members_.rank(from);
      Probing& probing = probing_.try_emplace(g.group, Probing{now, 0, {}}).first->second;
      const auto wait_until = [&](Time at) { again = again == 0 ? at : std::min(again, at); };
      const Time doubled = std::min<Time>((now - probing.since) / kProbesDouble, 32);
      const auto most = std::max<std::int64_t>(kFirstProbes, members_.count / kFirstProbesOneIn) << doubled;
      for (std::size_t& next = tried[g.group]; next < starving.size() && left > 0; ++next) {
        const std::size_t to = starving[next];
        const Rank target = members_.rank(to);
        if (to == from) continue;
        const Link& link = links_.between(source, target);
        if (!may_travel(link, g.bytes) || wire_time(link, g.bytes) > p_.ship_window) continue;
        if (probing.ranks.contains(target)) continue;
        if (static_cast<std::int64_t>(probing.ranks.size()) >= most) {
          wait_until(probing.since + (doubled + 1) * kProbesDouble);
          break;
        }
        if (const Time at = probing.since + probe_after(probing, link, g.bytes); at > now) {
          wait_until(at);
          continue;
        }
        probing.spent += wire_time(link, g.bytes + kProbeReturns);
        probing.ranks.insert(target);
        const std::int64_t n = std::min<std::int64_t>(left, view_.threads(target));
        left -= n;
        order(now, loads, Move{from, to, {{g.group, n}}}, "measuring", out);
        any = true;  // `loads` still shows it at the source: the plan may move a few too many
      }
    }
  }
  if (again > 0) out.push_back(SetTimer{kProbeTimer, again});
  return any;
}

// How long a group has to have waited for its next probe, over this link.
Time Coordinator::probe_after(const Probing& probing, const Link& link, std::int64_t bytes) const {
  if (!p_.priced) return 0;
  if (!link.measured) return kNeverMeasured;
  return probing.spent + probe_wait(link, bytes);
}

bool Coordinator::pays(const std::vector<Load>& loads, const std::vector<Turnover>& turnovers, const Move& m,
                       Actions& out, Time now) {
  const Rank from = members_.rank(m.from), to = members_.rank(m.to);
  if (view_.unconfirmed(from, to)) return false;
  // A rank that gives lighter ones to make room for what comes is as late as if it had come; and the other way round.
  const double before = loads[m.from].finish() + turnovers[m.from].comes;
  const double after = loads[m.to].finish() - turnovers[m.to].goes;
  const double work = work_of(loads[m.from], m);
  const auto transfer =
      static_cast<double>(transfer_time(links_.between(from, to), bytes_of(loads[m.from], to, m.fragments)));
  if (!p_.priced && transfer * p_.transfer_margin > work) {
    refuse(now, kCosts, &m, out);
    return false;
  }
  // auto: a receiver with work for longer than a correction takes can wait, for what looks uneven
  // now may even out by itself, and then nothing was moved twice; one that runs dry soon can not.
  double ratio = p_.jobs_difference_ratio;
  if (p_.difference_auto) {
    double heaviest = 0;
    for (const GroupWork& g : loads[m.from].groups) {
      for (const GroupCount& f : m.fragments) {
        if (f.group == g.group) heaviest = std::max(heaviest, static_cast<double>(g.weight));
      }
    }
    const double soon = 10 * static_cast<double>(min_gain()) + 2 * heaviest / loads[m.to].capacity;
    ratio = after > soon ? 0.5 : 0.15;
  }
  if (loads[m.from].receives && before - after < ratio * before) {
    refuse(now, kAlike, &m, out);
    return false;
  }
  return true;
}

// Lines have numbers: each rank's own, and below 0, where hosts are known, those that leave a host.
std::int64_t Coordinator::line(Rank from, Rank to) const {
  const Hosts& hosts = links_.hosts();
  return hosts.has(from) && !hosts.same(from, to) ? -1 - hosts.of(from) : index(from);
}

std::int64_t Coordinator::window_left(Time now, Rank from, Rank to) const {
  const Link& link = links_.between(from, to);
  if (!link.measured) return kSmallBytes - view_.bytes_under_way(from);
  const double per_ns = link.bandwidth / static_cast<double>(kSecond);
  const auto taken = lines_.find(line(from, to));
  const Time busy = taken == lines_.end() ? 0 : std::max<Time>(0, taken->second.out_until - now);
  const auto bytes = [&](Time t) { return static_cast<std::int64_t>(std::min(per_ns * static_cast<double>(t), 1e18)); };
  return bytes(p_.ship_window) - std::max(view_.bytes_under_way(from), bytes(busy));
}

// What short fragments produce comes back while others are sent: the line of `from` is taken for as long as it needs
// for their inputs and outputs. (Else hundreds that have arrived, and count no more, keep it busy long after.)
void Coordinator::take_line(Time now, Rank from, const Load& load, Rank to, const std::vector<GroupCount>& fragments) {
  for (const GroupCount& f : fragments) {
    const GroupWork* g = load.find(f.group);
    if (p_.faithful || g == nullptr || !view_.known(f.group)) continue;
    if (p_.priced) {
      const Link& link = links_.between(from, to);
      lines_[line(from, to)].take(now, wire_time(link, view_.bytes_to(to, *g, f.count) - f.count * g->outputs),
                                  wire_time(link, f.count * g->outputs));
      continue;
    }
    if (g->weight > p_.ship_window) continue;
    lines_[line(from, to)].take(now, wire_time(links_.between(from, to), view_.bytes_to(to, *g, f.count)), 0);
  }
}

// look_again_when_free asks for a check at the time when a line that this plan would use has room again: nobody may
// have anything to report then.
void Coordinator::look_again_when_free(Time now, const Plan& plan, Actions& out) {
  Time at = 0;
  for (const Move& m : plan) {
    const auto taken = lines_.find(line(members_.rank(m.from), members_.rank(m.to)));
    if (taken == lines_.end() || taken->second.out_until <= now) continue;
    const Time free = std::max(taken->second.out_until - p_.ship_window / 2, now + p_.plan_interval);
    at = at == 0 ? free : std::min(at, free);
  }
  if (at > 0) out.push_back(SetTimer{kLineTimer, at});
}

void Coordinator::cut_to_price(Time now, const std::vector<Load>& loads, Plan& plan) const {
  Ways ways;
  ways.order = usual_.latency;
  ways.link = [this](std::size_t from, std::size_t to) -> const Link& {
    return links_.between(members_.rank(from), members_.rank(to));
  };
  ways.line = [this](std::size_t from, std::size_t to) { return line(members_.rank(from), members_.rank(to)); };
  // Not all that a fragment produces comes back to where it came from. What has been produced is there by now, or goes
  // nowhere.
  const double to_come = view_.outputs_to_come() / usual_.bandwidth * static_cast<double>(kSecond);
  ways.use = [this, now, to_come](std::int64_t number) {
    const auto taken = lines_.find(number);
    LineUse use = taken == lines_.end() ? LineUse{} : taken->second.use(now);
    use.in = std::min(use.in, to_come);
    return use;
  };
  ways.bytes = [this](std::size_t to, const GroupWork& g, std::int64_t n) {
    return view_.bytes_to(members_.rank(to), g, n);
  };
  ways.usual = [this](std::size_t to, Group g) { return view_.usual_count(members_.rank(to), g); };
  balancer::cut_to_price(loads, ways, plan);
}

// cut_to_window shortens orders so that a source never has more under way than ship_window of
// transfer: one huge message would leave its receiver, and all behind it, waiting. What is cut off
// is planned again when this has arrived. Receivers come earliest finish first.
void Coordinator::cut_to_window(Time now, const std::vector<Load>& loads, Plan& plan) const {
  std::vector<std::int64_t> receivers(loads.size(), 0);
  for (const Move& m : plan) ++receivers[m.from];
  std::vector<std::int64_t> spent(loads.size(), 0);
  for (Move& m : plan) {
    const Rank from = members_.rank(m.from), to = members_.rank(m.to);
    const std::int64_t left = window_left(now, from, to) - spent[m.from];
    std::int64_t budget = left / std::max<std::int64_t>(1, receivers[m.from]--);
    std::int64_t at_least = left <= 0 ? 0 : view_.starving(to) ? view_.threads(to) : 1;
    for (GroupCount& f : m.fragments) {
      std::int64_t each = 0;
      if (const GroupWork* g = loads[m.from].find(f.group))
        each = view_.bytes_to(to, *g, f.count) / std::max<std::int64_t>(1, f.count);
      if (each > 0) f.count = std::min(f.count, std::max(at_least, budget / each));
      f.count = std::max<std::int64_t>(f.count, 0);
      at_least = std::max<std::int64_t>(0, at_least - f.count);
      budget -= f.count * each;
      spent[m.from] += f.count * each;
    }
    std::erase_if(m.fragments, [](const GroupCount& f) { return f.count <= 0; });
  }
  std::erase_if(plan, [](const Move& m) { return m.fragments.empty(); });
}

void Coordinator::order(Time now, const std::vector<Load>& loads, const Move& m, const char* why, Actions& out) {
  order(now, members_.rank(m.from), loads[m.from], members_.rank(m.to), m.fragments, why,
        static_cast<Time>(loads[m.to].finish()), out);
}

std::uint64_t Coordinator::order(Time now, Rank from, const Load& load, Rank to,
                                 const std::vector<GroupCount>& fragments, const char* why, Time load_to,
                                 Actions& out) {
  const std::int64_t bytes = bytes_of(load, to, fragments);
  view_.ordered(++ticket_, from, to, fragments, bytes);
  take_line(now, from, load, to, fragments);
  out.push_back(Send{from, Order{ticket_, to, fragments}});
  out.push_back(Decide{why, from, to, fragments, static_cast<Time>(load.finish()), load_to});
  refused_.clear();
  return ticket_;
}

void Coordinator::refuse(Time now, const char* why, const Move* m, Actions& out) {
  const auto [said, first] = refused_.emplace(why, now);
  if (!first) {
    if (now - said->second < kRepeatRefusal) return;
    said->second = now;
  }
  Decide d;
  d.why = why;
  if (m != nullptr) {
    d.from = members_.rank(m->from);
    d.to = members_.rank(m->to);
    d.fragments = m->fragments;
  }
  out.push_back(std::move(d));
}

}  // namespace tessera::balancer
