#include "runtime/data/table.hpp"

namespace tessera::runtime {

Shard::Shard() : slots_(16), mask_(15) {}

Shard::~Shard() {
  if (left_in_tables != nullptr) *left_in_tables += used_;
  for (auto& s : slots_) {
    if (s.entry != nullptr) free_entry(s.entry);
  }
}

void Shard::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& s : old) {
    if (s.entry == nullptr) continue;
    std::uint64_t at = s.key & mask_;
    while (slots_[at].entry != nullptr) at = (at + 1) & mask_;
    slots_[at] = s;
  }
}

}  // namespace tessera::runtime
