// Surroundings: what the values of a rank ask of the rest of it. The rank is one (node/node.hpp); a test may be
// another.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::abi {
struct Worker;
}

namespace tessera::runtime {

struct ScopeRecord;
class Node;

class Surroundings {
 public:
  // A fragment begins to wait: it takes a count of its scope, if it has none yet.
  virtual void enroll(abi::Cf*) = 0;
  // The last missing input of a waiting fragment is here. Any thread.
  virtual void arrived(abi::Worker&, abi::Cf*) = 0;

  // Gives a count of the scope back; at zero it ends.
  virtual void leave_scope(abi::Worker&, ScopeRecord*, std::int64_t count = 1) = 0;

  // This rank has just asked another one for a value; its home, by a Request. `began`: ticks before it did. `by`: who
  // is to read it; null: nobody in particular.
  virtual void asked(abi::Worker&, const abi::Name&, const abi::Cf* by, bool request, std::uint64_t began) = 0;

  // Whether this rank takes part; what it gives away goes to `next_keeper`, another one each time.
  struct Presence {
    bool left = false;   // there was a time when it took no part
    bool swept = false;  // nothing is left here but what may stay
    Rank next_keeper{-1};
  };
  virtual Presence presence() = 0;

  // The run ends with this; any thread, the first one wins.
  virtual void fail(const std::string& text, int exit_code) = 0;
  // The same about a fragment. `pos` zero: the position of its statement.
  virtual void fail_in(const abi::Cf*, abi::Pos, const std::string& text) = 0;
  // The same, by the exception that is being handled.
  virtual void fail_by_exception(const abi::Cf*) = 0;

 protected:
  ~Surroundings() = default;
};

// The same for who knows no more of a node.
Surroundings& surroundings(Node&);

}  // namespace tessera::runtime
