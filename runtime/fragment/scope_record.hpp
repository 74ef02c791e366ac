// ScopeRecord: one scope instance on one rank (data/scopes.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/protocol/counting.hpp"

namespace tessera::runtime {

class Horizon;
struct DfEntry;
using balancer::Rank;

// AtEnd: what happens to a data fragment when everything under a scope has finished. The name belongs
// to a scope around it.
struct AtEnd {
  abi::Name name;
  std::uint32_t block = 0;                                       // whose statement said so
  enum class Does : std::uint8_t { assigns, frees, ends_hold };  // `>> (y)`: 1; `--> (x)`, `delete`; data/holds.hpp
  Does does = Does::assigns;
  std::vector<abi::Id> parts;  // frees what may be held: as HeldDelete
  bool all = false;
  abi::Spot spot{};  // assigns, of a swept name
};

// How much there is under a scope: the body that makes it, its fragments, its child scopes. A worker that is alone in
// its process counts without atomic operations (memory/biased.hpp).
class ScopeCount {
 public:
  void add(std::int64_t n = 1) {
    if (alone([&] { n_.store(load() + n, std::memory_order_relaxed); })) return;
    n_.fetch_add(n, std::memory_order_relaxed);
  }
  // True: nothing is left.
  bool take(std::int64_t n) {
    bool last = false;
    const bool done = alone([&] {
      last = load() == n;
      n_.store(load() - n, std::memory_order_relaxed);
    });
    return done ? last : n_.fetch_sub(n, std::memory_order_acq_rel) == n;
  }
  std::int64_t load() const { return n_.load(std::memory_order_acquire); }

 private:
  template <class F>
  static bool alone(F f) {
    if (!bias::on() || !bias::enter()) return false;
    f();
    bias::leave();
    return true;
  }
  std::atomic<std::int64_t> n_{1};
};

struct ScopeRecord : abi::Scope {
  ScopeCount count;
  ScopeRecord* parent = nullptr;  // home records; null for the root
  Rank engaged_by{-1};            // proxies: whom we owe the ScopeReturn
  DfEntry* entries = nullptr;     // home records: to free at the end (lock of its part of Scopes)
  DfEntry* shared = nullptr;      // the same, but they may go before (protocol::Others::older)
  std::vector<AtEnd> at_end;      // home records
  Horizon* horizons = nullptr;    // home records: of its swept names
  bool proxy = false;
  protocol::Knows knows() const { return proxy ? protocol::Knows::proxy : protocol::Knows::home; }
};

}  // namespace tessera::runtime
