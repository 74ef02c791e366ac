#include "runtime/report/waits_now.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "runtime/report/wait_graph.hpp"
#include "runtime/report/waits.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kMostLookedAt = 24, kMostLines = 8;

// f(entry, its waiting fragment, the slot), with the lock; until it says false.
template <class F>
void for_each_wait(DataFragments& data, F f) {
  for (Shard& shard : data.table().shards()) {
    const std::lock_guard hold(shard.mutex);
    bool on = true;
    shard.for_each([&](DfEntry& e) {
      for (std::uint64_t link = e.waiters; on && link != 0;) {
        const Waiter w = waiter_of(link);
        link = slot_word(w.cf, w.slot);
        on = f(e, w.cf, w.slot);
      }
    });
    if (!on) return;
  }
}

// "`join(at, a, b, sum)` at tree.fa:11 (at=5)" without the numbers: of the same statement.
std::string without_numbers(const std::string& waiter) {
  const std::size_t from = waiter.rfind(" ("), to = waiter.rfind(')');
  return from == waiter.npos || to == waiter.npos || to < from ? waiter
                                                               : waiter.substr(0, from) + waiter.substr(to + 1);
}

}  // namespace

WaitsNow waits_now(const abi::Program& program, DataFragments& data, std::size_t most) {
  std::unordered_map<std::uint64_t, WaitingFragment> all;  // by the lower half of the id
  for_each_wait(data, [&](const DfEntry&, const abi::Cf* c, unsigned slot) {
    WaitingFragment one = waits_of(program, c, {slot});
    const auto [at, fresh] = all.try_emplace(c->id.lo, one);
    if (!fresh) at->second.needs.push_back(one.needs.front());
    return all.size() < most;
  });
  WaitsNow now;
  now.count = static_cast<std::int64_t>(all.size());
  for (const auto& [id, fragment] : all) fragment.write(now.words);
  return now;
}

WaitsNow who_waits_for(const abi::Program& program, DataFragments& data, std::vector<std::uint64_t> names) {
  std::sort(names.begin(), names.end());
  WaitsNow now;
  for_each_wait(data, [&](const DfEntry& e, const abi::Cf* c, unsigned slot) {
    const auto found = std::lower_bound(names.begin(), names.end(), e.id.lo);
    if (found == names.end() || *found != e.id.lo) return true;
    names.erase(found);
    const char* producers = c->block->slots[slot].producers;
    now.lines.push_back({e.id.lo, describe(program, c), slot_text(c, slot), producers == nullptr ? "" : producers});
    return !names.empty();
  });
  return now;
}

WaitReport::WaitReport(const std::vector<Totals>& ranks) {
  WaitGraph graph;
  std::map<std::uint64_t, std::pair<std::int32_t, const RunningFragment*>> made;  // name -> who runs that gives it
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankNow& now = ranks[r].now;
    waiting_ += now.waits.count;
    graph.add(static_cast<std::int32_t>(r), now.waits.words);
    for (const RunningFragment& f : now.running) {
      for (const std::uint64_t name : f.gives) {
        graph.add_given(name);
        made[name] = {static_cast<std::int32_t>(r), &f};
      }
    }
  }
  const WaitGraph::Found found = graph.find_while_running(kMostLookedAt);
  all_ = found.more + static_cast<std::int64_t>(found.roots.size());
  for (const WaitGraph::Root& root : found.roots) {
    const std::uint64_t name = root.first.front().name;
    const auto maker = made.find(name);
    const bool runs = maker != made.end();
    roots_.push_back(
        {name, root.waiting, runs ? maker->second.first : -1, runs ? *maker->second.second : RunningFragment{}});
  }
  std::stable_sort(roots_.begin(), roots_.end(), [](const Root& a, const Root& b) { return a.behind > b.behind; });
}

std::vector<std::uint64_t> WaitReport::names() const {
  std::vector<std::uint64_t> all;
  for (const Root& r : roots_) all.push_back(r.name);
  return all;
}

std::vector<WaitReport::Line> WaitReport::lines(const std::vector<Totals>& ranks) const {
  std::map<std::uint64_t, const WaitLine*> said;
  for (const Totals& t : ranks) {
    for (const WaitLine& l : t.now.waits.lines) said.try_emplace(l.name, &l);
  }
  std::vector<Line> all;
  for (const Root& r : roots_) {
    const auto line = said.find(r.name);
    if (line == said.end()) continue;
    const WaitLine& l = *line->second;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Line& x) {
      return x.rank < 0 && r.rank < 0 && without_numbers(x.waits.waiter) == without_numbers(l.waiter) &&
             x.waits.producers == l.producers;
    });
    if (same == all.end()) {
      if (all.size() < kMostLines) all.push_back({l, r.behind, r.rank, r.maker});
      continue;
    }
    ++same->alike;
    const std::string known = "`" + same->waits.slot + "`";
    if (known.find("`" + l.slot + "`") == std::string::npos) same->waits.slot += "`, `" + l.slot;
  }
  return all;
}

std::int64_t WaitReport::more(const std::vector<Line>& lines) const {
  std::int64_t more = all_;
  for (const Line& l : lines) more -= 1 + l.alike;
  return more;
}

}  // namespace tessera::runtime
