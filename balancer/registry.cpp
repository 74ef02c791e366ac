// The closed list of policies. A new policy is one line here; the conformance suite, --help and
// the parameter checks iterate this list.
#include <functional>
#include <map>

#include "balancer/auction/auction.hpp"
#include "balancer/auto/auto.hpp"
#include "balancer/central/central.hpp"
#include "balancer/diffusion/diffusion.hpp"
#include "balancer/gossip/gossip.hpp"
#include "balancer/hierarchical/hierarchical.hpp"
#include "balancer/loops/loops.hpp"
#include "balancer/mirror/mirror.hpp"
#include "balancer/none/none.hpp"
#include "balancer/policy.hpp"
#include "balancer/proportional/proportional.hpp"
#include "balancer/restless/restless.hpp"
#include "balancer/steal/steal.hpp"

namespace tessera::balancer {
namespace {

std::map<std::string, const PolicyInfo*, std::less<>>& from_files() {
  static std::map<std::string, const PolicyInfo*, std::less<>> all;
  return all;
}

}  // namespace

void add_policy(const std::string& path, const PolicyInfo& info) { from_files()[path] = &info; }

const std::vector<PolicyInfo>& policies() {
  static const std::vector<PolicyInfo> all = {
      none_info(),  central_info(),    hierarchical_info(), steal_info(),        auction_info(),
      torus_info(), tree_info(),       gossip_info(),       diffusion_info(),    mirror_info(),
      equal_info(), predictive_info(), demand_info(),       proportional_info(), auto_info()};
  return all;
}

const PolicyInfo* find_policy(std::string_view name) {
  for (const PolicyInfo& p : policies()) {
    if (p.name == name) return &p;
  }
  if (const PolicyInfo& p = restless_info(); p.name == name) return &p;  // not one to choose: it is in no list
  for (const auto& [path, info] : from_files()) {
    if (path == name || info->name == name) return info;
  }
  return nullptr;
}

std::string_view usual_policy(std::int32_t ranks) { return ranks > 1 ? "auto" : "none"; }

}  // namespace tessera::balancer
