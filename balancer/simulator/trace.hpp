// Traces of programs: what ran, what made it, what it consumed, how long it took. The format is
// described in docs/simulator.md; `tessera run --record` writes it, `tessera simulate --workload
// FILE` reads it.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "balancer/simulator/times.hpp"
#include "balancer/simulator/workload.hpp"

namespace tessera::balancer::simulator {

struct Trace {
  std::string program;  // its name
  std::string hash;     // of the program, as in profiles: 32 hexadecimal digits; may be empty
  Workload work;
  Times times;  // of a recorded run
};

// TraceError says, for a person, what is wrong: file, line, what stands there, what may.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kTraceVersion = 1;

// read_trace throws TraceError: no such file, no trace, another version, a broken or missing line,
// fragments that wait for each other in a circle or that nothing creates.
Trace read_trace(const std::string& path);
// write_trace writes the file whole or not at all. read_trace gives the same back.
void write_trace(const std::string& path, const Trace&);

// TracePieces: fragments and bars one by one, of a trace that would take much memory as a whole.
struct TracePieces {
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);  // it was there at the start, on that rank
  using PutFragment = std::function<void(const Fragment&, std::size_t parent, Rank)>;
  using PutBar = std::function<void(const Bar&, std::span<const std::int64_t> numbers, std::span<const Arrival>)>;
  std::function<void(const PutFragment&)> fragments;
  std::function<void(const PutBar&)> bars;
};
// `about`: the rest of it.
void write_trace(const std::string& path, const Trace& about, const TracePieces&);

}  // namespace tessera::balancer::simulator
