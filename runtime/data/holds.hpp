// Holds: deletes that wait for readers which the runtime has not made yet (compiler/block/hold_deletes.hpp).
//
// A statement that holds a name (with some of its indices) says so to the name's home before it is created, and says
// when everything under it has finished. A `delete` frees an element when all have finished that held it, or what it is
// part of, at the time. Nothing waits for a delete, so a hold that lasts longer than it must costs memory only.
//
// Between ranks: whoever is created before a delete has said so before, but perhaps on another rank than the one that
// deletes. So the home, told of a delete, first asks all ranks to answer: as parcels of a pair keep their order, what
// they have said before is there then (Settle, Settled). One round at a time, for all deletes told since the last one.
// Names without holds in the program take no part in this.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Node;

// Any thread.
class Holds {
 public:
  explicit Holds(Node& node) : node_(node) {}

  void take(const abi::Name&, const abi::Id& by);
  // `of_body`: it held until all in the body was created, not until it had finished.
  void end(const abi::Name&, const abi::Id& by, bool of_body);
  void free(HeldDelete&&);
  // The names of this scope are gone.
  void scope_ended(std::uint64_t scope) {
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]
      forget(scope);
  }

  void on(Rank from, Hold&&);
  void on(Rank from, HeldDelete&&);
  void on(Rank from, Settle&&);
  void on(Rank from, Settled&&);

 private:
  struct Waiting {
    HeldDelete of;
    std::size_t holds = 0;
    bool again = false;  // the body that it waited for has made loops since, which hold the name, too
  };
  struct ById {
    bool operator()(const abi::Id& a, const abi::Id& b) const { return a.lo != b.lo ? a.lo < b.lo : a.hi < b.hi; }
  };
  // Of one name: who holds it, and what waits for that.
  using OfName = std::map<abi::Id, std::vector<std::shared_ptr<Waiting>>, ById>;
  using OfScope = std::map<abi::Id, OfName, ById>;

  void decide(const HeldDelete&);
  void begin_round();
  void forget(std::uint64_t scope);

  Node& node_;
  std::atomic<bool> any_{false};  // there has been one
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, OfScope> scopes_;
  std::vector<HeldDelete> told_, asked_for_;  // since the last round began; in it
  std::int32_t answers_ = 0;                  // still missing in this round
};

}  // namespace tessera::runtime
