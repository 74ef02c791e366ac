// Weights drawn for item i: a function of seed and i, so that no list is kept.
#pragma once

#include <cstdint>

#include "balancer/settings.hpp"

namespace tessera::balancer::simulator {

// The parameters that WeightLaw reads; a generator lists them among its own.
inline constexpr std::string_view kLaws[] = {"equal", "uniform", "exponential", "heavy", "two"};
#define TESSERA_WEIGHT_PARAMETERS(default_weight)                                               \
  {.name = "weight",                                                                            \
   .default_value = default_weight,                                                             \
   .help = "mean weight of an item",                                                            \
   .kind = Parameter::Kind::duration},                                                          \
      {.name = "weights",                                                                       \
       .default_value = "equal",                                                                \
       .help =                                                                                  \
           "how weights differ: `uniform` by +-spread, `exponential`, `heavy` (Pareto of "      \
           "shape `shape`, cut at 400 times the least), `two` values: a share `heavy_share` "   \
           "weighs `ratio` times as much as the others; the mean stays",                        \
       .kind = Parameter::Kind::choice,                                                         \
       .choices = kLaws},                                                                       \
      {.name = "spread", .default_value = "0.5", .help = "of `uniform`", .max = 1},             \
      {.name = "shape", .default_value = "1.3", .help = "of `heavy`", .min = 1.01, .max = 100}, \
      {.name = "heavy_share", .default_value = "0.1", .help = "of `two`", .max = 1}, {          \
    .name = "ratio", .default_value = "10", .help = "of `two`", .max = 1e6                      \
  }

class WeightLaw {
 public:
  WeightLaw(const SettingsReader&, std::uint64_t seed);
  Time operator()(std::uint64_t item) const;

 private:
  enum class Law { equal, uniform, exponential, heavy, two } law_;
  std::uint64_t seed_;
  double mean_, spread_, shape_, heavy_share_, ratio_;
  double heavy_mean_;  // of the cut Pareto, in units of the least
};

}  // namespace tessera::balancer::simulator
