// Watch: what this rank does about ranks that are silent (comm/silence.hpp): it says so, with their host, and ends the
// run when it was told after how long. Where ranks are processes; communication thread.
#pragma once

#include <string>

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/comm/silence.hpp"
#include "runtime/start/facts.hpp"

namespace tessera::runtime {

class Watch {
 public:
  Watch(const RunFacts&, Communicator&, Transport&, Clock::time_point now);

  void turn(Clock::time_point now);
  Clock::time_point next() const;
  void on(Rank from, Beat&&);

 private:
  void carry_out(const Silence::Actions&);

  const RunFacts& facts_;
  Communicator& comm_;
  Transport& transport_;
  Silence silence_;
};

}  // namespace tessera::runtime
