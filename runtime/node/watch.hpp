// Watch: what this rank does about ranks that are silent (comm/silence.hpp): it says so, with their host, and ends the
// run when it was told after how long. Where ranks are processes; communication thread.
#pragma once

#include <string>

#include "runtime/comm/messages.hpp"
#include "runtime/comm/silence.hpp"

namespace tessera::runtime {

class Node;

class Watch {
 public:
  Watch(Node& node, Clock::time_point now);

  void turn(Clock::time_point now);
  Clock::time_point next() const;
  void on(Rank from, Beat&&);

 private:
  void carry_out(const Silence::Actions&);

  Node& node_;
  Silence silence_;
};

}  // namespace tessera::runtime
