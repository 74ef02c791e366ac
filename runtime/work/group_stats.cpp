#include "runtime/work/group_stats.hpp"

#include <utility>

namespace tessera::runtime {
namespace {

// Timing may take this part of what fragments take: of each, and where a long one pays, of that.
constexpr std::uint64_t kPart = 20;  // one in 20
constexpr double kPartOfLong = 0.02;
// Where all is slow, as in valgrind, queueing is so too: what takes so many times what timing costs is tiny.
constexpr double kTinyTimings = 150;
constexpr double kMostOwed = 1 << 14;
// What short ones take is the mean over so many of them.
constexpr double kRecent = 32;
// Gaps vary by this many fragments' worth of time: less tells no long one.
constexpr double kVaries = 48;
constexpr std::size_t kDoubtful = 64;  // are remembered
// What makes fragments does not take so many times what it took on average while that could be seen.
constexpr double kLongerMaking = 4;
// What took less has lost no core, or asking would cost as much; of what takes longer than light ones it counts.
constexpr double kMayHaveWaited = 500000;  // about 200 us
constexpr double kLight = 50000;
// Who has waited for less than this part of it has done something long as well.
constexpr double kMost = 1. / 2;

// between is the time from then to then without a part of it.
double between(std::uint64_t from, std::uint64_t to, std::uint64_t without) {
  return to > from + without ? static_cast<double>(to - from - without) : 0;
}

void vote(std::int32_t& votes, bool yes) { votes = yes ? std::min(votes + 1, 8) : std::max(votes - 2, 0); }

}  // namespace

// The least of several rounds: a round may lose its core.
GroupStats::Cost GroupStats::cost_here() {
  if (simulation != nullptr) return {20, 60};
  static const Cost cost = [] {
    constexpr std::uint64_t kTimes = 32, kRounds = 8;
    Cost least{~std::uint64_t{0}, ~std::uint64_t{0}};
    GroupStats scratch(1, {}, [] { return std::int64_t{0}; });  // where timing costs nothing nothing is brisk
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t start = ticks();
      std::uint64_t last = start;
      for (std::uint64_t i = 0; i < kTimes; ++i) last = ticks();
      least.reading = std::min(least.reading, (last - start) / kTimes);
      for (std::uint64_t i = 0; i < kTimes; ++i) {
        scratch.begin(0);
        const std::uint64_t from = ticks();
        scratch.timed(0, from, ticks());
      }
      least.timing = std::min(least.timing, (ticks() - last) / kTimes);
    }
    return least;
  }();
  return cost;
}

GroupStats::GroupStats(std::uint32_t groups, Cost cost, NoCore no_core)
    : groups_(groups),
      cost_(cost),
      brisk_below_(static_cast<double>(cost.timing) * kPart),
      tiny_below_(std::max<double>(kShortTicks, static_cast<double>(cost.timing) * kTinyTimings)),
      no_core_(no_core) {}

// look_for_core is how long, in ns, there was no core since it was called the last time; 0 the first time.
std::int64_t GroupStats::look_for_core(std::uint64_t now) {
  const std::int64_t before = std::exchange(had_no_core_, no_core_());
  return std::exchange(looked_at_, now) == 0 ? 0 : had_no_core_ - before;
}

// without_wait is what n of a group took without waiting for a core, where these are known to take `usual` each, and
// are light.
double GroupStats::without_wait(double took, double usual, double n) {
  if (took < kMayHaveWaited || usual == 0 || usual > kLight) return took;
  const double waited = static_cast<double>(look_for_core(ticks())) / ns_per_tick();
  return waited < took * kMost ? took : std::max(n * usual, took - waited);
}

GroupStats::Run GroupStats::run() const {
  Run all;
  for (std::uint32_t g = 0; g < size(); ++g) {
    const auto n = static_cast<double>(groups_[g].count.load(std::memory_order_relaxed));
    if (n == 0) continue;
    all.fragments += n;
    all.ticks += n * mean(g);
  }
  return all;
}

GroupStats::Snapshot GroupStats::read(std::uint32_t group) const {
  const One& g = groups_[group];
  Snapshot s{g.count.load(std::memory_order_relaxed), g.known.load(std::memory_order_relaxed),
             g.sum.load(std::memory_order_relaxed),   g.squares.load(std::memory_order_relaxed),
             g.bytes.load(std::memory_order_relaxed), g.bytes_out.load(std::memory_order_relaxed)};
  if (g.brisk.load(std::memory_order_relaxed) && s.count > s.known) {
    const auto n = static_cast<double>(s.count - s.known);
    s.sum += n * g.usual.load(std::memory_order_relaxed);
    s.squares += n * g.usual_squares.load(std::memory_order_relaxed);
    s.known = s.count;
  }
  s.recalled = g.recalled.load(std::memory_order_relaxed);
  s.ended = std::max(s.known, s.count - std::min<std::uint64_t>(s.count, 1));
  return s;
}

void GroupStats::timed(std::uint32_t group, std::uint64_t from, std::uint64_t to) {
  One& g = groups_[group];
  const double took = without_wait(between(from, to, cost_.reading + std::exchange(aside_, 0)), mean(group), 1);
  add(g.sum, took);
  add(g.squares, took * took);
  add<std::uint64_t>(g.known, 1);
  if (left_ != opened_) {
    end_gap(from, aside_in_gap_);
  } else if (last_ != 0) {
    since_last(between(last_, from, aside_in_gap_), took);
  }
  making_since_ = 0;
  const bool was_brisk = g.brisk.load(std::memory_order_relaxed);
  // The first after a pause is timed in any case: it tells nothing of those in gaps.
  const bool first = last_ == 0;
  if (first) __atomic_store_n(&left_, std::exchange(rest_, 0), __ATOMIC_RELAXED);
  const bool at_random = was_brisk && !first && left_ == 0;
  // By a vote of the latest few: a fragment that has lost its core for milliseconds says nothing of the others.
  vote(g.tiny.for_it, took < tiny_below_);
  vote(g.brief.for_it, took < kBriefTicks);
  note_lately(g, took, 1);
  ++g.how.timed;
  if (took >= shows_in_gap()) {
    // As it would have been seen in a gap, it stands for itself alone.
    if (++g.how.long_ones == 1) first_long_one(group);
    owe(g, took);
  } else {
    if (at_random) settle(g, took, took * took);
    if (at_random || !was_brisk) learn(g, took);
    if (g.owed > 0) --g.owed;
  }
  const bool brisk = g.owed == 0 && g.usual.load(std::memory_order_relaxed) < brisk_below_;
  if (!brisk) settle(g, g.usual.load(std::memory_order_relaxed), g.usual_squares.load(std::memory_order_relaxed));
  g.brisk.store(brisk, std::memory_order_relaxed);
  last_ = to;
  if (to - looked_at_ >= kLookAgain) look_for_core(to);  // what has waited since then was not what comes next
  if (brisk && !first && left_ == 0) draw_gap();
  seen_.store(kNobody, std::memory_order_relaxed);
  __atomic_store_n(&opened_, left_, __ATOMIC_RELAXED);
}

// Those of the group that were in gaps took so long each.
void GroupStats::settle(One& g, double took, double squares) const {
  const std::uint64_t n = g.count.load(std::memory_order_relaxed), known = g.known.load(std::memory_order_relaxed);
  if (n == known) return;
  const auto in_gaps = static_cast<double>(n - known);
  add(g.sum, in_gaps * took);
  add(g.squares, in_gaps * squares);
  g.known.store(n, std::memory_order_relaxed);
  note_lately(g, took, in_gaps);
}

// And by the mean of many: of fragments of which every tenth takes long the votes see few.
void GroupStats::note_lately(One& g, double took, double times) const {
  g.lately_of = std::min(g.lately_of + times, kLately);
  if (g.lately_of > 0) g.lately += (took - g.lately) * std::min(times / g.lately_of, 1.0);
  g.tiny.holds = g.tiny.for_it >= kEnough && g.lately < tiny_below_;
  g.brief.holds = g.brief.for_it >= kEnough && g.lately < kBriefTicks;
}

void GroupStats::learn(One& g, double took) {
  const double part = g.learnt < kRecent ? 1 / ++g.learnt : 1 / kRecent;
  const double usual = g.usual.load(std::memory_order_relaxed);
  const double squares = g.usual_squares.load(std::memory_order_relaxed);
  g.usual.store(usual + (took - usual) * part, std::memory_order_relaxed);
  g.usual_squares.store(squares + (took * took - squares) * part, std::memory_order_relaxed);
}

// Of how many the next gap is; called where there is none.
void GroupStats::draw_gap() {
  random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
  const std::uint64_t more = (random_ >> 32) * (kLongestGap - kShortestGap + 1) >> 32;
  __atomic_store_n(&left_, kShortestGap + static_cast<std::uint32_t>(more), __ATOMIC_RELAXED);
}

void GroupStats::end_gap(std::uint64_t at, std::uint64_t aside) {
  const auto n = static_cast<double>(opened_ - left_ + making_since_);
  const double span = without_wait(between(last_, at, cost_.reading + aside), pace_, n);
  if (const double extra = span - n * pace_; extra >= shows_in_gap()) {
    long_one(extra);
  } else {
    keep_pace(span / n);
  }
  __atomic_store_n(&opened_, left_, __ATOMIC_RELAXED);
}

// There was no gap since the last one that was timed: but what made fragments, if anything, and the one that `took`.
void GroupStats::since_last(double before, double took) {
  if (making_since_ != 0) {
    making_.timed += making_since_;
    making_time_ += before;
    if (before >= shows_in_gap() && ++making_.long_ones == 1) first_long_one(kMaking);
  }
  if (took < kShortTicks) {
    keep_pace(std::min((before + took) / static_cast<double>(1 + making_since_), double{kShortTicks}));
  }
}

double GroupStats::shows_in_gap() const { return kShortTicks + kVaries * pace_; }

void GroupStats::keep_pace(double took) { pace_ += (took - pace_) / 8; }

void GroupStats::long_one(double took) {
  std::vector<std::pair<std::uint32_t, double>> odds;
  const std::uint32_t seen = seen_.load(std::memory_order_relaxed);
  bool doubtful = seen == kNobody;
  const auto add_odds = [&](std::uint32_t group, const How& how, double times) {
    doubtful = doubtful && how.long_ones == 0;
    const auto same = std::find_if(odds.begin(), odds.end(), [&](const auto& o) { return o.first == group; });
    if (same != odds.end()) {
      same->second += times * how.often();
    } else {
      odds.emplace_back(group, times * how.often());
    }
  };
  for (std::uint32_t i = left_; i < opened_; ++i) add_odds(gap_[i], groups_[gap_[i]].how, 1);
  const auto making = static_cast<double>(making_since_);
  const double usual = making_.timed == 0 ? 0 : making * making_time_ / static_cast<double>(making_.timed);
  if (took < kLongerMaking * usual) add_odds(kMaking, making_, making);
  if (std::any_of(odds.begin(), odds.end(), [&](const auto& o) { return o.first == seen; })) {
    std::erase_if(odds, [&](const auto& o) { return o.first != seen && o.first != kMaking; });
  }
  double all = 0;
  for (const auto& o : odds) all += o.second;
  for (auto& [group, part] : odds) {
    part /= all;
    if (group == kMaking) continue;
    give(group, took, part);
    One& g = groups_[group];
    owe(g, took);
    settle(g, g.usual.load(std::memory_order_relaxed), g.usual_squares.load(std::memory_order_relaxed));
    note_lately(g, part * took, 1);
    g.brisk.store(false, std::memory_order_relaxed);
  }
  if (!doubtful || odds.size() == 1) return;
  if (doubtful_.size() == kDoubtful) doubtful_.erase(doubtful_.begin());
  doubtful_.push_back({took, std::move(odds)});
}

void GroupStats::give(std::uint32_t group, double took, double part) {
  One& g = groups_[group];
  add(g.sum, part * took);
  add(g.squares, part * took * (took + 2 * g.usual.load(std::memory_order_relaxed)));
}

// So it had those as well that nobody could be known to have had.
void GroupStats::first_long_one(std::uint32_t group) {
  std::erase_if(doubtful_, [&](const Doubtful& d) {
    const auto own = std::find_if(d.odds.begin(), d.odds.end(), [&](const auto& o) { return o.first == group; });
    if (own == d.odds.end()) return false;
    for (const auto& [other, part] : d.odds) {
      if (other != kMaking) give(other, d.took, other == group ? 1 - part : -part);
    }
    return true;
  });
}

void GroupStats::owe(One& g, double took) const {
  const double pays_for = kPartOfLong * took / static_cast<double>(std::max<std::uint64_t>(cost_.timing, 1));
  g.owed = static_cast<std::int32_t>(std::min(g.owed + pays_for, kMostOwed));
}

}  // namespace tessera::runtime
