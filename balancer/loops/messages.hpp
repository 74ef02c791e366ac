// What the master of a loop and its workers say to each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// predictive, demand, proportional, rank -> those that may deal to it: tasks of others compete with
// its `threads`.
struct OutsideTasks {
  double tasks = 0;
  std::int32_t threads = 1;
  friend bool operator==(const OutsideTasks&, const OutsideTasks&) = default;
};
// demand, master -> a worker that has no reason to ask: there are fragments to be had.
struct LoopOpened {
  friend bool operator==(const LoopOpened&, const LoopOpened&) = default;
};
// demand, worker -> master: the next block, please.
struct BlockRequest {
  std::uint64_t number = 0;  // the worker's request count, to recognise late answers
  friend bool operator==(const BlockRequest&, const BlockRequest&) = default;
};
// demand, master -> worker: nothing left to give; LoopOpened tells when there is.
struct LoopDrained {
  std::uint64_t number = 0;
  friend bool operator==(const LoopDrained&, const LoopDrained&) = default;
};

// One line of a transcript.
std::string text(const OutsideTasks&);
std::string text(const LoopOpened&);
std::string text(const BlockRequest&);
std::string text(const LoopDrained&);

}  // namespace tessera::balancer
