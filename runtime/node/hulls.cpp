// Fragments hold what they may still read of swept names: from when they wait or are queued until they have run. What
// runs inside another fragment is covered by that one.
#include "runtime/fragment/horizons.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {
namespace {

HeldHull*& word_of(Cf* c, const abi::Block& b) { return reinterpret_cast<HeldHull*&>(abi::frame_int(c, b.hold_word)); }

}  // namespace

void Node::hold_hulls(Cf* c) {
  const abi::Hulls hulls = hulls_of(c);
  if (hulls.count == 0) return;
  word_of(c, *c->block) = Horizon::hold(hulls, data.horizons);
  c->flags |= kHolding;
}

// While nobody else has it: from when it waits on, its scope, and so the horizon, may end at any time.
void Node::hold_next(Cf* c, const abi::Block& before) {
  HeldHull*& word = word_of(c, before);
  word = Horizon::hold_instead(word, hulls_of(c), data.horizons);
  if (word == nullptr) c->flags &= static_cast<std::uint16_t>(~kHolding);
}

void Node::let_go(Cf* c) { Horizon::release(word_of(c, *c->block)); }

}  // namespace tessera::runtime
