// Of a plan, what is worth its price (balancer/price.hpp).
#pragma once

#include <functional>

#include "balancer/central/plan.hpp"
#include "balancer/price.hpp"

namespace tessera::balancer {

// Ways are the links between workers, by their places among the loads.
struct Ways {
  std::function<const Link&(std::size_t from, std::size_t to)> link;
  std::function<std::int64_t(std::size_t from, std::size_t to)> line;  // the number of the line that the link is on
  std::function<LineUse(std::int64_t line)> use;                       // by what was ordered before
  std::function<std::int64_t(std::size_t to, Group)> usual;  // so many are like those that went there last; null: all
  std::function<std::int64_t(std::size_t to, const GroupWork&, std::int64_t count)>
      bytes;       // that travel with one; null: those of the load
  Time order = 0;  // until a source knows what it is to send
};

// cut_to_price takes out of each move what is not worth its price, and moves of which nothing is left. Moves come with
// those first whose receivers run dry first; several of one source take turns, for its line serves all of them. What
// goes far must be back before all could be done who are nearer. Who leaves gives all it is asked for.
void cut_to_price(const std::vector<Load>&, const Ways&, Plan&);

}  // namespace tessera::balancer
