// What every transport has to do, written once: a scenario is run by all ranks at the same time, each
// with its own transport object (behind a Phased), and throws Failed when the contract is broken.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <stdexcept>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Scenario {
  const char* name;
  void (*run)(Transport&, std::uint64_t seed);
  friend std::ostream& operator<<(std::ostream& o, const Scenario& s) { return o << s.name; }
};

// The registry: the in-process tests and the MPI program both iterate it.
std::span<const Scenario> scenarios();

}  // namespace tessera::runtime
