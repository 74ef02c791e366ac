#include "runtime/report/wait_graph.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tessera::runtime {

void WaitingFragment::write(std::vector<std::uint64_t>& words) const {
  words.push_back(needs.size() | gives.size() << 16 | may_give.size() << 32);
  for (const Need& n : needs) words.insert(words.end(), {n.name, n.base});
  words.insert(words.end(), gives.begin(), gives.end());
  words.insert(words.end(), may_give.begin(), may_give.end());
}

void WaitGraph::add(std::int32_t rank, const std::vector<std::uint64_t>& words) {
  ranks_.emplace_back(rank, fragments_);
  for (std::size_t at = 0; at < words.size(); ++fragments_) {
    const std::uint64_t counts = words[at++];
    first_need_.push_back(static_cast<std::uint32_t>(needs_.size()));
    first_give_.push_back(static_cast<std::uint32_t>(given_.size()));
    first_may_.push_back(static_cast<std::uint32_t>(may_given_.size()));
    for (std::uint64_t k = 0; k < (counts & 0xFFFF); ++k, at += 2)
      needs_.push_back({words[at], words[at + 1], fragments_});
    for (std::uint64_t k = 0; k < (counts >> 16 & 0xFFFF); ++k) given_.push_back(words[at++]);
    for (std::uint64_t k = 0; k < (counts >> 32 & 0xFFFF); ++k) may_given_.push_back(words[at++]);
  }
}

std::pair<std::size_t, std::size_t> WaitGraph::givers(const std::vector<Giver>& all, std::uint64_t name) {
  const auto before = [](const Giver& g, std::uint64_t n) { return g.name < n; };
  const auto after = [](std::uint64_t n, const Giver& g) { return n < g.name; };
  const auto from = std::lower_bound(all.begin(), all.end(), name, before);
  const auto to = std::upper_bound(from, all.end(), name, after);
  return {static_cast<std::size_t>(from - all.begin()), static_cast<std::size_t>(to - all.begin())};
}

WaitGraph::Place WaitGraph::place(const Need& n) const {
  auto at = std::upper_bound(ranks_.begin(), ranks_.end(), n.fragment,
                             [](std::uint32_t f, const auto& r) { return f < r.second; });
  --at;
  return {at->first, n.fragment - at->second, n.name};
}

// Marks what waits for these names, and for what that would give; how many fragments are new.
std::int64_t WaitGraph::reach(std::vector<std::uint64_t> names, Visit& seen) const {
  std::int64_t found = 0;
  const auto visit = [&](std::uint32_t f) {
    if (seen[f]) return;
    seen[f] = true;
    ++found;
    const bool last = f + 1 == fragments_;
    const std::size_t gives = last ? given_.size() : first_give_[f + 1],
                      may = last ? may_given_.size() : first_may_[f + 1];
    names.insert(names.end(), given_.begin() + first_give_[f], given_.begin() + static_cast<std::ptrdiff_t>(gives));
    names.insert(names.end(), may_given_.begin() + first_may_[f],
                 may_given_.begin() + static_cast<std::ptrdiff_t>(may));
  };
  while (!names.empty()) {
    const std::uint64_t name = names.back();
    names.pop_back();
    const auto [from, to] = givers(by_key_, name);
    for (std::size_t k = from; k < to; ++k) visit(by_key_[k].fragment);
  }
  return found;
}

// Who gives it, or, if nobody does, may: but for the one that waits for it.
std::optional<std::uint32_t> WaitGraph::giver(const Need& n) const {
  if (const auto [from, to] = givers(gives_, n.name); from != to) return gives_[from].fragment;
  for (const std::uint64_t what : {n.name, n.base}) {
    const auto [from, to] = givers(may_give_, what);
    for (std::size_t k = from; k < to; ++k) {
      if (may_give_[k].fragment != n.fragment) return may_give_[k].fragment;
    }
  }
  return std::nullopt;
}

// Along names that are given, or may be, from this fragment on, until one comes again.
std::vector<WaitGraph::Place> WaitGraph::circle(std::uint32_t fragment) const {
  std::vector<Place> path;
  std::map<std::uint32_t, std::size_t> when;
  while (when.emplace(fragment, path.size()).second) {
    const std::size_t end = fragment + 1 == fragments_ ? needs_.size() : first_need_[fragment + 1];
    std::uint32_t next = fragment;
    bool found = false;
    for (std::size_t k = first_need_[fragment]; k < end && !found; ++k) {
      const std::optional<std::uint32_t> by = giver(needs_[k]);
      if (!by) continue;
      path.push_back(place(needs_[k]));
      next = *by;
      found = true;
    }
    if (!found) return {};
    fragment = next;
  }
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(when[fragment]));
  return path;
}

WaitGraph::Found WaitGraph::look(std::size_t most, bool runs) {
  const auto in_order = [](const auto& a, const auto& b) {
    return std::pair(a.name, a.fragment) < std::pair(b.name, b.fragment);
  };
  const auto list = [&](const std::vector<std::uint64_t>& names, const std::vector<std::uint32_t>& first,
                        std::vector<Giver>& to) {
    for (std::size_t f = 0, k = 0; f < first.size(); ++f) {
      const std::size_t end = f + 1 < first.size() ? first[f + 1] : names.size();
      for (; k < end; ++k) to.push_back({names[k], static_cast<std::uint32_t>(f)});
    }
    std::sort(to.begin(), to.end(), in_order);
  };
  list(given_, first_give_, gives_);
  list(may_given_, first_may_, may_give_);
  waiters_ = needs_;
  std::sort(waiters_.begin(), waiters_.end(), in_order);
  for (const Need& n : needs_) {
    by_key_.push_back({n.name, n.fragment});
    if (n.base != n.name) by_key_.push_back({n.base, n.fragment});
  }
  std::sort(by_key_.begin(), by_key_.end(), in_order);
  std::sort(ends_.begin(), ends_.end());
  std::sort(being_made_.begin(), being_made_.end());

  // Who may give what it waits for itself is not meant.
  const auto perhaps = [&](const Need& n, std::uint64_t what) {
    const auto [from, to] = givers(may_give_, what);
    return to - from > 1 || (to - from == 1 && may_give_[from].fragment != n.fragment);
  };
  struct Candidate {
    std::size_t from, to;  // of waiters_
    bool weak;
  };
  std::vector<Candidate> roots;
  for (std::size_t from = 0, to; from < waiters_.size(); from = to) {
    const Need& n = waiters_[from];
    for (to = from; to < waiters_.size() && waiters_[to].name == n.name;) ++to;
    const auto [give, end] = givers(gives_, n.name);
    if (give != end || std::binary_search(ends_.begin(), ends_.end(), n.name)) continue;
    const bool made = std::binary_search(being_made_.begin(), being_made_.end(), n.name);
    roots.push_back({from, to, !made && (perhaps(n, n.name) || perhaps(n, n.base))});
  }
  // What most wait for, and what was written first.
  std::sort(roots.begin(), roots.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.weak != b.weak) return b.weak;
    if (a.to - a.from != b.to - b.from) return a.to - a.from > b.to - b.from;
    return waiters_[a.from].fragment < waiters_[b.from].fragment;
  });
  std::vector<std::uint64_t> names = ends_;
  for (const Candidate& c : roots) names.push_back(waiters_[c.from].name);
  Found found;
  Visit seen(fragments_);
  reach(names, seen);
  // Each is what another fragment may give, and that waits for the next: none of them is a root.
  if (!runs && !roots.empty() && roots.front().weak) {
    found.circle = circle(waiters_[roots.front().from].fragment);
    found.behind = fragments_;
    if (!found.circle.empty()) return found;
  }
  // What some fragment may give waits for the roots of that one.
  if (!roots.empty() && !roots.front().weak) std::erase_if(roots, [](const Candidate& c) { return c.weak; });
  for (const Candidate& c : roots) {
    if (found.roots.size() == most) break;
    Root root;
    for (std::size_t k = c.from; k < c.to; ++k) {
      const Place p = place(waiters_[k]);
      if (root.first.empty() || root.first.back().rank != p.rank) root.first.push_back(p);
    }
    Visit behind(fragments_);
    root.waiting = reach({waiters_[c.from].name}, behind);
    found.roots.push_back(std::move(root));
  }
  found.more = static_cast<std::int64_t>(roots.size() - found.roots.size());
  found.behind = std::count(seen.begin(), seen.end(), false);
  if (!runs && found.behind > 0) {
    found.circle = circle(static_cast<std::uint32_t>(std::find(seen.begin(), seen.end(), false) - seen.begin()));
  }
  return found;
}

}  // namespace tessera::runtime
