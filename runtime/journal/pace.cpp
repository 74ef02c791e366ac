#include "runtime/journal/pace.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::runtime::journal {
namespace {

constexpr double kBetweenFailures = 86400, kShortest = 1, kLongest = 60, kMostOfTime = 0.01;
constexpr double kNewest = 0.5;  // weight of the last sweep

}  // namespace

double Pace::cost(const Amount& a) const {
  return per_byte_ * static_cast<double>(a.bytes) + per_value_ * static_cast<double>(a.values);
}

void Pace::took(const Amount& a, double seconds) {
  const double expected = cost(a);
  if (expected <= 0) return;
  const double factor = 1 + kNewest * (std::clamp(seconds / expected, 0.1, 10.0) - 1);
  per_byte_ *= factor;
  per_value_ *= factor;
}

double Pace::interval(const Amount& a, double lasted) const {
  const double c = cost(a), young = std::sqrt(2 * c * kBetweenFailures);
  return std::max({kShortest, c / kMostOfTime, std::min({young, kLongest, lasted})});
}

}  // namespace tessera::runtime::journal
