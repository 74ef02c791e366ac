#include "cli/simulate/interval.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::cli {

MedianInterval median_interval(std::vector<double> measured) {
  std::sort(measured.begin(), measured.end());
  const std::size_t n = measured.size();
  MedianInterval m;
  m.median = n % 2 == 1 ? measured[n / 2] : (measured[n / 2 - 1] + measured[n / 2]) / 2;
  // Each measurement is below the median with probability 1/2. The interval from the k-th smallest to the k-th largest
  // misses it when fewer than k are below it, or fewer than k above: twice the binomial's tail. Terms by logarithms,
  // since 2^-n is soon 0.
  const auto of_n = static_cast<double>(n);
  const auto term = [&](std::size_t below) {
    const auto b = static_cast<double>(below);
    return std::exp(std::lgamma(of_n + 1) - std::lgamma(b + 1) - std::lgamma(of_n - b + 1) - of_n * std::log(2.0));
  };
  std::size_t k = 1;
  double missed = 2 * term(0);
  while (k < (n + 1) / 2 && missed + 2 * term(k) <= 0.05) missed += 2 * term(k++);
  m.low = measured[k - 1];
  m.high = measured[n - k];
  m.sureness = std::max(0.0, 1 - missed);
  return m;
}

}  // namespace tessera::cli
