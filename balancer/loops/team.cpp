#include "balancer/loops/team.hpp"

#include <algorithm>

namespace tessera::balancer {

double outside_factor(double load, double ours, double cpus) {
  const double wanted = std::max(0.0, load) + ours;
  return cpus > 0 && wanted > cpus ? wanted / cpus : 1;
}

Team::Team(const Setup& setup, const std::vector<double>& powers)
    : self_(setup.rank),
      threads_(std::max(1, setup.workers)),
      nominal_(static_cast<std::size_t>(setup.ranks), 1.0),
      present_(static_cast<std::size_t>(setup.ranks), true),
      outside_(static_cast<std::size_t>(setup.ranks)) {
  const std::vector<double>& given = powers.empty() ? setup.powers : powers;
  for (std::size_t r = 0; r < std::min(given.size(), nominal_.size()); ++r) {
    // A cluster file may say 0 of a rank that others occupy: very slow, but a number to divide by.
    nominal_[r] = std::max(given[r], 1e-6);
  }
  if (index(self_) != 0) givers_.push_back(Rank{0});
  arrange();
}

void Team::arrange() {
  workers_.clear();
  const auto ranks = static_cast<std::int32_t>(present_.size());
  for (std::int32_t i = 0; i < ranks; ++i) {
    const Rank r{(index(self_) + i) % ranks};
    if (here(r)) workers_.push_back(r);
  }
}

double Team::outside_factor_of(Rank r) const {
  const OutsideTasks& o = outside_[at(r)];
  return outside_factor(o.tasks, o.threads, o.threads);
}
double Team::power(Rank r) const { return nominal_power(r) / outside_factor_of(r); }

std::vector<double> Team::powers() const {
  std::vector<double> all;
  for (const Rank r : workers_) all.push_back(power(r));
  return all;
}

void Team::left(Rank r) {
  if (at(r) >= present_.size()) return;
  present_[at(r)] = false;
  std::erase(givers_, r);
  arrange();
}
void Team::joined(Rank r) {
  if (at(r) >= present_.size()) return;
  present_[at(r)] = true;
  arrange();
}
void Team::outside(Rank r, const OutsideTasks& o) {
  if (at(r) < outside_.size()) outside_[at(r)] = o;
}

void Team::outside_here(double tasks, Actions& out) {
  outside_[at(self_)] = OutsideTasks{tasks, threads_};
  const double change = tasks - told_;
  if (change < 0.5 && change > -0.5) return;
  told_ = tasks;
  for (const Rank r : givers_) out.push_back(Send{r, outside_[at(self_)]});
}

void Team::given_by(Rank r, Actions& out) {
  if (r == self_ || std::find(givers_.begin(), givers_.end(), r) != givers_.end()) return;
  givers_.push_back(r);
  if (told_ > 0) out.push_back(Send{r, outside_[at(self_)]});
}

}  // namespace tessera::balancer
