// Fragments hold what they may still read of swept names: from when they wait or are queued until they have run. What
// runs inside another fragment is covered by that one.
#include "runtime/fragment/horizons.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {
namespace {

void find_hulls(const Cf* c, abi::Hulls& hulls) {
  const bool range = c->block->kind == abi::Kind::range;
  c->block->hulls(c, range ? abi::frame_int(c, 0) : 0, range ? abi::frame_int(c, 1) : 0, &hulls);
}

HeldHull*& word_of(Cf* c, const abi::Block& b) { return reinterpret_cast<HeldHull*&>(abi::frame_int(c, b.hold_word)); }

}  // namespace

void Node::hold_hulls(Cf* c) {
  abi::Hulls hulls;
  find_hulls(c, hulls);
  if (hulls.count == 0) return;
  word_of(c, *c->block) = Horizon::hold(hulls, data.horizons);
  c->flags |= kHolding;
}

// While nobody else has it: from when it waits on, its scope, and so the horizon, may end at any time.
void Node::hold_next(Cf* c, const abi::Block& before) {
  HeldHull*& word = word_of(c, before);
  abi::Hulls hulls;
  if ((c->block->flags & abi::kHolds) != 0) find_hulls(c, hulls);
  word = Horizon::hold_instead(word, hulls, data.horizons);
  if (word == nullptr) c->flags &= static_cast<std::uint16_t>(~kHolding);
}

void Node::let_go(Cf* c) { Horizon::release(word_of(c, *c->block)); }

}  // namespace tessera::runtime
