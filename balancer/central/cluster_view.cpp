#include "balancer/central/cluster_view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::balancer {
namespace {

constexpr double kSpeedMemory = 1000;  // completions
constexpr double kBytesMemory = 1000;  // fragments

}  // namespace

ClusterView::ClusterView(Weights weights, const std::vector<GroupInfo>& groups, Members members,
                         const std::vector<double>& powers)
    : members_(members),
      never_moved_(groups.size()),
      weights_(std::move(weights)),
      body_(groups.size()),
      bytes_(groups.size()),
      produced_(groups.size()),
      bytes_factor_(groups.size(), Factor{1, true}),
      first_factor_(groups.size()),
      workers_(static_cast<std::size_t>(members.count)) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    never_moved_[g] = groups[g].never_moved;
    body_[g] = groups[g].body;
  }
  const auto fastest = std::max_element(powers.begin(), powers.end());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].ready.resize(groups.size());
    const auto r = static_cast<std::size_t>(index(members_.rank(i)));
    if (r < powers.size() && powers[r] > 0) workers_[i].power = powers[r] / *fastest;
  }
}

void ClusterView::report(Time now, Rank from, const Report& r) {
  if (!valid(from)) return;
  Worker& w = workers_[at(from)];
  completed(now, w, r.finished);
  for (const GroupLoad& g : r.ready) {
    if (index(g.group) >= w.ready.size()) w.ready.resize(index(g.group) + 1);
    Ready& ready = w.ready[index(g.group)];
    ready.count = std::max<std::int64_t>(0, g.ready);
    ready.bytes = std::max<std::int64_t>(0, g.bytes);
    if (g.ready > 0 && index(g.group) < bytes_.size()) {
      const auto n = static_cast<double>(g.ready), sum = static_cast<double>(g.bytes);
      bytes_[index(g.group)].add(n, sum, sum * sum / n, kBytesMemory);
    }
  }
  if (w.idle && !r.idle) w.completed_at = now;  // what runs there has just begun
  w.idle = r.idle;
  w.threads = std::max(1, r.workers);
  w.unmoved = r.unmoved;
  for (const std::uint64_t ticket : r.arrived) {
    const auto it = under_way_.find(ticket);
    if (it == under_way_.end()) {
      if (is_theft(ticket) ? valid(taken_from(ticket)) : foreign_tickets_) early_.insert(ticket);
      continue;
    }
    it->second.arrived = true;
    settled(w, it->second.fragments);
    if (it->second.confirmed) remove(it);
  }
  for (const GroupLoad& g : r.ready) {
    Ready& ready = w.ready[index(g.group)];
    ready.settled = std::min(ready.settled, ready.count);
  }
}

void ClusterView::settled(Worker& w, const std::vector<GroupCount>& fragments) {
  for (const GroupCount& f : fragments) {
    if (index(f.group) >= w.ready.size()) continue;
    Ready& ready = w.ready[index(f.group)];
    ready.settled = std::min(ready.count, ready.settled + f.count);
  }
}

void ClusterView::completed(Time now, Worker& w, const std::vector<GroupDone>& finished) {
  double count = 0, weight = 0;
  for (const GroupDone& d : finished) {
    if (d.count <= 0) continue;
    // The group's weight is what it takes at speed 1; a slow rank's times are scaled to that.
    const double speed = w.speed();
    if (weights_.known(d.group)) {
      const Moments m = weights_.moments(d.group);
      const auto n = static_cast<double>(d.count);
      w.actual += static_cast<double>(d.weight);
      w.expected += n * m.mean;
      w.variance += n * m.variance();
      w.samples += n;
    }
    GroupDone scaled = d;
    scaled.weight = static_cast<Time>(static_cast<double>(d.weight) * speed);
    scaled.weight_squared = d.weight_squared * speed * speed;
    weights_.completed(scaled);
    if (index(d.group) < produced_.size()) {
      const auto n = static_cast<double>(d.count), sum = static_cast<double>(d.bytes);
      produced_[index(d.group)].add(n, sum, sum * sum / n, kBytesMemory);
    }
    w.completed.add(static_cast<double>(d.count), static_cast<double>(d.weight), d.weight_squared, 0);
    count += static_cast<double>(d.count);
    weight += static_cast<double>(d.weight);
  }
  if (w.samples > kSpeedMemory) {
    const double keep = kSpeedMemory / w.samples;
    w.actual *= keep;
    w.expected *= keep;
    w.variance *= keep;
    w.samples = kSpeedMemory;
  }
  if (count > 0) {
    w.running_weight = static_cast<Time>(weight / count);
    w.completed_at = now;
  }
}

// The speed differs from the power only where the measurements leave no doubt: iterations of different
// weight are not a slow rank.
double ClusterView::Worker::speed() const {
  if (samples < 32 || actual <= 0 || expected <= 0) return power;
  const double doubt = 3 * std::sqrt(std::max(0.0, variance));
  if (std::abs(actual * power - expected) < std::max(doubt, 0.15 * expected)) return power;
  return std::clamp(expected / actual, 0.1, 10.0);
}

void ClusterView::ordered(std::uint64_t ticket, Rank from, Rank to, const std::vector<GroupCount>& fragments,
                          std::int64_t bytes) {
  UnderWay order{from, to, fragments, bytes, false, !valid(to)};
  for (const GroupCount& f : fragments) order.factors.push_back(factor_of(to, f.group, f.count));
  add(ticket, std::move(order));
}

double ClusterView::bytes_factor(Group g) const {
  return index(g) < bytes_factor_.size() ? bytes_factor_[index(g)].value : 1;
}

ClusterView::Factor ClusterView::bytes_factor(Rank to, Group g) const {
  if (!valid(to) || index(g) >= bytes_factor_.size()) return {bytes_factor(g), true, INT64_MAX};
  const std::vector<Factor>& there = workers_[at(to)].bytes_factor;
  return index(g) < there.size() ? there[index(g)] : Factor{};
}

void ClusterView::Factor::learn(double seen, std::int64_t n) {
  value = std::clamp(known ? value + (seen - value) / 4 : seen, 0.05, 4.0);
  known = true;
  count = n;
}

void ClusterView::learn(Rank to, std::size_t group, double factor, std::int64_t count) {
  bytes_factor_[group].learn(factor, count);
  if (!valid(to)) return;
  std::vector<Factor>& there = workers_[at(to)].bytes_factor;
  if (group >= there.size()) there.resize(bytes_factor_.size());
  if (!there[group].known) first_factor_[group].learn(factor, count);
  there[group].learn(factor, count);
}

double ClusterView::factor_of(Rank to, Group g, std::int64_t count) const {
  const Factor there = bytes_factor(to, g);
  const double first = index(g) < first_factor_.size() ? first_factor_[index(g)].value : 1;
  const auto usual = static_cast<double>(std::min(count, there.count)), all = static_cast<double>(count);
  return (usual * there.value + (all - usual) * std::max(first, there.value)) / all;
}

std::int64_t ClusterView::usual_count(Rank to, Group g) const { return bytes_factor(to, g).count; }

std::int64_t ClusterView::bytes_to(Rank to, const GroupWork& g, std::int64_t count) const {
  const double inputs = static_cast<double>(count) * static_cast<double>(g.bytes - g.outputs);
  return count * g.outputs +
         static_cast<std::int64_t>(inputs * factor_of(to, g.group, std::max<std::int64_t>(1, count)) /
                                   bytes_factor(g.group));
}

void ClusterView::coming(std::uint64_t ticket, Rank from, Rank to, const std::vector<GroupCount>& fragments,
                         std::int64_t bytes) {
  foreign_tickets_ = true;
  if (!valid(to)) return;
  if (early_.erase(ticket) > 0) return settled(workers_[at(to)], fragments);
  UnderWay order{from, to, fragments, bytes, false, false};
  add(ticket, order);
  set_confirmed(under_way_.find(ticket)->second);
}

void ClusterView::stolen(Rank from, const Confirm& c) {
  if (!valid(from)) return;
  for (const GroupCount& f : c.fragments) {
    if (index(f.group) < workers_[at(from)].ready.size()) workers_[at(from)].ready[index(f.group)].take(f.count);
  }
  coming(c.ticket, from, c.to, c.fragments, c.bytes);
}

void ClusterView::expect(Rank to, Time work) {
  if (!valid(to)) return;
  foreign_tickets_ = true;
  Time& expected = workers_[at(to)].expected_work;
  expected = std::max<Time>(0, expected + work);
}

void ClusterView::add(std::uint64_t ticket, UnderWay order) {
  if (valid(order.to)) ++workers_[at(order.to)].inbound;
  if (valid(order.from)) workers_[at(order.from)].bytes_out += order.bytes;
  ++unconfirmed_[{order.from, order.to}];
  under_way_.emplace(ticket, std::move(order));
}

void ClusterView::set_confirmed(UnderWay& order) {
  if (order.confirmed) return;
  order.confirmed = true;
  const auto pair = unconfirmed_.find({order.from, order.to});
  if (--pair->second == 0) unconfirmed_.erase(pair);
}

ClusterView::Orders::iterator ClusterView::remove(Orders::iterator it) {
  UnderWay& order = it->second;
  set_confirmed(order);
  if (valid(order.to)) --workers_[at(order.to)].inbound;
  if (valid(order.from)) workers_[at(order.from)].bytes_out -= order.bytes;
  return under_way_.erase(it);
}

void ClusterView::confirmed(const Confirm& c) {
  const auto it = under_way_.find(c.ticket);
  if (it == under_way_.end() || it->second.confirmed) return;
  UnderWay& order = it->second;
  if (!valid(order.from)) return;
  Worker& source = workers_[at(order.from)];
  const auto went_of = [&c](Group group) {
    std::int64_t went = 0;
    for (const GroupCount& f : c.fragments) went += f.group == group ? f.count : 0;
    return went;
  };
  std::int64_t asked = 0, moved = 0;
  for (const GroupCount& want : order.fragments) {
    const std::int64_t went = went_of(want.group);
    asked += want.count;
    moved += went;
    if (index(want.group) >= source.ready.size()) continue;
    Ready& ready = source.ready[index(want.group)];
    ready.take(went < want.count ? ready.count : went);
  }
  // Values that were at the destination already did not travel: expect the same of the next ones to go there. Bytes
  // were planned with the factor of then; orders that were sent meanwhile say the same once more, so
  // this is no correction of the factor of now.
  if (moved > 0 && order.bytes > 0) {
    const double planned = static_cast<double>(order.bytes) * static_cast<double>(moved) / static_cast<double>(asked);
    const double factor = static_cast<double>(c.bytes) / planned;
    for (std::size_t i = 0; i < order.fragments.size(); ++i) {
      const std::size_t g = index(order.fragments[i].group);
      if (g >= bytes_factor_.size() || i >= order.factors.size()) continue;
      learn(order.to, g, order.factors[i] * factor, went_of(order.fragments[i].group));
    }
  }
  order.fragments = c.fragments;
  source.bytes_out += c.bytes - order.bytes;
  order.bytes = c.bytes;
  set_confirmed(order);
  if (order.arrived || moved == 0) remove(it);
}

void ClusterView::present(Rank r, bool here) {
  if (!valid(r)) return;
  workers_[at(r)].present = here;
  if (here) return;
  for (auto it = under_way_.begin(); it != under_way_.end();) {
    it = it->second.from == r || it->second.to == r ? remove(it) : std::next(it);
  }
  std::fill(workers_[at(r)].ready.begin(), workers_[at(r)].ready.end(), Ready{});
  workers_[at(r)].expected_work = 0;
}

bool ClusterView::unconfirmed(Rank from, Rank to) const { return unconfirmed_.count({from, to}) > 0; }

bool ClusterView::any_unconfirmed() const { return !unconfirmed_.empty(); }

std::int64_t ClusterView::bytes_under_way(Rank from) const { return workers_[at(from)].bytes_out; }

bool ClusterView::starving(Rank r) const {
  const Worker& w = workers_[at(r)];
  return w.idle && w.inbound == 0 && w.expected_work == 0;
}

Time ClusterView::weight(Rank r, Group g) const {
  const Worker& w = workers_[at(r)];
  // The source's rule for a group with nothing completed: the mean of everything on that rank.
  if (!weights_.known(g) && w.completed.count > 0) {
    if (weights_.body(g).empty()) return std::max<Time>(1, static_cast<Time>(w.completed.mean));
  }
  return weights_.weight(g);
}

double ClusterView::outputs_to_come() const {
  double sum = 0, most = 0;
  for (const Moments& m : produced_) most = std::max(most, m.mean);
  for (const Worker& w : workers_) {
    for (std::size_t g = 0; g < w.ready.size(); ++g)
      sum += static_cast<double>(w.ready[g].count) * produced(Group{static_cast<std::uint32_t>(g)});
    if (!w.idle) sum += w.threads * most;
  }
  for (const auto& [ticket, o] : under_way_) {
    for (const GroupCount& f : o.fragments) sum += static_cast<double>(f.count) * produced(f.group);
  }
  return sum;
}

double ClusterView::produced(Group g) const { return index(g) < produced_.size() ? produced_[index(g)].mean : 0; }

double ClusterView::learned_bytes(Group g) const {
  return index(g) < bytes_.size() ? std::max(bytes_[index(g)].mean * bytes_factor(g), produced(g)) : 0;
}

std::int64_t ClusterView::bytes_each(Group g, double reported) const {
  const std::size_t i = index(g);
  // Its rank tells what the group has produced there; the first may have run elsewhere.
  double bytes = std::max(reported * bytes_factor(g), produced(g));
  if (i < body_.size() && !body_[i].empty()) {
    double children = 0;
    for (const Group b : body_[i]) children += learned_bytes(b);
    bytes = std::max(bytes, children);
  } else if (!weights_.known(g) && weights_.any_known()) {
    double sum = 0, n = 0;
    for (std::size_t other = 0; other < bytes_.size(); ++other) {
      const Group o{static_cast<std::uint32_t>(other)};
      const double count = weights_.moments(o).count;
      sum += count * learned_bytes(o);
      n += count;
    }
    if (n > 0) bytes = std::max(bytes, sum / n);
  }
  return static_cast<std::int64_t>(bytes);
}

// What is left of the fragment that runs there, as far as one can tell.
Time ClusterView::running(Time now, const Worker& w) const {
  if (w.idle) return 0;
  if (w.threads > 1) return w.running_weight / 2;
  return std::max(w.running_weight - (now - w.completed_at), w.running_weight / 8);
}

std::vector<Load> ClusterView::loads(Time now) const {
  std::vector<Load> loads(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& w = workers_[i];
    const Rank rank = members_.rank(i);
    Load& load = loads[i];
    load.receives = w.present;
    load.capacity = w.threads * w.speed();
    load.busy = running(now, w) + static_cast<Time>(static_cast<double>(w.unmoved + w.expected_work) / load.capacity);
    for (std::size_t g = 0; g < w.ready.size(); ++g) {
      if (w.ready[g].count <= 0) continue;
      const Group group{static_cast<std::uint32_t>(g)};
      const auto each = static_cast<double>(w.ready[g].bytes) / static_cast<double>(w.ready[g].count);
      load.groups.push_back({group, w.ready[g].count, weight(rank, group), bytes_each(group, each),
                             !(g < never_moved_.size() && never_moved_[g]),
                             static_cast<std::int64_t>(produced(group))});
      load.groups.back().outputs = std::min(load.groups.back().outputs, load.groups.back().bytes);
    }
  }
  for (const auto& [ticket, o] : under_way_) {
    for (const GroupCount& f : o.fragments) {
      if (!o.confirmed && valid(o.from)) {
        GroupWork* g = loads[at(o.from)].find(f.group);
        if (g != nullptr) g->count = std::max<std::int64_t>(0, g->count - f.count);
      }
      if (!o.arrived && valid(o.to)) {
        Load& to = loads[at(o.to)];
        to.busy += static_cast<Time>(static_cast<double>(f.count * weight(o.to, f.group)) / to.capacity);
      }
    }
  }
  for (Load& load : loads) {
    std::erase_if(load.groups, [](const GroupWork& g) { return g.count <= 0; });
  }
  return loads;
}

void ClusterView::settle(std::vector<Load>& loads) const {
  const auto settled_of = [this](std::size_t i, const GroupWork& g) {
    return std::min(g.count, workers_[i].ready[index(g.group)].settled);
  };
  std::int64_t starving_workers = 0, others = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    starving_workers += workers_[i].present && starving(members_.rank(i));
    for (const GroupWork& g : loads[i].groups) others += g.movable ? g.count - settled_of(i, g) : 0;
  }
  if (others < starving_workers) return;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Load& load = loads[i];
    if (!load.receives) continue;
    const std::size_t groups = load.groups.size();
    for (std::size_t k = 0; k < groups; ++k) {
      GroupWork rest = load.groups[k];
      const std::int64_t settled = settled_of(i, rest);
      if (settled == 0 || !rest.movable) continue;
      load.groups[k].count -= settled;
      rest.count = settled;
      rest.movable = false;
      if (load.groups[k].count == 0) {
        load.groups[k] = rest;
      } else {
        load.groups.push_back(rest);
      }
    }
  }
}

}  // namespace tessera::balancer
