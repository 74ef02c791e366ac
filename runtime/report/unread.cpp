#include "runtime/report/unread.hpp"

#include <fmt/format.h>

#include <map>

#include "runtime/words/describe.hpp"

namespace tessera::runtime {

std::string unread_report(const abi::Program& program, const std::vector<Totals>& by_rank) {
  std::map<std::uint32_t, UnreadCounts> all;
  for (const Totals& t : by_rank) {
    for (const UnreadCounts& u : t.unread) {
      const auto [found, first] = all.try_emplace(u.block, u);
      if (!first) found->second.times += u.times;
    }
  }
  std::string text;
  for (const auto& [block, u] : all) {
    const abi::Block& b = *program.blocks[block];
    text += fmt::format(
        "{}: warning: `req_count` of {} says {} read{}, but there {} only {}, so the value was "
        "kept to the end of its block{} [T413]\n",
        place(program, b.pos), describe(program, b), u.limit, u.limit == 1 ? "" : "s", u.reads == 1 ? "was" : "were",
        u.reads, u.times > 1 ? fmt::format(" (and {} more like it)", u.times - 1) : "");
  }
  return text;
}

}  // namespace tessera::runtime
