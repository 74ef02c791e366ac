// Probing: which probes one rank sends to one other, and what the answers make of the link. Pure: the link meter sends
// them and measures the time, tests do it with links that are simulated.
//
// Ranks that share memory: round trips without a payload for the latency, then with ever larger ones. Their bandwidth
// includes the first touch of memory at the receiver, where most values that move end: probes land in memory used over
// and over, and by themselves would promise several times too much. Others: round trips, then trains (train.hpp), each
// four times the one before, until one is sure of its figure and is either long enough for any slow start, or agrees
// with the one before. What is not sure counts for half of the fastest that was seen: moving too much over a link
// cannot be taken back. Values that are made here bound the probes: moving small ones costs latency, and a probe of 1
// MB what 100 steps of a fine program do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/balance/train.hpp"

namespace tessera::runtime {

struct Probe {
  std::uint32_t parts = 1;
  std::uint64_t bytes = 0;  // of each part
};

class Probing {
 public:
  virtual ~Probing() = default;
  // Rounds are counted from 1; one may be begun again, when more is wanted.
  virtual void begin_round(int round) = 0;
  // The next probe of this round, where values of up to `largest` bytes are made; none: the round is over.
  virtual std::optional<Probe> next(std::uint64_t largest) = 0;
  // The answer to it, which came after `took` ns. True: latency() and bandwidth() are news.
  virtual bool answered(const Probe&, std::int64_t took, const TrainSpeed&) = 0;
  // The latest round left something out which is wanted where such values are made.
  virtual bool wants_more(std::uint64_t largest) const = 0;

  std::int64_t latency() const { return round_trip_ / 2; }  // ns
  double bandwidth() const { return bandwidth_; }           // bytes/s; 0: not yet

  static constexpr int kRounds = 3;

 protected:
  std::int64_t round_trip_ = INT64_MAX;  // ns, the best
  double bandwidth_ = 0;
};

// `first_touch`: ns per byte of fresh memory.
std::unique_ptr<Probing> probing_through_memory(double first_touch);
std::unique_ptr<Probing> probing_over_network();

}  // namespace tessera::runtime
