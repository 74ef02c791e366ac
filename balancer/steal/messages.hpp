// What ranks that steal say to each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// What the fragments that finished on a rank made there.
enum class Offspring : std::uint8_t { unknown, none, some };
// thief -> victim.
struct StealRequest {
  std::uint64_t number = 0;  // the thief's request count, to recognise late answers
  bool idle = false;         // nothing runs at the thief; else it asks ahead
  Time need = 0;             // ns of one thread's work that keep it going until more could come; 0: not known
  Offspring made = Offspring::unknown;  // at the thief
  friend bool operator==(const StealRequest&, const StealRequest&) = default;
};
// victim -> thief: nothing to give now (default mode).
struct StealRefuse {
  std::uint64_t number = 0;
  friend bool operator==(const StealRefuse&, const StealRefuse&) = default;
};
// thief -> victim: no longer needed (faithful mode).
struct StealRevoke {
  std::uint64_t number = 0;
  friend bool operator==(const StealRevoke&, const StealRevoke&) = default;
};
// victim -> sleeping thief: there is something to steal again.
struct StealWake {
  bool call = false;  // to any rank: fragments make others here
  friend bool operator==(const StealWake&, const StealWake&) = default;
};

// One line of a transcript.
std::string text(const StealRequest&);
std::string text(const StealRefuse&);
std::string text(const StealRevoke&);
std::string text(const StealWake&);

}  // namespace tessera::balancer
