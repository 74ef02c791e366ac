// Silence: how one rank notices that another says nothing any more, because its process is stopped or its host out of
// reach.
//
// Rank 0 asks all others once in a period, and they answer. So rank 0 hears of everybody, and everybody of rank 0; when
// that is silent the others say so, one of them: those with higher numbers give it a while, and keep still when they
// are told that it was said. Kernels answer for nobody: whoever moves messages does, while they run.
//
// A rank that was itself stopped, or slept with its laptop, has heard nothing meanwhile and blames nobody for it: time
// is counted by its own ticks, and no two of them are further apart than two periods.
//
// A pure machine: no transport, no clock. The communication thread owns it. Times are absolute, in ns.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {

enum class BeatKind : std::uint8_t { ask, answer, said };

class Silence {
 public:
  using Rank = balancer::Rank;
  using Time = balancer::Time;

  struct Settings {
    Time period = 1'000'000'000;
    Time say_after = 10'000'000'000;
    Time end_after = 0;  // 0: never
  };
  struct Action {
    enum class What { send, say, again, end } what;
    std::vector<Rank> ranks;        // to whom; or of whom to tell
    BeatKind kind = BeatKind::ask;  // of send
    Time silent = 0;                // for how long they were
    friend bool operator==(const Action&, const Action&) = default;
  };
  using Actions = std::vector<Action>;

  Silence(Rank self, std::int32_t ranks, const Settings& settings, Time now);

  Time next() const { return next_; }
  // From next() on.
  Actions tick(Time now);
  Actions heard(Rank from, BeatKind kind);

 private:
  struct Peer {
    Time heard = 0;     // of own_
    bool said = false;  // by this rank
    bool told = false;  // that another has said it
  };
  bool leads() const { return self_ == 0; }
  Time patience() const;

  const std::int32_t self_;
  const Settings settings_;
  Time last_;
  Time next_;
  Time own_ = 0;
  std::vector<Peer> peers_;  // by rank; rank 0 hears of all, the others of rank 0
};

}  // namespace tessera::runtime
