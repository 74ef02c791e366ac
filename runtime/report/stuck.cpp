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

bool before(const abi::Id& a, const abi::Id& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }

}  // namespace

Waiting list_waiting(Node& node) {
  // fragment -> its slots that lack a value; a fragment may wait for several.
  std::map<abi::Id, std::pair<abi::Cf*, std::vector<unsigned>>, decltype(&before)> fragments(&before);
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
  std::sort(lines.begin(), lines.end());
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
