#include "runtime/journal/skips.hpp"

#include <tuple>

namespace tessera::runtime::journal {

bool Skips::add(const Range& r) {
  if (r.group >= statements_.size()) statements_.resize(r.group + 1, kNone);
  if (statements_[r.group] == kNone) {
    statements_[r.group] = r.statement;
    if (std::find(all_statements_.begin(), all_statements_.end(), r.statement) == all_statements_.end())
      all_statements_.push_back(r.statement);
  }
  if (statements_[r.group] != r.statement) return false;
  const auto [at, fresh] =
      numbers_.try_emplace(key_of(r.loop.hi, r.statement), static_cast<std::uint32_t>(loops_.size()));
  if (fresh) loops_.push_back({r.loop, r.statement, r.group, 0, 0});
  const Loop& l = loops_[at->second];
  if (l.id != r.loop || l.statement != r.statement || l.group != r.group) return false;
  added_.push_back({at->second, {r.first, r.last + 1}});
  return true;
}

void Skips::take_out(const Id& fragment) {
  for (const std::uint32_t s : all_statements_) {
    const Sibling sibling = sibling_of(fragment, s);
    const auto at = numbers_.find(key_of(sibling.hi, s));
    if (at == numbers_.end()) continue;
    const Loop& l = loops_[at->second];
    if (l.id.hi != sibling.hi || l.statement != s) continue;
    const std::int64_t i = index_in(l.id, sibling);
    out_.push_back({at->second, {i, i + 1}});
    return;
  }
}

void Skips::finish() {
  const auto order = [](const Added& a, const Added& b) {
    return std::tie(a.loop, a.interval) < std::tie(b.loop, b.interval);
  };
  std::sort(added_.begin(), added_.end(), order);
  std::sort(out_.begin(), out_.end(), order);
  auto out = out_.begin();
  // A piece of a loop, without what is to be made.
  const auto put = [&](std::uint32_t loop, Interval v) {
    fragments_ += static_cast<std::uint64_t>(v.second - v.first);
    while (out != out_.end() && std::tie(out->loop, out->interval.second) <= std::tie(loop, v.first)) ++out;
    for (; out != out_.end() && out->loop == loop && out->interval.first < v.second; ++out) {
      if (v.first < out->interval.first) intervals_.emplace_back(v.first, out->interval.first);
      v.first = std::max(v.first, out->interval.second);
    }
    if (v.first < v.second) intervals_.push_back(v);
  };
  for (std::size_t k = 0; k < added_.size();) {
    const std::uint32_t loop = added_[k].loop;
    loops_[loop].from = static_cast<std::uint32_t>(intervals_.size());
    while (k < added_.size() && added_[k].loop == loop) {
      Interval v = added_[k++].interval;
      for (; k < added_.size() && added_[k].loop == loop && added_[k].interval.first <= v.second; ++k)
        v.second = std::max(v.second, added_[k].interval.second);
      put(loop, v);
    }
    loops_[loop].to = static_cast<std::uint32_t>(intervals_.size());
  }
  added_ = {};
  out_ = {};
}

}  // namespace tessera::runtime::journal
