// SameNames: names that may be the same, as one is passed as the other: one of them stands for all.
#pragma once

#include <map>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

class SameNames {
 public:
  void are_same(const Variable* one, const Variable* other) {
    const Variable *from = of(one), *to = of(other);
    if (from != to) towards_[from] = to;
  }
  // The one that stands for it.
  const Variable* of(const Variable* v) {
    const Variable* at = v;
    for (auto it = towards_.find(at); it != towards_.end(); it = towards_.find(at)) at = it->second;
    if (at != v) towards_[v] = at;
    return at;
  }

 private:
  std::map<const Variable*, const Variable*, ById> towards_;
};

}  // namespace tessera::compiler::block
