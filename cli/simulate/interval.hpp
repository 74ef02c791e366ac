// The median of several measurements, and how sure it is.
#pragma once

#include <vector>

namespace tessera::cli {

// `low` to `high` holds the median of what was sampled with the probability `sureness`, whatever its distribution: two
// of the measurements, as far from either end as 95 % allow. Of fewer than six it is all of them, and less sure.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
  double sureness = 0;
};

// Of at least one.
MedianInterval median_interval(std::vector<double> measured);

}  // namespace tessera::cli
