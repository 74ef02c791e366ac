#include "runtime/balance/train.hpp"

#include <algorithm>

namespace tessera::runtime {
namespace {

constexpr double kDoubt = 0.125;  // of a window, at most
constexpr double kDistances = 2;  // in a window, at least
constexpr double kShare = 0.7;    // of the bytes, not faster than the figure
constexpr std::size_t kWindows = 3;
constexpr double kMuchFaster = 1.4;
constexpr double kGoodPart = 0.25;  // of the train; of a slow start's, a third comes without a pause
constexpr double kSilent = 0.25;    // of the train's time
// Two looks closer than this say nothing: what came together is read in turns.
constexpr double kShortest = 20'000;  // ns

}  // namespace

void TrainArrivals::arrived(std::uint64_t bytes, std::int64_t earliest, std::int64_t latest) {
  const auto part = static_cast<double>(bytes);
  const double before = points_.empty() ? 0 : points_.back().bytes;
  if (!points_.empty() && earliest <= points_.back().latest) {  // nobody looked in vain meanwhile
    points_.back().bytes += part;
    points_.back().latest = latest;
    return;
  }
  points_.push_back({before, part, before + part, earliest, latest});
}

// Half of the bytes came no longer than this after those before them.
double TrainArrivals::usual_distance() const {
  std::vector<Window> gaps;  // rate: the distance
  double bytes = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    gaps.push_back({points_[i].bytes - points_[i].before, points_[i].at() - points_[i - 1].at()});
    bytes += gaps.back().bytes;
  }
  std::sort(gaps.begin(), gaps.end(), [](const Window& a, const Window& b) { return a.rate < b.rate; });
  double sum = 0;
  for (const Window& g : gaps) {
    if ((sum += g.bytes) >= bytes / 2) return g.rate;
  }
  return 0;
}

std::vector<TrainArrivals::Window> TrainArrivals::windows() const {
  // Ends that are much less certain than others (the receiver was busy then, or did not know yet that something comes)
  // make no window.
  std::vector<double> doubts;
  for (const Point& p : points_) doubts.push_back(p.doubt());
  const auto middle = doubts.begin() + static_cast<std::ptrdiff_t>(doubts.size() / 2);
  std::nth_element(doubts.begin(), middle, doubts.end());
  const double most = 3 * *middle + kShortest;
  const double shortest = std::max(kShortest, kDistances * usual_distance());
  std::vector<Window> out;
  const Point* from = nullptr;
  for (const Point& p : points_) {
    if (p.doubt() > most) continue;
    if (from == nullptr) {
      from = &p;
      continue;
    }
    const double took = p.at() - from->at();
    if (took < shortest || (p.doubt() + from->doubt()) / 2 > kDoubt * took) continue;
    out.push_back({p.bytes - from->bytes, (p.bytes - from->bytes) / took * 1e9});
    from = &p;
  }
  return out;
}

// Of a good part of the train: a few parts that come at once after a stall say nothing. From the look before a
// point: all that it found but its first part came after that.
double TrainArrivals::fastest() const {
  double best = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    for (std::size_t j = i; j < points_.size(); ++j) {
      const double bytes = points_[j].bytes - points_[i].before - points_[i].first;
      if (bytes < kGoodPart * points_.back().bytes) continue;
      best = std::max(best,
                      bytes / std::max(static_cast<double>(points_[j].latest - points_[i].earliest), kShortest) * 1e9);
    }
  }
  return best;
}

bool TrainArrivals::pauses(std::int64_t round_trip) const {
  double silent = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const double gap = points_[i].at() - points_[i - 1].at();
    if (2 * gap > static_cast<double>(round_trip)) silent += gap;
  }
  return silent > kSilent * (points_.back().at() - points_.front().at());
}

TrainSpeed TrainArrivals::speed(std::int64_t round_trip) const {
  TrainSpeed s;
  if (points_.empty()) return s;
  s.fastest = s.bandwidth = fastest();
  const Point &first = points_.front(), &last = points_.back();
  s.most = last.bytes / std::max(static_cast<double>(last.earliest - first.latest), kShortest) * 1e9;
  std::vector<Window> all = windows();
  if (all.empty()) return s;
  std::sort(all.begin(), all.end(), [](const Window& a, const Window& b) { return a.rate < b.rate; });
  double bytes = 0;
  for (const Window& w : all) bytes += w.bytes;
  double rate = 0, sum = 0;
  for (const Window& w : all) {
    rate = w.rate;
    if ((sum += w.bytes) >= kShare * bytes) break;
  }
  if (s.fastest > kMuchFaster * rate && pauses(round_trip)) return s;
  s.bandwidth = rate;
  s.sure = all.size() >= kWindows && 2 * bytes >= points_.back().bytes;
  return s;
}

}  // namespace tessera::runtime
