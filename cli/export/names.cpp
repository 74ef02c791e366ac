#include <algorithm>

#include "cli/export/export.hpp"

namespace tessera::cli {

namespace sim = balancer::simulator;

std::string group_name(const std::string& label) { return label.substr(0, label.rfind(" at ")); }

std::vector<std::string> bar_variables(const RunRecord& r, std::size_t bar) {
  const sim::Bar& b = r.times().bars[bar];
  const auto& names = r.block_of(b).names;
  const auto numbers = r.times().numbers_of(b);
  std::vector<std::string> all;
  for (std::size_t k = 0; k < std::min(names.size(), numbers.size()); ++k) {
    all.push_back(names[k] + "=" + std::to_string(numbers[k]));
  }
  return all;
}

std::string bar_name(const RunRecord& r, std::size_t bar) {
  std::string text = group_name(r.trace.work.groups[r.block_of(r.times().bars[bar]).group].label);
  const char* before = " (";
  for (const std::string& v : bar_variables(r, bar)) text += before + v, before = ", ";
  return *before == ',' ? text + ")" : text;
}

std::vector<std::string> bar_slots(const RunRecord& r, std::size_t bar, bool output) {
  const sim::Bar& b = r.times().bars[bar];
  const auto numbers = r.times().numbers_of(b);
  std::size_t at = r.block_of(b).names.size();
  std::vector<std::string> all;
  for (const auto& s : r.block_of(b).slots) {
    std::string text = s.base;
    for (std::size_t k = at; k < at + s.indices; ++k) {
      text += "[" + (k < numbers.size() ? std::to_string(numbers[k]) : "?") + "]";
    }
    at += s.indices;
    if (s.output == output) all.push_back(std::move(text));
  }
  return all;
}

std::vector<Flow> flows(const RunRecord& r) {
  std::vector<Flow> all;
  for (std::size_t i = 0; i < r.times().bars.size(); ++i) {
    const sim::Bar& b = r.times().bars[i];
    for (const sim::Arrival& a : r.times().arrivals_of(b)) {
      const auto& makers = r.bars_of[r.trace.work.fragments[b.fragment].inputs[a.input].fragment];
      // Viewers draw an arrow from what was first.
      if (!makers.empty() && r.times().bars[makers.front()].start < b.start) all.push_back({makers.front(), i});
    }
  }
  return all;
}

}  // namespace tessera::cli
