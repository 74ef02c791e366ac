#include "configurations.hpp"

namespace tessera::differential {
namespace {

Configuration make(int ranks, int threads, std::uint64_t seed, const std::string& policy) {
  Configuration c;
  c.name = "--transport inproc --inproc-ranks " + std::to_string(ranks) + " -t " +
           std::to_string(threads) + " --seed " + std::to_string(seed) + " --balancer " + policy;
  c.options.transport = "inproc";
  c.options.ranks = ranks;
  c.options.threads = threads;
  c.options.seed = seed;
  c.options.max_delay_us = 100;
  c.options.balancer = policy;
  c.options.quiet = true;
  return c;
}

bool has(const balancer::PolicyInfo& policy, std::string_view parameter) {
  for (const balancer::Parameter& p : policy.parameters) {
    if (p.name == parameter) return true;
  }
  return false;
}

}  // namespace

std::vector<Configuration> configurations(std::uint64_t seed) {
  std::vector<Configuration> all;
  for (const int threads : {1, 2, 4}) all.push_back(make(1, threads, 0, "none"));
  for (const int ranks : {2, 4, 7}) {
    for (const balancer::PolicyInfo& p : balancer::policies()) {
      for (const int threads : {1, 2}) {
        const std::uint64_t order = seed * 100 + all.size();
        all.push_back(make(ranks, threads, order, std::string(p.name)));
        if (threads == 1 && has(p, "faithful")) {
          Configuration faithful = make(ranks, threads, order + 50, std::string(p.name));
          faithful.name += " --set faithful=true";
          faithful.options.settings.emplace("faithful", "true");
          all.push_back(faithful);
        }
      }
    }
  }
  return all;
}

}  // namespace tessera::differential
