#include "balancer/settling/steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::balancer {
namespace {

constexpr std::size_t kMost = 1 << 16;  // series of one rank; further ones stay where they are
constexpr double kForget = 0.3;         // of a mean, by each run
constexpr double kNewsOfStep = 0.005, kNewsOfSeries = 0.1;
constexpr double kNewsOfDoubt = 0.03;
// A series that has not run for so many steps is no longer one of them.
constexpr std::int64_t kGone = 16;
// What ran in the last steps, this one included, runs here.
constexpr std::int64_t kRecent = 2;
constexpr std::int64_t kAfterPlan = 3;  // steps until one has its effect

}  // namespace

bool Steps::told(const SeriesRan& e) {
  for (const SeriesWork& w : e.ran) {
    auto it = known_.find(w.series);
    if (it == known_.end()) {
      if (known_.size() >= kMost) continue;
      it = known_.emplace(w.series, Series{w}).first;
    }
    Series& s = it->second;
    runs_ += steps_ > 0 || s.runs > 0;
    const Time took = usual(s, std::max<Time>(1, w.weight));
    const double forget = s.runs < 3 ? 1 : kForget;
    const Time mean = s.work.weight + static_cast<Time>(forget * static_cast<double>(took - s.work.weight));
    s.work = w;
    s.work.weight = std::max<Time>(1, mean);
    s.step = steps_;
    if (s.reported > 0) {
      ran_ += static_cast<double>(took);
      said_ += static_cast<double>(s.reported);
    }
    if (runs_ >= (steps_ > 0 ? known_.size() : known_.size() / 4 + 1)) end_step();
  }
  return std::exchange(news_, false) || reported_steps_ < 0;
}

Time Steps::usual(Series& s, Time took) {
  const Time one = std::exchange(s.latest[0], took), two = std::exchange(s.latest[1], one);
  ++s.runs;
  if (s.runs < 3) return s.runs == 1 ? took : std::min(took, one);
  return std::max(std::min(one, two), std::min(std::max(one, two), took));
}

void Steps::end_step() {
  if (said_ > 0) doubt_ += kForget * (std::abs(ran_ / said_ - 1) - doubt_);
  ran_ = said_ = 0;
  runs_ = 0;
  ++steps_;
  double all = 0, changed = 0;
  for (const auto& [key, s] : known_) {
    if (steps_ - s.step > kRecent) continue;
    all += static_cast<double>(s.work.weight);
    changed += static_cast<double>(s.work.weight - s.reported);
  }
  time_ = all;
  // Seldom also without: so that who plans knows how long the program goes on.
  news_ = news_ || steps_ >= 2 * reported_steps_ || (plan_due_ > reported_steps_ && steps_ >= plan_due_) ||
          std::abs(changed) > 2 * kNewsOfStep * all || std::abs(doubt_ - reported_doubt_) > kNewsOfDoubt;
  for (const auto& [key, s] : known_) news_ = news_ || (steps_ - s.step <= kRecent && is_news(s, all));
}

void Steps::planned(std::uint64_t plan) {
  plan_ = plan;
  plan_due_ = steps_ + kAfterPlan;
}

bool Steps::is_news(const Series& s, double all) {
  const auto off = static_cast<double>(std::abs(s.work.weight - s.reported));
  return s.reported == 0 || (off > kNewsOfSeries * static_cast<double>(s.reported) && off > kNewsOfStep * all);
}

SeriesReport Steps::report() {
  SeriesReport r{steps_ >= plan_due_ ? plan_ : plan_ - 1, steps_, doubt_, {}};
  reported_steps_ = steps_;
  reported_doubt_ = doubt_;
  if (steps_ == 0) return r;
  std::erase_if(known_, [this](const auto& entry) { return steps_ - entry.second.step > kGone; });
  for (auto& [key, s] : known_) {
    if (steps_ - s.step > kRecent) continue;
    r.series.push_back(s.work);
    s.reported = s.work.weight;
  }
  return r;
}

}  // namespace tessera::balancer
