#include "balancer/settling/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const SeriesReport& m) {
  std::string text =
      "series after " + std::to_string(m.steps) + " steps, plan " + number(m.plan) + ", doubt " + decimal(m.doubt);
  for (const SeriesWork& w : m.series) {
    text += " " + number(w.series) + ":" + name(w.group) + " of " + name(w.home) + " " + seconds_text(w.weight);
  }
  return text;
}
std::string text(const SeriesPlan& m) {
  std::string text = "settle";
  for (const SeriesPlace& p : m.places) text += " " + number(p.series) + " on " + name(p.to);
  return text;
}
std::string text(const SeriesStand& m) {
  std::string text = "plan " + number(m.plan) + (m.groups.empty() ? " does not stand" : " stands for");
  for (const Group g : m.groups) text += " " + name(g);
  return text;
}

}  // namespace tessera::balancer
