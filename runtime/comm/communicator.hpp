// Communicator: messages over a transport, counted. `send` is for any thread; it only appends to an
// outbox, so whoever sends wakes the communication thread when its fragment is done.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/comm/messages.hpp"
#include "runtime/comm/outstanding.hpp"

namespace tessera::runtime {

class Communicator {
 public:
  explicit Communicator(Transport& transport) : outstanding(transport.size()), transport_(transport) {}

  void send(Rank to, const Message& m) {
    if (counts_for_termination(m)) sent_.fetch_add(1);
    Parcel p = encode(m);
    std::int64_t bytes = static_cast<std::int64_t>(p.bytes.size());
    for (const ValueRef& v : p.values) {
      bytes += static_cast<std::int64_t>(v.get()->size);
      outstanding.sent(to, v.get()->size);
    }
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    messages_.fetch_add(1, std::memory_order_relaxed);
    transport_.send(to, std::move(p));
  }
  // Counted when the message has been handled completely.
  void received(bool counts) {
    if (counts) received_.fetch_add(1);
  }
  std::uint64_t sent() const { return sent_.load(); }
  std::uint64_t received() const { return received_.load(); }
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::int64_t messages() const { return messages_.load(std::memory_order_relaxed); }

  Outstanding outstanding;

 private:
  Transport& transport_;
  std::atomic<std::uint64_t> sent_{0}, received_{0};
  std::atomic<std::int64_t> bytes_{0}, messages_{0};
};

}  // namespace tessera::runtime
