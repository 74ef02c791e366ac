// ScopeRecord: one scope instance on one rank (data/scopes.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/abi/tessera/abi.hpp"
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

struct ScopeRecord : abi::Scope {
  std::atomic<std::int64_t> count{1};
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
