#include "balancer/price.hpp"

#include <algorithm>

namespace tessera::balancer {
namespace {

struct After {
  double to_finish, back;
  LineUse line;
};

// If `count` of the lot went.
After after(const Lot& lot, std::int64_t count, const Computing& to, const LineUse& line) {
  const auto n = static_cast<double>(count);
  const double each = lot.work / to.capacity, there = lot.order + lot.latency;
  After a{};
  a.line.out = line.out + n * lot.out;
  const double begin = std::max(to.finish, there + line.out + lot.out);
  a.to_finish = std::max(begin + n * each, there + a.line.out + each);
  // What ends first is sent back first, while the others run.
  a.line.in = lot.in <= 0 ? line.in
                          : std::max(std::max(line.in, begin + each + lot.latency) + n * lot.in,
                                     a.to_finish + lot.latency + lot.in);
  a.back = lot.in > 0 ? a.line.in : a.to_finish;
  return a;
}

}  // namespace

Lot lot_of(std::int64_t count, Time work, std::int64_t inputs, std::int64_t outputs, const Link& link, Time order) {
  return {.count = count,
          .work = static_cast<double>(work),
          .out = static_cast<double>(wire_time(link, inputs)),
          .in = static_cast<double>(wire_time(link, outputs)),
          .latency = static_cast<double>(link.latency),
          .order = static_cast<double>(order)};
}

std::int64_t affordable(const Lot& lot, double gain, Computing& from, Computing& to, LineUse& line) {
  std::int64_t left = lot.count, all = 0;
  for (std::int64_t n = std::max<std::int64_t>(1, left / 8); n > 0 && left > 0;) {
    n = std::min(n, left);
    const After a = after(lot, n, to, line);
    // The last of them is to be back before `from` would have come to it.
    const double stays = from.finish - static_cast<double>(n - 1) * lot.work / from.capacity;
    if (a.back + gain > stays) {
      n /= 2;
      continue;
    }
    from.finish -= static_cast<double>(n) * lot.work / from.capacity;
    to.finish = a.to_finish;
    line = a.line;
    left -= n;
    all += n;
  }
  return all;
}

}  // namespace tessera::balancer
