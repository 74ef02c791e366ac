// Machines with a fault in what they do about one kind of event, to see it found: by the explorer, and by whole runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/protocol/step.hpp"

namespace tessera::protocol {

using Step = std::function<void(Entry&, const Event&, const View&, Actions&)>;

struct Broken {
  std::string name;  // with a commit: it was in the runtime, and found after hours
  Step step;
};
std::vector<Broken> broken_machines();

}  // namespace tessera::protocol
