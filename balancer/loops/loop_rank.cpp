#include "balancer/loops/loop_rank.hpp"

#include <algorithm>

#include "balancer/loops/deal.hpp"

namespace tessera::balancer {

LoopRank::LoopRank(const Setup& setup, const PolicyInfo& info, const std::vector<double>& powers)
    : self_(setup.rank),
      ranks_(setup.ranks),
      threads_(std::max(1, setup.workers)),
      ship_cost_(setup.ship_cost),
      groups_(setup.groups),
      births_(setup.groups),
      weights_(setup.groups, kWeightMemory),
      team_(setup, powers) {
  const SettingsReader read(info, setup.settings);
  margin_ = read.number("transfer_margin");
  max_transfer_ = read.duration("max_transfer");
  links_.set_default(Link{});  // loops are dealt when they begin, measured or not
}

void LoopRank::step(Time now, const Event& event, Actions& out) {
  if (ranks_ < 2) return;
  absorb(event, out);
  if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
  if (leaving()) {
    evacuate(out);
  } else {
    react(now, event, out);
  }
}

void LoopRank::absorb(const Event& event, Actions& out) {
  if (const auto* load = std::get_if<LoadChanged>(&event)) {
    for (const GroupDone& d : load->finished) weights_.completed(d);
    births_.told(*load);
  } else if (const auto* came = std::get_if<Arrived>(&event)) {
    births_.arrived(came->fragments);
    team_.given_by(came->from, out);
  } else if (const auto* went = std::get_if<Shipped>(&event)) {
    const auto asked = asked_.find(went->ticket);
    if (asked == asked_.end()) return;
    births_.shipped(asked->second, went->fragments);
    asked_.erase(asked);
  } else if (std::holds_alternative<WentIdle>(event)) {
    idle_ = true;
  } else if (std::holds_alternative<WentBusy>(event)) {
    idle_ = false;
  } else if (const auto* link = std::get_if<LinkMeasured>(&event)) {
    const Link measured{link->latency, link->bandwidth};
    links_.set(self_, link->peer, measured);
    digest_.measured(link->peer, measured);
    links_.set(self_, digest_.usual());
  } else if (const auto* gone = std::get_if<RankLeaving>(&event)) {
    team_.left(gone->rank);
  } else if (const auto* joined = std::get_if<RankJoined>(&event)) {
    team_.joined(joined->rank);
  } else if (const auto* outside = std::get_if<OutsideLoad>(&event)) {
    team_.outside_here(outside->tasks, out);
  } else if (const auto* message = std::get_if<Received>(&event)) {
    if (const auto* tasks = std::get_if<OutsideTasks>(&message->message)) {
      team_.outside(message->from, *tasks);
    }
  }
}

std::vector<std::vector<std::uint64_t>> LoopRank::ship(const std::vector<Portion>& portions, const char* why,
                                                       Actions& out, std::int64_t pieces) {
  std::vector<std::vector<std::uint64_t>> tickets(portions.size());
  std::vector<std::int64_t> cuts;
  std::int64_t rounds = 0;
  for (const Portion& p : portions) {
    std::int64_t units = 0, bytes = 0;
    for (const GroupCount& f : p.fragments) {
      units += f.count;
      bytes += f.count * births_.bytes_each(index(f.group));
    }
    const Time wire = wire_time(links_.between(self_, p.to), bytes);
    const std::int64_t fitting = (wire + max_transfer_ - 1) / max_transfer_;
    cuts.push_back(std::min(std::max({pieces, fitting, std::int64_t{1}}), units));
    rounds = std::max(rounds, cuts.back());
    if (units > 0) {
      out.push_back(Decide{why, self_, p.to, p.fragments, load(), 0});
    }
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t p = 0; p < portions.size(); ++p) {
      if (round >= cuts[p]) continue;
      std::vector<GroupCount> piece;
      for (const GroupCount& f : portions[p].fragments) {
        const std::int64_t n = f.count * (round + 1) / cuts[p] - f.count * round / cuts[p];
        if (n > 0) piece.push_back({f.group, n});
      }
      if (piece.empty()) continue;
      births_.leaving(piece);
      for (const GroupCount& f : piece) {
        if (!weights_.known(f.group)) tried_.insert(index(f.group));
      }
      asked_[++ticket_] = piece;
      tickets[p].push_back(ticket_);
      out.push_back(Ship{ticket_, portions[p].to, std::move(piece)});
    }
  }
  return tickets;
}

std::int64_t LoopRank::dealable(std::size_t g) const {
  const std::int64_t fresh = births_.fresh(g);
  if (fresh == 0) return 0;
  const Group group{static_cast<std::uint32_t>(g)};
  if (g < groups_.size()) {
    if (groups_[g].never_moved || (groups_[g].range && groups_[g].body.empty())) return 0;
  }
  // With large inputs, all of them could cost any multiple of what they are worth.
  if (tries_first_ && margin_ > 0 && !weights_.known(group) && births_.bytes_each(g) > kSmallBytes) {
    const auto one_each = static_cast<std::int64_t>(team_.workers().size()) * threads_;
    return tried_.contains(g) ? 0 : std::min(fresh, one_each);
  }
  if (weights_.known(group) && !worth_moving(weights_.cautious(group), births_.bytes_each(g), usual_link(), margin_,
                                             weights_.ship_cost(group, ship_cost_))) {
    return 0;
  }
  return fresh;
}

bool LoopRank::pays(std::size_t g, std::int64_t n) const {
  const Group group{static_cast<std::uint32_t>(g)};
  if (!weights_.known(group)) return true;
  const Time transfer = transfer_time(usual_link(), n * births_.bytes_each(g));
  return static_cast<double>(n) * static_cast<double>(weights_.weight(group)) >=
         margin_ * static_cast<double>(transfer);
}

Time LoopRank::load() const {
  double sum = 0;
  for (std::size_t g = 0; g < births_.groups(); ++g) {
    if (births_.ready(g) == 0) continue;
    sum += static_cast<double>(births_.ready(g)) *
           static_cast<double>(weights_.weight(Group{static_cast<std::uint32_t>(g)}));
  }
  return static_cast<Time>(std::min(sum, 4e18));
}

void LoopRank::evacuate(Actions& out) {
  const std::vector<Rank>& workers = team_.workers();
  if (workers.empty()) return;
  std::vector<Portion> portions;
  for (const Rank r : workers) portions.push_back({r, {}});
  bool any = false;
  for (std::size_t g = 0; g < births_.groups(); ++g) {
    const std::int64_t n = births_.here(g);
    if (n == 0) continue;
    any = true;
    const auto counts = deal_counts(equal_order(workers.size()), workers.size(), 0, n);
    for (std::size_t j = 0; j < workers.size(); ++j) {
      if (counts[j] > 0) {
        portions[j].fragments.push_back({Group{static_cast<std::uint32_t>(g)}, counts[j]});
      }
    }
  }
  if (any) ship(portions, "leaving", out);
}

}  // namespace tessera::balancer
