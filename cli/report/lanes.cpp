// What each worker did all the time, and why it was idle.
#include <algorithm>

#include "cli/report/run_record.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;

constexpr Time kShortPause =
    2'000;  // ns: a shorter pause between two fragments is the runtime's, whatever it waited for
constexpr Time kWaitsLong = 100'000;  // ns: what is ready for less is not left lying

// Spans of time, one after the other.
using Spans = std::vector<std::pair<Time, Time>>;

// When kernels' fragments were ready and had not begun on another rank than this one, by rank.
std::vector<Spans> work_elsewhere(const RunRecord& r) {
  struct Change {
    Time at;
    std::int32_t rank, by;
  };
  std::vector<Change> changes;
  const auto& bars = r.times().bars;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (!r.is_kernel(i)) continue;
    const auto lay = [&](Time from, Time to, std::int32_t rank) {
      if (to - from < kWaitsLong) return;
      changes.push_back({from, rank, 1});
      changes.push_back({to, rank, -1});
    };
    const Ready& ready = r.ready[i];
    if (ready.why == Ready::Why::moved) lay(ready.made, ready.at, ready.from);
    lay(ready.at, bars[i].start, bars[i].rank);
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  std::vector<Spans> all(r.times().ranks.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::int64_t others = 0;
    for (const Change& c : changes) {
      if (c.rank == static_cast<std::int32_t>(rank)) continue;
      if (others == 0) {
        if (all[rank].empty() || all[rank].back().second < c.at) {
          all[rank].emplace_back(c.at, c.at);
        }
      }
      others += c.by;
      all[rank].back().second = c.at;
    }
  }
  return all;
}

class Sweep {
 public:
  Sweep(RunRecord& r, Lane& lane, const Spans& elsewhere) : r_(r), lane_(lane), elsewhere_(elsewhere), now_(r.from()) {}

  void bar(std::size_t i) {
    const sim::Bar& b = r_.times().bars[i];
    close(b.start);
    if (open_.empty()) idle(b.start, i);
    run_to(b.start);
    open_.push_back(i);
  }
  void end() {
    close(r_.finished());
    idle(r_.finished(), kNobody);
  }

 private:
  Time end_of(std::size_t i) const { return r_.times().bars[i].start + r_.times().bars[i].length; }
  void close(Time until) {
    while (!open_.empty() && end_of(open_.back()) <= until) {
      run_to(end_of(open_.back()));
      open_.pop_back();
    }
  }
  // The innermost one ran until then.
  void run_to(Time at) {
    if (at <= now_ || open_.empty()) return;
    const std::size_t i = open_.back();
    r_.own[i] += at - now_;
    put({now_, at, r_.is_kernel(i) ? Doing::kernel : Doing::making, i});
  }
  void put(const Segment& s) {
    r_.sums[static_cast<std::size_t>(s.doing)] += s.end - s.start;
    if (!lane_.segments.empty() && lane_.segments.back().doing == s.doing && lane_.segments.back().bar == s.bar &&
        lane_.segments.back().end == s.start) {
      lane_.segments.back().end = s.end;
    } else {
      lane_.segments.push_back(s);
    }
    now_ = s.end;
  }
  void put_idle(Time until, Doing doing, std::size_t next) {
    if (until > now_) put({now_, until, doing, next});
  }
  // Nothing ran from now on until then, when `next` began.
  void idle(Time until, std::size_t next) {
    if (until <= now_) return;
    if (next == kNobody) return wait(until, Doing::nothing, next, Doing::elsewhere);
    const Ready& ready = r_.ready[next];
    if (until - now_ >= kShortPause) {
      const bool away = ready.from >= 0 && ready.from != lane_.rank;
      // What had to be asked for was made before that.
      const bool input = ready.why == Ready::Why::input && ready.by == ready.maker;
      const bool moved = ready.why == Ready::Why::moved;
      const Doing lay = moved ? Doing::late : Doing::elsewhere;
      if (away && input && ready.by != kNobody) {
        // The one that makes it may have waited for a transfer itself.
        const Ready& maker = r_.ready[ready.by];
        if (maker.why == Ready::Why::input && maker.at > maker.made) {
          wait(std::min({maker.made, ready.made, until}), Doing::value, next, lay);
          wait(std::min({maker.at, ready.made, until}), Doing::transfer, next, lay);
        }
      }
      wait(std::min(ready.made, until), away && input ? Doing::value : Doing::nothing, next, lay);
      // What was moved lay ready elsewhere until then: that is no transfer.
      wait(std::min(ready.at, until), moved ? lay : Doing::transfer, next, lay);
    }
    put_idle(until, Doing::overhead, next);
  }
  // Idle until then, for this reason; for the reason `lay` while somebody else had work.
  void wait(Time until, Doing doing, std::size_t next, Doing lay) {
    auto at = std::lower_bound(elsewhere_.begin(), elsewhere_.end(), now_,
                               [](const auto& span, Time t) { return span.second <= t; });
    for (; at != elsewhere_.end() && at->first < until; ++at) {
      put_idle(at->first, doing, next);
      put_idle(std::min(until, at->second), lay, next);
    }
    put_idle(until, doing, next);
  }

  RunRecord& r_;
  Lane& lane_;
  const Spans& elsewhere_;
  Time now_;
  std::vector<std::size_t> open_;
};

}  // namespace

Cause cause_of(const RunRecord& r, const Segment& s) {
  if (s.bar == kNobody) return {};
  const Ready& ready = r.ready[s.bar];
  if (s.doing == Doing::late) return {ready.from, kNobody};
  if (s.doing != Doing::transfer && s.doing != Doing::value) return {};
  return {ready.from, ready.maker};
}

void find_lanes(RunRecord& r) {
  const auto& bars = r.times().bars;
  r.own.assign(bars.size(), 0);
  const std::vector<Spans> elsewhere = work_elsewhere(r);
  std::size_t i = 0;
  for (std::size_t rank = 0; rank < r.times().ranks.size(); ++rank) {
    for (std::int32_t w = 0; w < r.times().ranks[rank].workers; ++w) {
      Lane& lane = r.lanes.emplace_back(Lane{static_cast<std::int32_t>(rank), w, {}});
      Sweep sweep(r, lane, elsewhere[rank]);
      for (; i < bars.size() && bars[i].rank == lane.rank && bars[i].worker == w; ++i) sweep.bar(i);
      sweep.end();
    }
  }
}

}  // namespace tessera::cli
