#include "runtime/start/facts.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace tessera::runtime {
namespace {

// As the options say.
const balancer::PolicyInfo& policy_of(const RunOptions& options, std::int32_t ranks) {
  if (options.policy != nullptr) return *options.policy;
  const std::string name = !options.balancer.empty() ? options.balancer : std::string(balancer::usual_policy(ranks));
  const balancer::PolicyInfo* found = balancer::find_policy(name);
  if (found == nullptr) throw std::invalid_argument("unknown balancer `" + name + "`");
  return *found;
}

// How many may execute.
std::int32_t executing(const RunOptions& options, const balancer::PolicyInfo& policy, std::int32_t ranks) {
  const std::int32_t workers = balancer::executing_ranks(policy, options.settings, ranks);
  if (options.spares < workers || options.spares == 0) return workers;
  throw std::invalid_argument(
      fmt::format("--spare {}: of {} ranks that can run fragments at least one must do so from the start",
                  options.spares, workers));
}

}  // namespace

RunFacts::RunFacts(const abi::Program& program_, const RunOptions& options_, const Transport& transport,
                   std::vector<std::string> arguments_)
    : program(program_),
      options(options_),
      arguments(std::move(arguments_)),
      self(transport.rank()),
      ranks(transport.size()),
      policy(policy_of(options_, ranks)),
      settings(options_.settings),
      worker_ranks(executing(options_, policy, ranks)),
      homeward(balancer::sends_home(policy, options.settings)),
      balancing(policy.name != "none" && ranks > 1) {}

}  // namespace tessera::runtime
