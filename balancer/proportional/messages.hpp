// What `proportional` says beside the messages of loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// worker -> master: what came with this ticket has been run.
struct ShareDone {
  std::uint64_t ticket = 0;
  std::int64_t units = 0;
  friend bool operator==(const ShareDone&, const ShareDone&) = default;
};
// master -> a worker that is long overdue: give what you have not started of `group`
// to these ranks.
struct HandOver {
  Group group{0};
  std::vector<Rank> to;
  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// One line of a transcript.
std::string text(const ShareDone&);
std::string text(const HandOver&);

}  // namespace tessera::balancer
