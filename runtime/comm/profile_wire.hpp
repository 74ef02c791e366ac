// How what is known of groups travels, and stands in journals.
#pragma once

#include "balancer/profile.hpp"

namespace tessera::balancer {

template <class Archive>
void serialize(Archive& a, ProfileGroup& g) {
  a(g.position, g.label, g.count, g.mean, g.variance, g.bytes, g.moved, g.worth_moving);
}
template <class Archive>
void serialize(Archive& a, Profile& p) {
  a(p.hash[0], p.hash[1], p.program, p.groups);
}

}  // namespace tessera::balancer
