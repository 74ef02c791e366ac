#include "balancer/simulator/workload.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::balancer::simulator {

Time Workload::work() const {
  Time sum = 0;
  for (const Fragment& f : fragments) sum += f.weight;
  return sum;
}

Time Workload::critical_path(double speed) const {
  std::vector<std::uint32_t> waits(fragments.size());
  std::vector<std::vector<std::uint32_t>> after(fragments.size());
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    for (const std::size_t c : fragments[f].children) {
      after[f].push_back(static_cast<std::uint32_t>(c));
      ++waits[c];
    }
    for (const Input& i : fragments[f].inputs) {
      after[i.fragment].push_back(static_cast<std::uint32_t>(f));
      ++waits[f];
    }
  }
  std::vector<Time> starts(fragments.size());
  for (const Birth& b : births) starts[b.fragment] = std::max(starts[b.fragment], b.at);
  std::vector<std::uint32_t> ready;
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    if (waits[f] == 0) ready.push_back(static_cast<std::uint32_t>(f));
  }
  Time longest = 0;
  std::size_t seen = 0;
  while (!ready.empty()) {
    const std::uint32_t f = ready.back();
    ready.pop_back();
    ++seen;
    const Time end = starts[f] + static_cast<Time>(static_cast<double>(fragments[f].weight) / speed);
    longest = std::max(longest, end);
    for (const std::uint32_t n : after[f]) {
      starts[n] = std::max(starts[n], end);
      if (--waits[n] == 0) ready.push_back(n);
    }
  }
  if (seen != fragments.size()) {
    throw std::invalid_argument("fragments wait for each other in a circle");
  }
  return longest;
}

}  // namespace tessera::balancer::simulator
