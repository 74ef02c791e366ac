// The ranks that share a loop, and how fast each is.
#pragma once

#include <map>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/policy.hpp"

namespace tessera::balancer {

// outside_factor is by how much tasks of others slow a rank down: `ours` threads and `load` tasks
// share `cpus` cores, 1 while there are enough.
double outside_factor(double load, double ours, double cpus);

// Team is what one rank knows of the others: who is there, relative powers (the parameter `powers`,
// else Setup::powers, else 1), and who competes with them. A rank tells its outside load to those
// that may deal to it: rank 0, and whoever has given it fragments.
class Team {
 public:
  // `powers` is the parameter's; empty: not given.
  Team(const Setup&, const std::vector<double>& powers);

  // The ranks that take part, this one first, then the next and so on around. Never empty but when
  // this rank is leaving and nobody else is there.
  const std::vector<Rank>& workers() const { return workers_; }
  bool here(Rank r) const { return present_[at(r)]; }
  double power(Rank) const;            // less where others compete
  std::vector<double> powers() const;  // of workers(), in their order
  double outside_factor_of(Rank) const;
  double nominal_power(Rank r) const { return nominal_[at(r)]; }

  void left(Rank);
  void joined(Rank);
  void outside(Rank, const OutsideTasks&);        // said by that rank
  void outside_here(double tasks, Actions& out);  // tells whom it concerns, if it has changed by
                                                  // half a task
  void given_by(Rank, Actions& out);

 private:
  static std::size_t at(Rank r) { return static_cast<std::size_t>(index(r)); }
  void arrange();

  const Rank self_;
  const std::int32_t threads_;
  std::vector<double> nominal_;
  std::vector<bool> present_;
  std::vector<OutsideTasks> outside_;
  std::vector<Rank> workers_;
  std::vector<Rank> givers_;
  double told_ = 0;
};

}  // namespace tessera::balancer
