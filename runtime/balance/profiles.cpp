#include "runtime/balance/profiles.hpp"

#include "balancer/profile.hpp"
#include "runtime/balance/link_meter.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

std::array<std::uint64_t, 2> hash_of(const abi::Program& p) { return {p.hash[0], p.hash[1]}; }

}  // namespace

std::string read_profile(const abi::Program& program, const RunOptions& options, balancer::Profile& profile) {
  try {
    profile = balancer::load_profile(options.load_groups, hash_of(program), program.name, options.load_groups_anyway);
    return {};
  } catch (const balancer::ProfileError& e) {
    return std::string("--load-groups: ") + e.what();
  }
}

std::string save_profile(const RunOver& over, const Summary& s) {
  const abi::Program& program = over.facts.program;
  balancer::Time latency = 0;
  double bandwidth = 0;
  const bool measured = over.links.typical(latency, bandwidth);
  balancer::Profile p;
  p.hash = hash_of(program);
  p.program = program.name;
  for (const GroupTotals& g : s.groups) {
    const abi::Block& b = *program.blocks[g.group];
    if (!calls_kernel(program, g.group)) continue;
    balancer::ProfileGroup x;
    x.position = place(program, b.pos);
    x.label = b.label;
    x.count = g.count;
    x.mean = static_cast<balancer::Time>(g.weight);
    x.variance = g.variance;
    x.bytes = g.count == 0 ? 0 : g.bytes / g.count;
    x.moved = g.moved_away;
    // Fragments that cost more to bring elsewhere than to run are not worth a report.
    x.worth_moving = g.moved_away > 0 || !measured ||
                     g.weight > static_cast<double>(latency) + 1e9 * static_cast<double>(x.bytes) / bandwidth;
    p.groups.push_back(x);
  }
  try {
    balancer::save_profile(over.facts.options.save_groups, p);
    return {};
  } catch (const balancer::ProfileError& e) {
    return e.what();
  }
}

}  // namespace tessera::runtime
