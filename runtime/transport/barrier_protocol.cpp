#include "runtime/transport/barrier_protocol.hpp"

#include <algorithm>
#include <utility>

namespace tessera::runtime {

BarrierProtocol::BarrierProtocol(balancer::Rank self, std::int32_t size, Send send)
    : self_(index(self)), send_(std::move(send)), markers_(static_cast<std::size_t>(size)) {}

void BarrierProtocol::enter() {
  ++round_;
  const auto size = static_cast<std::int32_t>(markers_.size());
  // Start behind self, so that not all ranks address rank 0 first.
  for (std::int32_t k = 1; k < size; ++k) {
    send_(balancer::Rank{(self_ + k) % size}, Control::marker);
  }
  markers_[static_cast<std::size_t>(self_)] = round_;
  advance();
}

void BarrierProtocol::received(balancer::Rank from, Control what) {
  switch (what) {
    case Control::parcel:
      return;
    case Control::marker:
      ++markers_[static_cast<std::size_t>(index(from))];
      break;
    case Control::drained:
      ++drained_;
      break;
    case Control::release:
      ++released_;
      return;
  }
  advance();
}

void BarrierProtocol::advance() {
  if (passed()) return;
  if (reported_ < round_) {
    if (*std::min_element(markers_.begin(), markers_.end()) < round_) return;
    reported_ = round_;
    if (self_ != 0) send_(balancer::Rank{0}, Control::drained);
  }
  // No rank is drained for a round before it was released from the one before, so the sum over all
  // rounds is enough.
  const std::uint64_t others = markers_.size() - 1;
  if (self_ != 0 || drained_ < others * round_) return;
  released_ = round_;
  for (std::size_t to = 1; to < markers_.size(); ++to) {
    send_(balancer::Rank{static_cast<std::int32_t>(to)}, Control::release);
  }
}

}  // namespace tessera::runtime
