// Holds: deletes that wait for readers which the runtime has not made yet (compiler/block/hold_deletes.hpp).
// What the home of a name decides about them is runtime/protocol/holding.hpp; this is its lock and its messages.
// Nothing waits for a delete, so a hold that lasts longer than it must costs memory only. Names without holds in the
// program take no part in this.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/data/scopes.hpp"
#include "runtime/protocol/holding.hpp"

namespace tessera::runtime {

class DataFragments;

// Any thread.
class Holds {
 public:
  Holds(Communicator& comm, Scopes& scopes, DataFragments& data, std::int32_t ranks)
      : comm_(comm), scopes_(scopes), data_(data), ranks_(ranks) {}

  void take(const abi::Name&, const abi::Id& by);
  // `of_body`: it held until all in the body was created, not until it had finished.
  void end(const abi::Name&, const abi::Id& by, bool of_body);
  void free(HeldDelete&&);
  // The names of this scope are gone.
  void scope_ended(std::uint64_t scope) {
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]
      happens(protocol::ScopeEnds{scope});
  }

  void on(Rank from, Hold&&);
  void on(Rank from, HeldDelete&&);
  void on(Rank from, Settle&&);
  void on(Rank from, Settled&&);

 private:
  // Nothing happens when that scope, if it is not 0, has ended.
  void happens(const protocol::HoldingEvent&, std::uint64_t only_while_lives = 0);
  // Forgets the deletes that wait and have nothing left to free.
  void look();

  Rank self() const { return scopes_.self(); }

  Communicator& comm_;
  Scopes& scopes_;
  DataFragments& data_;
  const std::int32_t ranks_;
  std::atomic<bool> any_{false};  // there has been one
  std::mutex mutex_;
  protocol::Holding holding_;
};

}  // namespace tessera::runtime
