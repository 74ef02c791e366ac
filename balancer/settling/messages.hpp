// What ranks say to each other of series that a plan has settled.
#pragma once

#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// worker -> who plans: the series that run here, when something about them is news. All of them.
struct SeriesReport {
  std::uint64_t plan = 0;  // the latest that had been told of some steps ago
  std::int64_t steps = 0;  // so far; 0: there are series here
  double doubt = 0;        // by how much steps have differed from what was reported, of late
  std::vector<SeriesWork> series;
  friend bool operator==(const SeriesReport&, const SeriesReport&) = default;
};
// who plans -> where these belong: they run there from now on.
struct SeriesPlan {
  std::vector<SeriesPlace> places;
  friend bool operator==(const SeriesPlan&, const SeriesPlan&) = default;
};
// who plans -> all: there is another plan, or none any more. What is ready of these groups stays where it is.
struct SeriesStand {
  std::uint64_t plan = 0;
  std::vector<Group> groups;
  friend bool operator==(const SeriesStand&, const SeriesStand&) = default;
};

// One line of a transcript.
std::string text(const SeriesReport&);
std::string text(const SeriesPlan&);
std::string text(const SeriesStand&);

}  // namespace tessera::balancer
