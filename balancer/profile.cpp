#include "balancer/profile.hpp"

#include <map>

namespace tessera::balancer {

std::size_t apply_profile(const Profile& profile, std::vector<GroupInfo>& groups) {
  const auto key = [](const ProfileGroup& g) { return g.position.empty() ? g.label : g.label + " at " + g.position; };
  std::multimap<std::string, const ProfileGroup*> known;  // equal keys stay in order
  for (const ProfileGroup& g : profile.groups) known.emplace(key(g), &g);
  std::size_t matched = 0;
  for (GroupInfo& group : groups) {
    const auto it = known.find(group.label);
    if (it == known.end()) continue;
    const ProfileGroup& p = *it->second;
    group.profile_count = p.count;
    group.profile_weight = p.mean;
    group.profile_variance = p.variance;
    group.never_moved = p.count > 0 && !p.worth_moving;
    known.erase(it);
    ++matched;
  }
  return matched;
}

}  // namespace tessera::balancer
