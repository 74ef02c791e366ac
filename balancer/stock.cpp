#include "balancer/stock.hpp"

#include <algorithm>

namespace tessera::balancer {

Stock::Stock(const Setup& setup, const Rules& rules)
    : self_(setup.rank),
      workers_(std::max(1, setup.workers)),
      rules_(rules),
      ship_cost_(setup.ship_cost),
      weights_(setup.groups, kWeightMemory),
      ready_(setup.groups.size()),
      growth_(static_cast<std::int32_t>(workers_)) {
  for (const GroupInfo& g : setup.groups) never_moved_.push_back(g.never_moved);
}

void Stock::heard(const LoadChanged& e) {
  std::int64_t finished = 0;
  for (const GroupDone& d : e.finished) {
    weights_.completed(d);
    finished += d.count;
  }
  const std::int64_t before = ready_.accounted();
  ready_.told(e);
  growth_.told(before, ready_.total(), finished);
}

void Stock::heard(const LinkMeasured& e) {
  links_.measured(self_, e.peer, Link{e.latency, e.bandwidth});
  if (e.latency > 0 && (latency_ == 0 || e.latency < latency_)) latency_ = e.latency;
  longest_latency_ = std::max(longest_latency_, e.latency);
}

bool Stock::heard(const Shipped& e) {
  const auto it = shipping_.find(e.ticket);
  if (it == shipping_.end()) return false;
  for (const GroupCount& f : it->second) in_shipment_[index(f.group)] -= f.count;
  ready_.shipped(it->second, e.fragments);
  shipping_.erase(it);
  return e.fragments.empty();
}

std::int64_t Stock::free_count(std::size_t g) const {
  const std::int64_t leaving = g < in_shipment_.size() ? in_shipment_[g] : 0;
  return std::max<std::int64_t>(0, ready_[g].count() - leaving);
}

std::int64_t Stock::ready() const {
  std::int64_t sum = 0;
  for (std::size_t g = 0; g < ready_.size(); ++g) sum += free_count(g);
  return sum;
}

// Nothing runs here yet: each thread is about to take one.
std::int64_t Stock::kept(std::int64_t count) const { return idle_ ? std::min(count, workers_) : 0; }

std::vector<Stock::Candidate> Stock::candidates(Rank to) const {
  const Link& link = links_.between(self_, to);
  const double growth = growth_.factor();
  std::vector<Candidate> all;
  for (std::size_t g = 0; g < ready_.size(); ++g) {
    std::int64_t count = free_count(g);
    if (count == 0 || (g < never_moved_.size() && never_moved_[g])) continue;
    const Group group{static_cast<std::uint32_t>(g)};
    const std::int64_t each = ready_[g].bytes_now() / ready_[g].count();
    const bool measured = weights_.known(group);
    if (rules_.pays) {
      const Time weight = measured ? weights_.cautious(group) : weights_.weight(group);
      if (!worth_moving(weight, each, link, rules_.margin, weights_.ship_cost(group, ship_cost_))) {
        if (measured || !may_travel(link, each)) continue;
        count = 1;  // a guess says no: one goes, to find out
      }
    }
    const auto weight = static_cast<Time>(growth * static_cast<double>(weights_.weight(group)));
    all.push_back({group, count, each, std::max<Time>(1, weight), measured});
  }
  return all;
}

std::int64_t Stock::available(Rank to) const {
  std::int64_t sum = 0;
  for (const Candidate& c : candidates(to)) sum += c.count;
  return sum - kept(sum);
}

Time Stock::available_weight(Rank to) const {
  double sum = 0, count = 0;
  for (const Candidate& c : candidates(to)) {
    count += static_cast<double>(c.count);
    sum += static_cast<double>(c.count) * static_cast<double>(c.weight);
  }
  if (count == 0) return 0;
  const auto keep = static_cast<double>(kept(static_cast<std::int64_t>(count)));
  return static_cast<Time>(std::min(sum * (count - keep) / count, 4e18));
}

std::vector<GroupCount> Stock::pick(Rank to, std::int64_t count) const {
  std::vector<Candidate> chosen = candidates(to);
  std::int64_t total = 0;
  for (const Candidate& c : chosen) total += c.count;
  count = std::min(count, total - kept(total));
  if (count <= 0) return {};
  // Rounded along the running sum, so that the parts add up to `count` exactly.
  std::int64_t sum = 0, taken = 0;
  for (Candidate& c : chosen) {
    sum += c.count;
    const auto upto = static_cast<std::int64_t>(static_cast<long double>(sum) * static_cast<long double>(count) /
                                                static_cast<long double>(total));
    c.count = std::min(upto - taken, c.count);
    taken += c.count;
  }
  return paying(to, chosen);
}

std::vector<GroupCount> Stock::pick_weight(Rank to, Time weight, bool last) const {
  std::vector<Candidate> chosen = candidates(to);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  std::int64_t may_go = 0;
  double total = 0;
  for (const Candidate& c : chosen) {
    may_go += c.count;
    total += static_cast<double>(c.count) * static_cast<double>(c.weight);
  }
  may_go -= kept(may_go);
  if (may_go <= 0 || weight <= 0) return {};
  // The same fraction of every group first, what is left heaviest first.
  const double fraction = std::min(1.0, static_cast<double>(weight) / total);
  std::vector<std::int64_t> have;
  Time left = weight;
  std::int64_t taken = 0;
  for (Candidate& c : chosen) {
    have.push_back(c.count);
    c.count = std::min(static_cast<std::int64_t>(fraction * static_cast<double>(c.count)), may_go - taken);
    left -= c.count * c.weight;
    taken += c.count;
  }
  for (std::size_t i = 0; i < chosen.size() && left > 0; ++i) {
    Candidate& c = chosen[i];
    const std::int64_t more = std::min({left / std::max<Time>(1, c.weight), have[i] - c.count, may_go - taken});
    c.count += more;
    left -= more * c.weight;
    taken += more;
  }
  // Half a fragment: it goes where nothing runs, or it would be carried about. The lightest is the
  // last.
  if (taken == 0 && last && !idle_ && 2 * left >= chosen.back().weight) {
    chosen.back().count = 1;
  }
  return paying(to, chosen);
}

// paying cuts the choice down to a shipment that pays: short enough, and outweighing its transfer. Of a group that
// nobody has seen run here one goes per thread: neither its weight nor the bytes that it makes are known.
std::vector<GroupCount> Stock::paying(Rank to, const std::vector<Candidate>& chosen) const {
  const Link& link = links_.between(self_, to);
  std::vector<GroupCount> parts;
  double weight = 0;
  std::int64_t bytes = 0;
  bool guess = false;
  for (const Candidate& c : chosen) {
    std::int64_t count = c.count;
    if (rules_.pays && !c.measured) count = std::min(count, workers_);
    if (rules_.pays && c.bytes_each > 0 && wire_time(link, c.bytes_each) > 0) {
      const Time left = rules_.max_transfer - wire_time(link, bytes);
      count = std::min(count, std::max<Time>(parts.empty() ? 1 : 0, left / wire_time(link, c.bytes_each)));
    }
    if (count <= 0) continue;
    parts.push_back({c.group, count});
    weight += static_cast<double>(count) * static_cast<double>(c.weight);
    bytes += count * c.bytes_each;
    guess = guess || !c.measured;
  }
  const bool pays = weight >= rules_.margin * static_cast<double>(transfer_time(link, bytes));
  if (rules_.pays && !pays && !guess) return {};
  std::sort(parts.begin(), parts.end(),
            [](const GroupCount& a, const GroupCount& b) { return index(a.group) < index(b.group); });
  return parts;
}

std::uint64_t Stock::send(Rank to, std::vector<GroupCount> parts, Actions& out) {
  for (const GroupCount& f : parts) {
    if (index(f.group) >= in_shipment_.size()) in_shipment_.resize(index(f.group) + 1);
    in_shipment_[index(f.group)] += f.count;
  }
  out.push_back(Ship{++ticket_, to, parts});
  shipping_[ticket_] = std::move(parts);
  return ticket_;
}

void Stock::send_everything(const std::vector<Rank>& to, Actions& out) {
  if (to.empty()) return;
  std::vector<std::vector<GroupCount>> parts(to.size());
  std::size_t next = 0;  // the remainders go round
  for (std::size_t g = 0; g < ready_.size(); ++g) {
    const std::int64_t count = free_count(g);
    const auto shares = static_cast<std::int64_t>(to.size());
    for (std::int64_t i = 0; i < std::min(shares, count); ++i) {
      const std::int64_t share = count / shares + (i < count % shares ? 1 : 0);
      parts[next].push_back({Group{static_cast<std::uint32_t>(g)}, share});
      next = (next + 1) % to.size();
    }
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (parts[i].empty()) continue;
    out.push_back(Decide{"this rank leaves", self_, to[i], parts[i], load(), 0});
    send(to[i], std::move(parts[i]), out);
  }
}

}  // namespace tessera::balancer
