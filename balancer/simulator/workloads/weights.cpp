#include "balancer/simulator/workloads/weights.hpp"

#include <algorithm>
#include <cmath>

#include "balancer/random.hpp"
#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr double kCut = 400;

}  // namespace

WeightLaw::WeightLaw(const SettingsReader& read, std::uint64_t seed)
    : seed_(seed),
      mean_(static_cast<double>(read.duration("weight"))),
      spread_(read.number("spread")),
      shape_(read.number("shape")),
      heavy_share_(read.number("heavy_share")),
      ratio_(read.number("ratio")) {
  const std::string name = read.text("weights");
  law_ = static_cast<Law>(std::find(std::begin(kLaws), std::end(kLaws), name) - std::begin(kLaws));
  // E[min(X, cut)] of a Pareto from 1 on: 1 + the integral of x^-shape from 1 to the cut.
  heavy_mean_ = 1 + (1 - std::pow(kCut, 1 - shape_)) / (shape_ - 1);
}

Time WeightLaw::operator()(std::uint64_t item) const {
  Random random(seed_ * 0xBF58476D1CE4E5B9u + item);
  double x = 1;
  switch (law_) {
    case Law::equal:
      break;
    case Law::uniform:
      x = 1 + spread_ * (2 * random.unit() - 1);
      break;
    case Law::exponential:
      x = -std::log(1 - random.unit());
      break;
    case Law::heavy:
      x = std::min(kCut, std::pow(1 - random.unit(), -1 / shape_)) / heavy_mean_;
      break;
    case Law::two:
      x = (random.unit() < heavy_share_ ? ratio_ : 1) / (1 + heavy_share_ * (ratio_ - 1));
      break;
  }
  return static_cast<Time>(std::min(x * mean_, static_cast<double>(kLatest)));
}

}  // namespace tessera::balancer::simulator
