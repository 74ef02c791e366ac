#include "balancer/mirror/table.hpp"

#include <algorithm>

namespace tessera::balancer {

double smoothed_tasks(double tasks, Time run_time, double now_tasks, Time since) {
  const auto t = static_cast<double>(run_time), d = static_cast<double>(since);
  if (t + d <= 0) return std::max(1.0, now_tasks);
  return std::max(1.0, (tasks * t + now_tasks * d) / (t + d));
}

double share_done(double speed, Time run_time, Time assigned, double tasks) {
  if (assigned <= 0) return 1;
  const double share = speed * static_cast<double>(run_time) / static_cast<double>(assigned) / std::max(1.0, tasks);
  return std::clamp(share, 0.0, 1.0);
}

Time remaining_work(Time assigned, double share) {
  const double left = static_cast<double>(assigned) * (1 - share);
  return std::clamp<Time>(static_cast<Time>(left), 0, std::max<Time>(0, assigned));
}

std::int32_t mirrored(std::int32_t position, std::int32_t count) { return count + 1 - position; }

Time share_of_receiver(Time pending, const Side& receiver, const Side& victim, double post_processing) {
  if (pending <= 0 || receiver.rate <= 0 || victim.rate <= 0) return 0;
  // C, so that C/Vr + (Dr + C) post = (pending - C)/Ve + (De + pending - C) post.
  const auto all = static_cast<double>(pending);
  const double ahead = all / victim.rate + post_processing * (static_cast<double>(victim.done - receiver.done) + all);
  const double given = ahead / (1 / receiver.rate + 1 / victim.rate + 2 * post_processing);
  return static_cast<Time>(std::clamp(given, 0.0, all));
}

StateTable::StateTable(std::int32_t ranks, const std::vector<double>& speeds) : rows_(static_cast<std::size_t>(ranks)) {
  for (std::size_t r = 0; r < rows_.size() && r < speeds.size(); ++r) rows_[r].speed = speeds[r];
}

void StateTable::announced(Rank rank, const MirrorState& state, Time now) {
  Row& r = row(rank);
  r.speed = state.speed;
  r.tasks = std::max(1.0, state.tasks);
  r.assigned = std::max<Time>(0, state.units);
  r.since = now;
  r.for_idle = false;
}

void StateTable::left(Rank rank) {
  row(rank).present = false;
  row(rank).assigned = 0;
}

void StateTable::joined(Rank rank) {
  row(rank).present = true;
  row(rank).tasks = 1;
  row(rank).assigned = 0;
}

Time StateTable::remaining(Rank rank, Time now) const {
  const Row& r = row(rank);
  return remaining_work(r.assigned, share_done(r.speed, now - r.since, r.assigned, r.tasks));
}

std::vector<Rank> StateTable::by_remaining(Rank self, Time now) const {
  struct Place {
    Time left;
    Rank rank;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Rank rank{static_cast<std::int32_t>(i)};
    if (rows_[i].present) places.push_back({rank == self ? 0 : remaining(rank, now), rank});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.left != b.left ? a.left < b.left : index(a.rank) < index(b.rank);
  });
  std::vector<Rank> ranks;
  for (const Place& p : places) ranks.push_back(p.rank);
  return ranks;
}

std::vector<Rank> StateTable::search_order(Rank self, Time now) const {
  const std::vector<Rank> places = by_remaining(self, now);
  const auto found = std::find(places.begin(), places.end(), self);
  if (found == places.end()) return {};
  const auto n = static_cast<std::int32_t>(places.size());
  const std::int32_t first = mirrored(static_cast<std::int32_t>(found - places.begin()) + 1, n);
  std::vector<Rank> order;
  const auto add = [&](std::int32_t position) {
    const Rank rank = places[static_cast<std::size_t>(position) - 1];
    if (rank != self) order.push_back(rank);
  };
  for (std::int32_t p = first; p <= n; ++p) add(p);
  for (std::int32_t p = first - 1; p >= 1; --p) add(p);
  return order;
}

}  // namespace tessera::balancer
