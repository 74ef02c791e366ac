#include "runtime/work/makers.hpp"

#include <algorithm>
#include <utility>

#include "balancer/ready_order.hpp"
#include "runtime/work/growing.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kSeenMakers = static_cast<std::size_t>(balancer::kSeen);

bool is_around_others(const abi::Block& b) { return b.kind == abi::Kind::range && (b.flags & abi::kNested) != 0; }

bool is_within(const abi::Block& b, const abi::Block* outer) {
  if (outer == nullptr || outer == &b) return outer != nullptr;
  for (const std::uint32_t* w = outer->within; w != nullptr && *w != ~0u; w += 2) {
    if (w[0] <= b.index && b.index < w[1]) return true;
  }
  return false;
}

bool is_around_one(const abi::Block& b, const std::vector<std::uint32_t>& groups) {
  if (!is_around_others(b)) return false;
  for (const std::uint32_t* w = b.within; w != nullptr && *w != ~0u; w += 2) {
    if (std::any_of(groups.begin(), groups.end(), [w](std::uint32_t g) { return w[0] <= g && g < w[1]; })) return true;
  }
  return false;
}

}  // namespace

void Makers::has_made(const abi::Block& b, bool waits) {
  bool vain = waits;
  for (const std::uint32_t* w = b.within; is_around_others(b) && w != nullptr && *w != ~0u && !vain; w += 2) {
    vain = std::any_of(vain_.begin() + w[0], vain_.begin() + w[1], [this](std::uint64_t v) { return v == round_; });
  }
  if (vain) vain_[b.group] = round_;
}

Loops::Place Makers::next(Loops& loops, Making making, const Growing& growing, bool growing_too) const {
  std::size_t seen = 0;
  std::vector<std::uint32_t> vain;  // of those that are listed
  std::as_const(loops).for_each([&](const Cf* c) {
    const std::uint32_t g = c->block->group;
    if (vain_[g] == round_ && (vain.empty() || vain.back() != g)) vain.push_back(g);
    return ++seen < kSeenMakers;
  });
  Loops::Place nearest;
  Growing::Does does{};
  seen = 0;
  loops.for_each([&](const Loops::Place& p) {
    const abi::Block& b = *p.cf->block;
    const bool may = making == Making::all || p.due || (making == Making::movable && (b.flags & abi::kStays) == 0);
    if (may && vain_[b.group] != round_ && !is_around_one(b, vain)) {
      const Growing::Does now = growing.makes(b);
      const auto comes_first = [&] {
        if (nearest.cf == nullptr || now != does) return nearest.cf == nullptr || now < does;
        const std::uint32_t other = nearest.cf->block->group;
        const bool needed = is_within(b, needed_);
        if (needed != is_within(*nearest.cf->block, needed_)) return needed;
        // What is listed longest stands last, but for what is of a family.
        return b.group > other || (b.group == other && (p.cf->flags & kFamily) == 0);
      };
      if ((growing_too || now != Growing::Does::grows) && comes_first()) nearest = p, does = now;
    }
    return ++seen < kSeenMakers;
  });
  return nearest;
}

}  // namespace tessera::runtime
