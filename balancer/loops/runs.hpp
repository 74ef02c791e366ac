// The arithmetic of `demand`: first runs by power, then blocks that shrink.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera::balancer {

// first_runs is how many of `fragments` each worker gets before anybody asks: worker i
// round(P_i * W * Li / 100 / sum P). Rounding up must not give more than there are: the last
// workers get less then. Li 0 gives nobody any.
inline std::vector<std::int64_t> first_runs(const std::vector<double>& powers, std::int64_t fragments, double percent) {
  double sum = 0;
  for (const double p : powers) sum += p;
  std::vector<std::int64_t> runs;
  std::int64_t left = fragments;
  for (const double p : powers) {
    const double exact = sum > 0 ? p * static_cast<double>(fragments) * percent / 100 / sum : 0;
    runs.push_back(std::clamp<std::int64_t>(std::llround(exact), 0, left));
    left -= runs.back();
  }
  return runs;
}

// Blocks gives the sizes of the blocks handed out on request: Cb, and one less for each request
// served, down to 1.
class Blocks {
 public:
  explicit Blocks(std::int64_t first) : size_(std::max<std::int64_t>(1, first)) {}
  std::int64_t size() const { return size_; }
  // A request was served with `next`, never more than are left.
  std::int64_t next(std::int64_t left) {
    const std::int64_t n = std::min(size_, left);
    if (n > 0) size_ = std::max<std::int64_t>(1, size_ - 1);
    return n;
  }

 private:
  std::int64_t size_;
};

}  // namespace tessera::balancer
