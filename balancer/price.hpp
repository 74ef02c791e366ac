// The price of a move: the time that lines and ranks need for it, not what they would need one after the other.
//
// A line carries one thing after the other, each way by itself, while the ranks at both ends compute. So a fragment is
// worth moving as long as its result is back sooner than the rank that gives it would be done with all it has, although
// inputs wait for the line, and results for the line back: then nobody waits longer for anything, whoever needs it.
#pragma once

#include <cstdint>

#include "balancer/links.hpp"

namespace tessera::balancer {

// copy_time is what each of the two ranks is busy with so many bytes on their way, in ns: it copies them twice, between
// values and messages and between messages and the line. Lines may be faster than that.
inline constexpr double kCopyBandwidth = 2e9;  // bytes/s
inline Time copy_time(std::int64_t bytes) {
  return bytes <= 0 ? 0 : static_cast<Time>(static_cast<double>(bytes) / kCopyBandwidth * 1e9);
}

// So many times Setup::ship_cost each of the two ranks is busy with one that has moved, all in all: what it has made is
// asked for by those who read it. Measured (9 us): kernels of 6 us on two ranks of one host are no faster for being
// shared out.
inline constexpr Time kShippings = 15;

// Nobody knows what a fragment produces that nobody has seen run. Taken for so many bytes, what comes back from all of
// these may keep a line busy for kProbesAtOnce, and for as long as the group has been known without an end of one:
// probe_wait is how long that has to be for one with such inputs.
inline constexpr std::int64_t kProbeReturns = 512 << 10;
inline constexpr Time kProbesAtOnce = 4'000'000;  // ns
inline Time probe_wait(const Link& link, std::int64_t bytes) {
  return wire_time(link, bytes + kProbeReturns) - kProbesAtOnce;
}

// Of one rank: ns from now until its line has carried what it has to, out and in.
struct LineUse {
  double out = 0, in = 0;
};

// When a line will have carried what it has to.
struct LineClock {
  Time out_until = 0, in_until = 0;
  LineUse use(Time now) const {
    return {static_cast<double>(out_until > now ? out_until - now : 0),
            static_cast<double>(in_until > now ? in_until - now : 0)};
  }
  void take(Time now, Time out, Time in) {
    out_until = (out_until > now ? out_until : now) + out;
    in_until = (in_until > now ? in_until : now) + in;
  }
};

// Some fragments that are alike, and their way from one rank to another.
struct Lot {
  std::int64_t count = 0;
  double work = 0;     // of one, ns at speed 1
  double out = 0;      // ns that the line is occupied by the inputs of one
  double in = 0;       // ns that it is occupied by what one sends back
  double latency = 0;  // one way
  double order = 0;    // until the rank that gives them has been told
};

// One that computes: when it will have run dry, in ns from now, and how much work it does per ns.
struct Computing {
  double finish = 0;
  double capacity = 1;
};

// lot_of is the lot of `count` fragments with inputs of `inputs` bytes each, who send `outputs` back.
Lot lot_of(std::int64_t count, Time work, std::int64_t inputs, std::int64_t outputs, const Link& link, Time order);

// affordable is how many of the lot are worth moving: each is back `gain` or more before `from` would be done. Their
// work and their bytes are then on `from`, `to` and the line.
std::int64_t affordable(const Lot&, double gain, Computing& from, Computing& to, LineUse& line);

}  // namespace tessera::balancer
