// The path that took the run its time: back from its end, always to what the step before had to wait for.
#include <algorithm>
#include <map>

#include "cli/report/run_record.hpp"

namespace tessera::cli {
namespace {

bool is_running(const Segment& s) { return s.doing == Doing::kernel || s.doing == Doing::making; }

class PathFinder {
 public:
  explicit PathFinder(RunRecord& r) : r_(r), now_(r.finished()) {
    for (std::size_t l = 0; l < r.lanes.size(); ++l) lane_of_[{r.lanes[l].rank, r.lanes[l].worker}] = l;
  }
  void find() {
    Time last = -1;
    for (std::size_t l = 0; l < r_.lanes.size(); ++l) {
      const auto& s = r_.lanes[l].segments;
      for (std::size_t i = s.size(); i-- > 0;) {
        if (!is_running(s[i])) continue;
        if (s[i].end > last) last = s[i].end, lane_ = l, segment_ = i;
        break;
      }
    }
    if (last >= 0) {
      to(last, Step::Kind::overhead, kNobody);
      while (now_ > r_.from() && step_back()) {}
    }
    to(r_.from(), Step::Kind::overhead, kNobody);  // before the first, or clocks that differ by more than this took
  }

 private:
  const Segment& here() const { return r_.lanes[lane_].segments[segment_]; }
  // The path goes back to then.
  void to(Time at, Step::Kind kind, std::size_t bar) {
    at = std::max(at, r_.from());
    if (at >= now_) return;
    r_.path.push_back({at, now_, kind, bar});
    now_ = at;
  }
  // What the worker ran before.
  bool before(Time& free) {
    const auto& lane = r_.lanes[lane_].segments;
    std::size_t i = segment_;
    while (i > 0 && !is_running(lane[i - 1])) --i;
    if (i == 0) return false;
    segment_ = i - 1;
    free = lane[segment_].end;
    return true;
  }
  // What ran of the bar, up to that time.
  void find(std::size_t bar, Time when) {
    const auto& b = r_.times().bars[bar];
    lane_ = lane_of_.at({b.rank, b.worker});
    const auto& s = r_.lanes[lane_].segments;
    auto i = std::upper_bound(s.begin(), s.end(), when, [](Time t, const Segment& x) { return t <= x.start; });
    while (i != s.begin() && !is_running(*--i)) {}
    segment_ = static_cast<std::size_t>(i - s.begin());
  }
  bool step_back() {
    const Segment& s = here();
    to(s.start, Step::Kind::run, s.bar);
    const Ready& ready = r_.ready[s.bar];
    // Where the worker was before, and what it had to wait for: the later one held it up.
    Time free = 0;
    const std::size_t bar = s.bar;
    const auto was = std::pair{lane_, segment_};
    const bool had = before(free);
    if (ready.by == kNobody || free >= ready.at) {
      to(free, Step::Kind::overhead, bar);
      return had;
    }
    to(ready.at, Step::Kind::overhead, bar);
    if (ready.why == Ready::Why::moved) {
      // It could have run long before, where it was: the worker here was without work, and that is what to look at.
      const Time since = std::max(free, ready.made);
      to(since, Step::Kind::move, bar);
      if (free >= ready.made) return had;
    } else {
      to(ready.made, Step::Kind::transfer, bar);
    }
    to(r_.end_of(ready.by), Step::Kind::transfer, bar);
    std::tie(lane_, segment_) = was;
    find(ready.by, now_);
    if (!is_running(here()) || here().start >= now_) return false;
    to(here().end, Step::Kind::overhead, bar);
    return true;
  }

  RunRecord& r_;
  Time now_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> lane_of_;
  std::size_t lane_ = 0, segment_ = 0;
};

}  // namespace

void find_path(RunRecord& r) { PathFinder(r).find(); }

}  // namespace tessera::cli
