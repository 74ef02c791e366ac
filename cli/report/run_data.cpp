#include "cli/report/run_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tessera::cli {

namespace sim = balancer::simulator;
using balancer::index;
using nlohmann::json;

namespace {

constexpr std::size_t kManyItems = 200'000;
constexpr Time kTicksOfOne = 64;  // in the mean, where there are many

using enum Columns::As;

std::uint32_t small_number(std::int64_t n) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(n, 0, std::numeric_limits<std::uint32_t>::max()));
}

// Of what only has to be known within 1 %, eight digits: the rest would be most of the page.
std::uint32_t rounded(std::uint32_t n) {
  unsigned shift = 0;
  while (n >> shift >= 256) ++shift;
  return n >> shift << shift;
}

// An item as seen from another one: most are near. Never 0.
std::uint32_t away(std::size_t from, std::uint32_t item) {
  const auto d = static_cast<std::int64_t>(from) - static_cast<std::int64_t>(item) + 1;
  return d >= 0 ? static_cast<std::uint32_t>(2 * d) + 1 : static_cast<std::uint32_t>(-2 * d);
}

}  // namespace

RunData::RunData(const RunRecord& r) : r_(r), t_(r.times()), item_of_(t_.bars.size()) {
  Time all = 0;
  for (std::size_t i = 0; i < t_.bars.size(); ++i) {
    if (!r.is_kernel(i)) continue;
    items_.push_back(i);
    item_of_[i] = static_cast<std::uint32_t>(items_.size());
    all += r.own[i];
  }
  tick_ = std::max<Time>(1, (r.length() >> 31) + 1);
  if (items_.size() > kManyItems) tick_ = std::max(tick_, all / static_cast<Time>(items_.size()) / kTicksOfOne);
}

nlohmann::json RunData::json() {
  nlohmann::json j;
  about(j);
  put_groups(j);
  put_items();
  put_inputs();
  put_numbers();
  put_spans();
  put_path(j);
  put_moves();
  put_decisions(j);
  put_charts();
  put_memory();
  j["traffic"] = traffic();
  j["columns"] = columns_.list();
  j["data"] = columns_.text();
  return j;
}

std::uint32_t RunData::ticks(Time t) const { return small_number(t / tick_); }

void RunData::about(nlohmann::json& j) const {
  j["name"] = r_.name;
  j["program"] = r_.trace.program;
  j["from"] = r_.from();
  j["finished"] = r_.finished();
  j["tick"] = tick_;
  j["balancer"] = t_.balancer;
  j["simulated"] = t_.simulated;
  j["notes"] = t_.notes;
  j["sentences"] = sentences(r_);
  j["chain"] = r_.trace.work.critical_path();
  for (std::size_t d = 0; d < kDoings; ++d) {
    j["doings"].push_back(name_of(static_cast<Doing>(d)));
    j["sums"].push_back(r_.sums[d]);
  }
  for (const sim::RankInfo& x : t_.ranks) {
    j["ranks"].push_back({{"workers", x.workers}, {"host", x.host}, {"error", x.same_host ? 0 : x.error}});
  }
  j["sources"] = nlohmann::json::array();
  for (const sim::SourceText& s : t_.sources) j["sources"].push_back({{"name", s.name}, {"lines", s.lines}});
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> count;
  for (const std::size_t i : items_) ++count[{t_.bars[i].rank, t_.bars[i].worker}];
  j["lanes"] = nlohmann::json::array();
  for (const Lane& l : r_.lanes) j["lanes"].push_back({l.rank, l.worker, count[{l.rank, l.worker}]});
  j["fragments"] = r_.trace.work.fragments.size();
}

// Sums are those of all ns, not of ticks.
void RunData::put_groups(nlohmann::json& j) const {
  struct Sum {
    Time own = 0, longest = 0;
    double squares = 0;
    std::int64_t count = 0;
    void add(Time t) {
      own += t, ++count;
      longest = std::max(longest, t);
      squares += static_cast<double>(t) * static_cast<double>(t);
    }
  };
  std::vector<Sum> groups(r_.trace.work.groups.size()), blocks(t_.blocks.size());
  for (const std::size_t i : items_) {
    groups[r_.block_of(t_.bars[i]).group].add(r_.own[i]);
    blocks[t_.bars[i].block].add(r_.own[i]);
  }
  j["groups"] = j["blocks"] = nlohmann::json::array();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Sum& s = groups[g];
    const double n = static_cast<double>(std::max<std::int64_t>(1, s.count)), mean = static_cast<double>(s.own) / n;
    j["groups"].push_back({{"label", r_.trace.work.groups[g].label},
                           {"stealable", r_.trace.work.groups[g].stealable},
                           {"own", s.own},
                           {"count", s.count},
                           {"longest", s.longest},
                           {"deviation", std::sqrt(std::max(0.0, s.squares / n - mean * mean))}});
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const sim::BlockText& x = t_.blocks[b];
    nlohmann::json slots = nlohmann::json::array();
    for (const auto& s : x.slots) slots.push_back({s.base, s.indices, s.output ? 1 : 0});
    j["blocks"].push_back({{"group", x.group},
                           {"kernel", x.kernel},
                           {"file", x.file},
                           {"line", x.line},
                           {"text", x.text},
                           {"names", x.names},
                           {"slots", std::move(slots)},
                           {"own", blocks[b].own},
                           {"count", blocks[b].count}});
  }
}

void RunData::put_items() {
  Numbers gap, length, inside, block, wait, why, by, travel, output;
  std::uint32_t ended = 0;
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const std::size_t i = items_[n];
    const sim::Bar& b = t_.bars[i];
    const Ready& ready = r_.ready[i];
    const std::uint32_t start = at(b.start), end = at(b.start + b.length);
    gap.push_back(start - ended);
    length.push_back(end - start);
    ended = end;
    inside.push_back(ticks(b.length - r_.own[i]));
    block.push_back(b.block);
    wait.push_back(rounded(ticks(b.start - ready.at)));
    why.push_back(static_cast<std::uint32_t>(ready.why));
    travel.push_back(rounded(ticks(ready.at - ready.made)));
    output.push_back(small_number(r_.trace.work.fragments[b.fragment].output));
    // 0: nothing; up to the number of inputs: that one, from 1 on; else an item.
    const auto& inputs = r_.trace.work.fragments[b.fragment].inputs;
    const std::uint32_t item = ready.by == kNobody ? 0 : item_of_[ready.by];
    std::uint32_t k = 0;
    while (item != 0 && k < inputs.size()) {
      const auto& bars = r_.bars_of[inputs[k].fragment];
      if (!bars.empty() && bars.front() == ready.by) break;
      ++k;
    }
    by.push_back(item == 0 ? 0 : k < inputs.size() ? 1 + k : static_cast<std::uint32_t>(inputs.size()) + away(n, item));
  }
  columns_.add("gap", gap, either_sign);
  columns_.add("length", length, numbers);
  columns_.add("inside", inside, numbers);
  columns_.add("block", block, numbers);
  columns_.add("wait", wait, numbers);
  columns_.add("why", why, numbers);
  columns_.add("by", by, numbers);
  columns_.add("travel", travel, numbers);
  columns_.add("output", output, differences);
}

void RunData::put_inputs() {
  Numbers count, input, bytes, arrival;
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const sim::Bar& b = t_.bars[items_[n]];
    const auto& inputs = r_.trace.work.fragments[b.fragment].inputs;
    count.push_back(static_cast<std::uint32_t>(inputs.size()));
    std::vector<Time> came(inputs.size(), -1);
    for (const sim::Arrival& a : t_.arrivals_of(b)) came[a.input] = std::max<Time>(0, a.at);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto& bars = r_.bars_of[inputs[k].fragment];
      input.push_back(bars.empty() || item_of_[bars.front()] == 0 ? 0 : away(n, item_of_[bars.front()]));
      bytes.push_back(small_number(inputs[k].bytes));
      arrival.push_back(came[k] < 0 ? 0 : 1 + rounded(ticks(b.start - came[k])));
    }
  }
  columns_.add("inputs", count, numbers);
  columns_.add("input", input, numbers);
  columns_.add("bytes", bytes, differences);
  columns_.add("arrival", arrival, numbers);
}

// Block by block and number by number: those of one are alike.
void RunData::put_numbers() {
  std::vector<std::vector<std::vector<std::int64_t>>> by_block(t_.blocks.size());
  for (const std::size_t i : items_) {
    const sim::Bar& b = t_.bars[i];
    const sim::BlockText& block = t_.blocks[b.block];
    std::size_t all = block.names.size();
    for (const auto& s : block.slots) all += s.indices;
    auto& lists = by_block[b.block];
    lists.resize(all);
    const auto values = t_.numbers_of(b);
    for (std::size_t k = 0; k < all; ++k) lists[k].push_back(k < values.size() ? values[k] : 0);
  }
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    for (std::size_t k = 0; k < by_block[b].size(); ++k) {
      Numbers low, high;
      bool large = false;
      for (const std::int64_t n : by_block[b][k]) {
        low.push_back(static_cast<std::uint32_t>(n));
        high.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) >> 32));
        large |= n != static_cast<std::int32_t>(n);
      }
      const std::string name = std::to_string(b) + "_" + std::to_string(k);
      columns_.add("n" + name, low, differences);
      if (large) columns_.add("h" + name, high, differences);
    }
  }
}

// What workers did beside kernels. Pieces that nobody could see are left out.
void RunData::put_spans() {
  const Time least = r_.length() / 200'000;
  Numbers count, start, length, doing;
  for (const Lane& lane : r_.lanes) {
    const std::size_t before = start.size();
    Segment open{r_.from(), r_.from(), Doing::kernel, kNobody};
    const auto put = [&] {
      if (open.doing == Doing::kernel || open.end - open.start < least) return;
      start.push_back(at(open.start));
      length.push_back(at(open.end) - at(open.start));
      doing.push_back(static_cast<std::uint32_t>(open.doing));
    };
    for (const Segment& s : lane.segments) {
      if (s.doing == open.doing && s.start - open.end <= least) {
        open.end = s.end;
        continue;
      }
      put();
      open = s;
    }
    put();
    count.push_back(static_cast<std::uint32_t>(start.size() - before));
  }
  columns_.add("spans", count, numbers);
  columns_.add("span_start", start, differences);
  columns_.add("span_length", length, numbers);
  columns_.add("span_doing", doing, numbers);
}

}  // namespace tessera::cli
