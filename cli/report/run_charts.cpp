// What a page shows of a run as a whole: its critical path, moves and decisions, and sums over time and between ranks.
#include <algorithm>
#include <map>

#include "cli/report/run_data.hpp"

namespace tessera::cli {

namespace sim = balancer::simulator;
using balancer::index;

namespace {

constexpr std::size_t kBins = 400;              // of charts over time; page/charts.js knows
constexpr std::size_t kMostDecisions = 20'000;  // shown one by one
constexpr std::size_t kManySteps = 20'000;      // more are put together where nobody could tell them apart

using enum Columns::As;

std::size_t bin_of(Time t, const RunRecord& r) {
  const double bin = static_cast<double>(std::max<Time>(0, t - r.from())) * kBins / static_cast<double>(r.length());
  return std::min(kBins - 1, static_cast<std::size_t>(bin));
}

}  // namespace

void RunData::put_path(nlohmann::json& j) {
  Numbers start, length, kind, lane;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> lane_of;
  for (const Lane& l : r_.lanes)
    lane_of.try_emplace({l.rank, l.worker}, static_cast<std::uint32_t>(lane_of.size() + 1));
  std::map<std::string, Time> sums;
  const Time least = r_.path.size() > kManySteps ? r_.length() / static_cast<Time>(kManySteps) : 0;
  Step open;
  std::uint32_t open_lane = 0, open_kind = 0;
  const auto put = [&] {
    if (open.end == open.start) return;
    start.push_back(at(open.start));
    length.push_back(at(open.end) - at(open.start));
    kind.push_back(open_kind);
    lane.push_back(open_lane);
  };
  for (const Step& s : r_.path) {
    const bool kernel = s.bar != kNobody && r_.is_kernel(s.bar);
    const std::string what = s.kind == Step::Kind::overhead   ? "the runtime's overhead"
                             : s.kind == Step::Kind::transfer ? "transfers"
                             : s.kind == Step::Kind::move     ? "waiting until the balancer moved something"
                             : kernel ? r_.trace.work.groups[r_.block_of(t_.bars[s.bar]).group].label
                                      : "making fragments";
    sums[what] += s.end - s.start;
    const std::uint32_t at = s.bar == kNobody ? 0 : lane_of[{t_.bars[s.bar].rank, t_.bars[s.bar].worker}];
    if (at == open_lane && s.end - s.start < least && open.end - open.start < least) {
      open.start = s.start;
      continue;
    }
    put();
    open = s, open_lane = at;
    open_kind = static_cast<std::uint32_t>(s.kind);
  }
  put();
  columns_.add("path_start", start, differences);
  columns_.add("path_length", length, numbers);
  columns_.add("path_kind", kind, numbers);
  columns_.add("path_lane", lane, differences);
  std::vector<std::pair<Time, std::string>> list;
  for (const auto& [what, time] : sums) list.emplace_back(time, what);
  std::sort(list.rbegin(), list.rend());
  j["path"] = nlohmann::json::array();
  for (const auto& [time, what] : list) j["path"].push_back({what, time});
}

void RunData::put_moves() {
  Numbers when, item, from, to, policy;
  for (const sim::Moved& m : t_.moves) {
    const auto& bars = r_.bars_of[m.fragment];
    if (bars.empty() || item_of_[bars.front()] == 0) continue;
    when.push_back(at(m.at));
    item.push_back(item_of_[bars.front()] - 1);
    from.push_back(static_cast<std::uint32_t>(index(m.from)));
    to.push_back(static_cast<std::uint32_t>(index(m.to)));
    policy.push_back(m.by_policy ? 1 : 0);
  }
  columns_.add("move_at", when, differences);
  columns_.add("move_item", item, differences);
  columns_.add("move_from", from, numbers);
  columns_.add("move_to", to, numbers);
  columns_.add("move_policy", policy, numbers);
}

void RunData::put_decisions(nlohmann::json& j) const {
  std::map<std::string, std::size_t> reasons;
  j["decisions"] = j["reasons"] = nlohmann::json::array();
  j["decisions_all"] = t_.decisions.size();
  for (std::size_t k = 0; k < std::min(t_.decisions.size(), kMostDecisions); ++k) {
    const sim::Decided& d = t_.decisions[k];
    const auto [why, fresh] = reasons.try_emplace(d.why, reasons.size());
    if (fresh) j["reasons"].push_back(d.why);
    nlohmann::json what = nlohmann::json::array();
    for (const auto& g : d.fragments) what.push_back({index(g.group), g.count});
    j["decisions"].push_back(
        {d.at, index(d.rank), index(d.from), index(d.to), d.load_from, d.load_to, std::move(what), why->second});
  }
}

// In ticks: what all workers did, by kind; how long each rank was busy with kernels.
void RunData::put_charts() {
  const auto end_of = [&](std::size_t bin) {
    return r_.from() + r_.length() / static_cast<Time>(kBins) * static_cast<Time>(bin + 1) +
           r_.length() % static_cast<Time>(kBins) * static_cast<Time>(bin + 1) / static_cast<Time>(kBins);
  };
  std::vector<Time> doing(kDoings * kBins), busy(t_.ranks.size() * kBins);
  for (const Lane& lane : r_.lanes) {
    for (const Segment& s : lane.segments) {
      Time at = s.start;
      for (std::size_t b = bin_of(at, r_); at < s.end; ++b) {
        const std::size_t bin = std::min(b, kBins - 1);
        const Time until = b + 1 >= kBins ? s.end : std::clamp(end_of(b), at, s.end);
        doing[static_cast<std::size_t>(s.doing) * kBins + bin] += until - at;
        if (s.doing == Doing::kernel) busy[static_cast<std::size_t>(lane.rank) * kBins + bin] += until - at;
        at = until;
      }
    }
  }
  const auto add = [&](const char* name, const std::vector<Time>& times) {
    Numbers all;
    for (const Time t : times) all.push_back(ticks(t));
    columns_.add(name, all, differences);
  };
  add("doing", doing);
  add("busy", busy);
}

// In kB: by rank, the most in each bin.
void RunData::put_memory() {
  Numbers process(t_.ranks.size() * kBins), data = process;
  for (const sim::Memory& m : t_.memory) {
    const std::size_t at = static_cast<std::size_t>(index(m.rank)) * kBins + bin_of(m.at, r_);
    const auto in_kb = [](std::int64_t bytes) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>((bytes + 999) / 1000, 0, UINT32_MAX));
    };
    process[at] = std::max(process[at], in_kb(m.process));
    data[at] = std::max(data[at], in_kb(m.data));
  }
  columns_.add("process", process, differences);
  columns_.add("data", data, differences);
}

nlohmann::json RunData::traffic() const {
  struct Pair {
    std::int64_t bytes = 0, messages = 0, policy = 0, placed = 0;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Pair> pairs;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kinds;
  for (const sim::Sent& m : t_.messages) {
    Pair& p = pairs[{index(m.from), index(m.to)}];
    p.bytes += m.bytes;
    ++p.messages;
    ++kinds[m.kind].first;
    kinds[m.kind].second += m.bytes;
  }
  for (const sim::Moved& m : t_.moves) {
    Pair& p = pairs[{index(m.from), index(m.to)}];
    ++(m.by_policy ? p.policy : p.placed);
  }
  nlohmann::json j{{"pairs", nlohmann::json::array()}, {"kinds", nlohmann::json::array()}};
  for (const auto& [ranks, p] : pairs) {
    j["pairs"].push_back({ranks.first, ranks.second, p.bytes, p.messages, p.policy, p.placed});
  }
  for (const auto& [kind, sums] : kinds) j["kinds"].push_back({kind, sums.first, sums.second});
  return j;
}

}  // namespace tessera::cli
