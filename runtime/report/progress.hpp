// The progress line: every rank tells rank 0 twice a second how far it is, rank 0 rewrites a line below
// the cursor on stderr. Only when asked for (the command asks when stderr is a terminal).
#pragma once

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

class Node;

class Progress {
 public:
  explicit Progress(Node& node);
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now) const;
  void clear();  // wipes the line

 private:
  Node& node_;
  bool on_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace tessera::runtime
