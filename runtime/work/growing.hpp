// Growing: which groups of fragments make values of a rank pile up? Those whose fragments make more than they free
// (GroupStats, of all workers together), and whose values hold much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/memory/held.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

class Growing {
 public:
  // So much is much; or a kPart-th of all, if that is more.
  static constexpr std::int64_t kMuch = 4 << 20, kPart = 16;

  explicit Growing(const Held& held) : held_(held) {}
  void join(const GroupStats& stats) { of_.push_back(&stats); }
  bool grows(std::uint32_t group) const {
    return held_.of_group(group) >= std::max(kMuch, held_.now() / kPart) && growth(group) > kLittle;
  }

  // Bytes, of each worker's latest ones, on average.
  float growth(std::uint32_t group) const {
    float sum = 0;
    for (const GroupStats* s : of_) sum += s->growth(group);
    return sum / static_cast<float>(of_.size());
  }

 private:
  static constexpr float kLittle = 64;  // bytes
  const Held& held_;
  std::vector<const GroupStats*> of_;
};

}  // namespace tessera::runtime
