#include "runtime/report/stuck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"

namespace tessera::runtime {
namespace {

// Numbers by their values: f(9) before f(10).
bool before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](const std::string& s, std::size_t at) {
    const auto from = s.begin() + static_cast<std::ptrdiff_t>(at);
    return std::find_if_not(from, s.end(), digit) - from;
  };
  std::size_t at = 0;  // the same up to here in both
  while (at < std::min(a.size(), b.size())) {
    const auto m = number(a, at), n = number(b, at);
    if (m > 0 && n > 0 && m != n) return m < n;
    const auto length = static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::min(m, n), 1));
    const int order = a.compare(at, length, b, at, length);
    if (order != 0) return order < 0;
    at += length;
  }
  return a.size() < b.size();
}
bool before(const abi::Id& a, const abi::Id& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }

}  // namespace

Waiting list_waiting(Node& node) {
  // fragment -> its slots that lack a value; a fragment may wait for several.
  std::map<abi::Id, std::pair<abi::Cf*, std::vector<unsigned>>, bool (*)(const abi::Id&, const abi::Id&)> fragments(&before);
  for (Shard& shard : node.data.table().shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      for (std::uint64_t link = e.waiters; link != 0;) {
        const Waiter w = waiter_of(link);
        link = slot_word(w.cf, w.slot);
        auto& [cf, slots] = fragments[w.cf->id];
        cf = w.cf;
        slots.push_back(w.slot);
      }
    });
  }
  Waiting m;
  m.count = static_cast<std::int64_t>(fragments.size());
  for (auto& [id, fragment] : fragments) {
    if (m.lines.size() == kMostLines) break;
    auto& [cf, slots] = fragment;
    std::sort(slots.begin(), slots.end());
    std::string text;
    for (const unsigned s : slots) {
      const char* producers = cf->block->slots[s].producers;
      text += fmt::format("{}`{}` ({})", text.empty() ? "" : ", and for ", slot_text(cf, s),
                          producers == nullptr ? "nothing assigns it" : producers);
    }
    m.lines.push_back(fmt::format("  {}\n      waits for {}", describe(node.program, cf), text));
  }
  return m;
}

std::string stuck_report(const abi::Program& program, std::int64_t count,
                         std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) { return before(a, b); });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  std::string text = fmt::format(
      "{}: error: the program cannot finish: {} fragment{} wait{} for data that nothing will "
      "produce [T401]\n  System is idle, but unfinished CFs: {}\n",
      program.name, count, count == 1 ? "" : "s", count == 1 ? "s" : "", count);
  for (const std::string& line : lines) text += line + "\n";
  if (count > static_cast<std::int64_t>(lines.size())) {
    text += fmt::format("  ... and {} more\n", count - static_cast<std::int64_t>(lines.size()));
  }
  return text;
}

}  // namespace tessera::runtime
