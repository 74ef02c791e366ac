// Pace: how often to sweep. By what a sweep costs: processor time of the thread that writes; nobody waits for the disk.
#pragma once

#include <cstdint>

namespace tessera::runtime::journal {

class Pace {
 public:
  // What a sweep would write.
  struct Amount {
    std::uint64_t bytes = 0, values = 0;
  };
  // A sweep of so much took so long, in seconds of the processor.
  void took(const Amount&, double seconds);
  double cost(const Amount&) const;
  // The seconds from one sweep to the next, if it is of so much and the run has lasted so long. By Young's formula for
  // a failure a day; no more than one hundredth of the time goes into sweeps; and while the run is young, no more is
  // lost than it has done since the last but one.
  double interval(const Amount&, double lasted) const;

 private:
  double per_byte_ = 1e-9, per_value_ = 1e-6;  // until it is known
};

}  // namespace tessera::runtime::journal
