// Workload: a program whose fragments are all known beforehand, as a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer::simulator {

// A value that a fragment consumes: the output of another.
struct Input {
  std::size_t fragment;
  std::int64_t bytes;
};

struct Fragment {
  Group group;
  Time weight;                          // on a rank of speed 1
  std::int64_t bytes = 0;               // of inputs that no other fragment uses; they travel when it is shipped
  std::vector<std::size_t> children{};  // created when it finishes, on its rank or at their home
  std::vector<Input> inputs{};          // it is ready when all of them have reached its rank
  std::int64_t output = 0;              // bytes it produces
  Rank home{-1};                        // where it is created; -1: where its parent ran
  std::uint32_t series = 0;             // the balancer moves one: those after it follow; 0: of none
};

struct Birth {
  Time at;
  Rank rank;
  std::size_t fragment;
};

// Workload: every fragment is created once, by `births` or as a child of one other.
struct Workload {
  std::vector<GroupInfo> groups;
  std::vector<Fragment> fragments;
  std::vector<Birth> births;
  std::vector<Group> stacks{};  // groups whose newest fragment runs first

  std::size_t add(Fragment f) {
    fragments.push_back(std::move(f));
    return fragments.size() - 1;
  }
  Time work() const;  // sum of the weights
  // The longest chain of fragments that wait for each other, by weight, births included, on a rank of this speed.
  // Throws std::invalid_argument when fragments wait for each other in a circle.
  Time critical_path(double speed = 1) const;
};

}  // namespace tessera::balancer::simulator
