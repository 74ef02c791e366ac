// RunFacts: what is settled before a rank begins to run, and stays: the program, what was asked for, who takes which
// part. Whoever needs no more of a rank than this takes it, and not the rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/policy.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct RunFacts {
  // Throws std::invalid_argument: what the options ask for can't be.
  RunFacts(const abi::Program&, const RunOptions&, const Transport&, std::vector<std::string> arguments);

  const abi::Program& program;
  const RunOptions& options;
  const std::vector<std::string> arguments;
  const Rank self;
  const std::int32_t ranks;
  const balancer::PolicyInfo& policy;
  const balancer::Settings settings;
  const std::int32_t worker_ranks;           // ranks that execute: 0 .. n-1; the others balance
  const bool homeward;                       // what the policy has shipped goes home: balancer::sends_home
  const bool balancing;                      // a policy other than none, and somebody to ship to
  std::vector<balancer::GroupInfo> infos{};  // with what a profile knows
  std::vector<std::string> hosts{};          // by rank; empty: this one

  bool first() const { return self == Rank{0}; }
  bool executes() const { return balancer::index(self) < worker_ranks; }
};

}  // namespace tessera::runtime
