// Integer expressions that are sums: constant + sum of factor * variable. Constants are divided, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

struct Sum {
  std::int64_t constant = 0;
  std::map<const Variable*, std::int64_t, ById> terms;  // none is zero

  void add(const Sum& other, std::int64_t k);
  friend bool operator==(const Sum&, const Sum&) = default;
};

// sum_of: of counters and parameters, with small factors; nothing when it is no such sum. `any`: of temporaries, too.
std::optional<Sum> sum_of(const semantics::Expr& e, bool any = false);

}  // namespace tessera::compiler::block
