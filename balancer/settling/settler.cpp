#include "balancer/settling/settler.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "balancer/price.hpp"

namespace tessera::balancer {
namespace {

// Of the latest finish: what a plan has to save, the first and those that correct it.
constexpr double kFirstGain = 0.01, kGain = 0.015;
// So many steps ahead of the slowest, ranks wait for its first no longer.
constexpr std::int64_t kLate = 4;
// A plan falls where steps differ by more than kFalls from what was known of them, and stands again below kStands.
constexpr double kFalls = 0.05, kStands = 0.025;
// Steps without a plan after one has fallen; twice as many each time.
constexpr std::int64_t kRest = 16;
constexpr double kSpeedDiffers = 0.15;
// Of all weights: what must have changed before a plan that stands is looked at again.
constexpr double kChanged = 0.002;
// Steps shorter than so many latencies are not settled.
constexpr double kLatencies = 10;
// Of the least that a step takes: with more than that a plan does not stand.
constexpr double kUneven = 1.1;

}  // namespace

Settler::Settler(std::int32_t ranks, std::int32_t threads, const std::vector<double>& powers, Time ship_cost)
    : members_(static_cast<std::size_t>(ranks)), threads_(threads), ship_cost_(ship_cost) {
  const auto fastest = std::max_element(powers.begin(), powers.end());
  for (std::size_t r = 0; r < members_.size() && r < powers.size(); ++r) {
    if (powers[r] > 0) members_[r].speed = powers[r] / *fastest;
  }
}

void Settler::link(const Link& l) {
  if (!link_.measured) link_ = l;
  link_.latency = std::max(link_.latency, l.latency);
  link_.bandwidth = std::min(link_.bandwidth, l.bandwidth);
}

void Settler::present(Rank r, bool here) {
  if (static_cast<std::size_t>(index(r)) >= members_.size()) return;
  member(r).present = here;
}

void Settler::report(Rank from, const SeriesReport& r) {
  if (static_cast<std::size_t>(index(from)) >= members_.size()) return;
  Member& m = member(from);
  m.reports = true;
  m.plan = r.plan;
  m.steps = r.steps;
  m.doubt = r.doubt;
  if (r.steps == 0) return;
  learn_speed(m, from, r.series);
  std::set<std::uint64_t> here;
  for (const SeriesWork& w : r.series) {
    here.insert(w.series);
    const auto [it, first] = series_.try_emplace(w.series);
    Series& s = it->second;
    changed_ += static_cast<double>(std::abs(w.weight - s.work.weight));
    if (first || r.plan == plan_ || s.at == from) s = {w, from, from, m.speed};
  }
  // Who has not seen the effect of the latest plan does not know what it is to run.
  if (r.plan < plan_) return;
  std::erase_if(series_, [&](const auto& entry) { return entry.second.at == from && !here.contains(entry.first); });
}

// By what a plan has brought there from elsewhere.
void Settler::learn_speed(Member& m, Rank here, const std::vector<SeriesWork>& ran) const {
  double expected = 0, actual = 0;
  for (const SeriesWork& w : ran) {
    const auto it = series_.find(w.series);
    if (it == series_.end() || it->second.at != here || it->second.seen == here) continue;
    expected += static_cast<double>(it->second.work.weight) * it->second.speed;
    actual += static_cast<double>(w.weight) * m.speed;
  }
  if (expected <= 0 || actual <= 0) return;
  const double ratio = expected / actual;
  if (std::abs(ratio - 1) > kSpeedDiffers) m.speed = std::clamp(m.speed * ratio, 0.05, 20.0);
}

// A series is a group of one: groups are numbered as `all` is.
std::vector<Load> Settler::loads(std::vector<Series*>& all) {
  std::vector<Load> loads(members_.size());
  for (std::size_t r = 0; r < loads.size(); ++r) {
    loads[r].capacity = threads_ * members_[r].speed;
    loads[r].receives = members_[r].present;
  }
  for (auto& [key, s] : series_) {
    const auto weight = static_cast<Time>(static_cast<double>(s.work.weight) * s.speed);
    // Away from home each of its fragments is shipped, and what they produce travels back and forth.
    const bool light = s.at == s.work.home && s.work.weight < 2 * ship_cost_ + 2 * copy_time(s.work.bytes);
    loads[static_cast<std::size_t>(index(s.at))].groups.push_back(
        {Group{static_cast<std::uint32_t>(all.size())}, 1, std::max<Time>(1, weight), s.work.bytes, !light, 0});
    all.push_back(&s);
  }
  return loads;
}

// No plan ends before.
double Settler::least(const std::vector<Load>& loads) {
  double work = 0, capacity = 0, fastest = 0, heaviest = 0;
  for (const Load& load : loads) {
    work += load.work();
    if (load.receives) capacity += load.capacity;
    if (load.receives) fastest = std::max(fastest, load.capacity);
    for (const GroupWork& g : load.groups) heaviest = std::max(heaviest, static_cast<double>(g.weight));
  }
  return capacity > 0 ? std::max(work / capacity, heaviest / fastest) : 0;
}

// Whether the lines carry what is to move, now and then in each step, for less than what is gained.
bool Settler::pays(const std::vector<Load>& loads, const Plan& plan, double gain) const {
  std::vector<double> out(loads.size()), in(loads.size());
  for (const Move& m : plan) {
    for (const GroupCount& f : m.fragments) {
      const GroupWork* g = loads[m.from].find(f.group);
      const auto wire = static_cast<double>(wire_time(link_, g == nullptr ? 0 : g->bytes));
      out[m.from] += wire;
      in[m.to] += wire;
    }
  }
  double line = 0;
  for (std::size_t r = 0; r < loads.size(); ++r) line = std::max({line, out[r], in[r]});
  return line < gain * static_cast<double>(std::max<std::int64_t>(1, steps())) && 2 * line < gain;
}

bool Settler::fall() {
  if (standing_.empty()) return false;
  standing_.clear();
  ++plan_;
  rests_until_ = steps() + (kRest << std::min(falls_++, 20));
  return true;
}

std::int64_t Settler::steps() const {
  std::int64_t most = 0;
  for (const Member& m : members_) most = std::max(most, m.steps);
  return most;
}

Settler::Answer Settler::decide() {
  Answer a;
  if (series_.empty()) return a;
  const std::int64_t steps = this->steps();
  double doubt = 0;
  for (const Member& m : members_) doubt = std::max(doubt, m.doubt);
  // Each rank that has series has told so at its first; who is to have some by a plan tells of its effect.
  for (const Member& m : members_) {
    if (m.reports && m.present && ((m.steps == 0 && steps < kLate) || (m.series > 0 && m.plan < plan_))) return a;
  }
  const bool stood = !standing_.empty();
  const auto fallen = [&] {
    a.planned = fall();
    return a;
  };
  if (!stood && steps < rests_until_) return a;
  if (doubt > (stood ? kFalls : kStands)) return fallen();

  std::vector<Series*> all;
  const std::vector<Load> now = loads(all);
  double work = 0;
  for (const Load& load : now) work += load.work();
  if (stood && changed_ < kChanged * work) return a;
  changed_ = 0;
  const Plan plan = plan_makespan(now);
  for (const double t : finish_times(now)) a.before = std::max(a.before, t);
  a.after = makespan(now, plan);
  const double gain = a.before - a.after;
  const bool worth = gain > (stood ? kGain : kFirstGain) * a.before && pays(now, plan, gain);
  // What can't be settled well is balanced within steps. So is what ends before a message could be back.
  if ((worth ? a.after : a.before) > kUneven * least(now)) return fallen();
  if (least(now) < kLatencies * static_cast<double>(link_.latency)) return fallen();
  for (const Move& m : worth ? plan : Plan{}) {
    for (const GroupCount& f : m.fragments) all[index(f.group)]->at = Rank{static_cast<std::int32_t>(m.to)};
    a.moved += static_cast<std::int64_t>(m.fragments.size());
  }
  if (stood && !worth) return a;
  // Whatever has been moved since the reports: everything runs where this plan says.
  std::set<Group> groups;
  for (Member& m : members_) m.series = 0;
  for (const Series* s : all) {
    groups.insert(s->work.group);
    a.places[s->work.home].push_back({s->work.series, s->at});
    ++member(s->at).series;
  }
  standing_.assign(groups.begin(), groups.end());
  ++plan_;
  a.planned = true;
  return a;
}

}  // namespace tessera::balancer
