#include "balancer/proportional/iterations.hpp"

#include <algorithm>

namespace tessera::balancer {
namespace {

double seconds(Time t) { return static_cast<double>(t) * 1e-9; }

}  // namespace

void Iterations::given(Rank r, std::int64_t units, Time now) {
  if (units <= 0) return;
  open_ = true;
  units_ += units;
  State& w = workers_[at(r)];
  if (w.units == 0) w.since = now;
  w.units += units;
  w.left += units;
}

void Iterations::went_short(Rank r, std::int64_t units) {
  State& w = workers_[at(r)];
  const std::int64_t n = std::min(units, w.left);
  w.units -= n;
  w.left -= n;
}

void Iterations::done(Rank r, std::int64_t units, Time now, double percent) {
  State& w = workers_[at(r)];
  w.left = std::max<std::int64_t>(0, w.left - units);
  w.until = now;
  close_if_done(percent);
}

void Iterations::forget(Rank r, double percent) {
  State& w = workers_[at(r)];
  w.left = 0;
  w.void_ = true;
  close_if_done(percent);
}

void Iterations::renew(Rank r) {
  workers_[at(r)].rate = 0;
  unsettle();
}

void Iterations::close_if_done(double percent) {
  if (!open_) return;
  for (const State& w : workers_) {
    if (w.left > 0) return;
  }
  open_ = false;
  const bool is_short = units_ * 4 < expected_;
  std::vector<Measured> parts;
  for (State& w : workers_) {
    Measured m;
    if (w.units > 0 && !w.void_) m = {w.units, seconds(w.until - w.since)};
    parts.push_back(m);
    if (!is_short) {
      if (m.rate() > 0) {
        w.rate = m.rate();
        w.factor = w.factor_now;
      }
      w.without = w.units > 0 ? 0 : w.without + 1;
    }
    w.units = 0;
    w.void_ = false;
  }
  if (!is_short) {
    expected_ = units_;
    ++measured_;
    mean_ = mean_time(parts);
    settled_ = !guessed_ && balanced(parts, percent);
    last_ = std::move(parts);
  }
  units_ = 0;
}

std::vector<std::int64_t> Iterations::shares(const std::vector<Worker>& workers, std::int64_t units,
                                             std::int64_t probe_after) {
  std::vector<Rank> team;
  for (const Worker& w : workers) team.push_back(w.rank);
  // What joins an open iteration is shared as that iteration was.
  const bool reuse = team == team_ && (open_ || settled_);
  team_ = std::move(team);
  if (!reuse) {
    // The reference worker has the mean cost of all: before any measurement it stands for them.
    UnitCost usual;
    double latency = 0;
    const auto n = static_cast<double>(workers.size());
    for (const Worker& w : workers) {
      usual.work += w.cost.work / n;
      usual.wire += w.cost.wire / n;
      latency += w.latency / n;
    }
    guessed_ = false;
    const double reference = mean_ > 0 ? mean_ : reference_time(units, workers.size(), usual, latency);
    for (const Worker& w : workers) {
      State& s = workers_[at(w.rank)];
      guessed_ = guessed_ || s.rate <= 0;
      s.proportion =
          s.rate > 0 ? reference * s.rate * s.factor / w.factor : modelled_units(reference, w.latency, w.cost);
    }
  }
  std::vector<double> wanted;
  for (const Worker& w : workers) {
    State& s = workers_[at(w.rank)];
    s.factor_now = w.factor;
    wanted.push_back(s.proportion);
  }
  if (open_) {
    // The whole iteration is to be in proportion: who is behind gets more of what has come.
    const std::vector<std::int64_t> whole = apportion(wanted, units_ + units);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      wanted[i] = static_cast<double>(whole[i] - workers_[at(workers[i].rank)].units);
    }
  }
  std::vector<std::int64_t> shares = apportion(wanted, units);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    State& s = workers_[at(workers[i].rank)];
    const auto most = std::max_element(shares.begin(), shares.end());
    if (open_ || shares[i] > 0 || s.without < probe_after || *most < 2) continue;
    --*most;
    ++shares[i];
  }
  return shares;
}

Time Iterations::overdue_at(Rank r, double latency, double wire, double slack) const {
  const State& w = workers_[at(r)];
  if (w.left == 0 || w.rate <= 0) return 0;
  const double service = slack * static_cast<double>(w.units) / w.rate;
  const double wait = patience(latency, wire * static_cast<double>(w.units), service);
  return w.since + static_cast<Time>(std::min(wait, 1e9) * 1e9);
}

}  // namespace tessera::balancer
