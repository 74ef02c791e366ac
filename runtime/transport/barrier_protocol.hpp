// BarrierProtocol: one rank's part of Transport::barrier, as a pure state machine over FIFO links.
//
// enter(): a marker goes to every other rank. A rank holding the markers of all others has, links
// being FIFO, received everything that was sent to it before any rank entered: it is drained and
// tells rank 0. When all are drained rank 0 releases everybody; so whoever passes knows that nothing
// sent before any rank's call is under way anywhere.
//
// Controls of the next barrier may come early (a peer was released first); hence the counters never
// reset but count rounds. Owned by the transport and touched only under the rank's progress lock.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/transport/control.hpp"

namespace tessera::runtime {

class BarrierProtocol {
 public:
  using Send = std::function<void(balancer::Rank to, Control what)>;

  BarrierProtocol(balancer::Rank self, std::int32_t size, Send send);

  // enter begins the next round; the previous one must have passed.
  void enter();
  // received takes in a control (not `parcel`) in the order of its link.
  void received(balancer::Rank from, Control what);
  bool passed() const { return released_ == round_; }

 private:
  void advance();

  std::int32_t self_;
  Send send_;
  std::uint32_t round_ = 0;             // of this rank: barriers entered
  std::uint32_t reported_ = 0;          // rounds for which this rank was found drained
  std::uint32_t released_ = 0;          // rounds passed
  std::uint64_t drained_ = 0;           // rank 0: `drained` received, all rounds
  std::vector<std::uint32_t> markers_;  // by rank
};

}  // namespace tessera::runtime
