#include "runtime/report/totals.hpp"

#include <map>

#include "runtime/work/births.hpp"

namespace tessera::runtime {

std::vector<GroupTotals> merge_groups(const std::vector<Totals>& ranks) {
  std::map<std::uint32_t, GroupTotals> all;
  for (const Totals& t : ranks) {
    for (const GroupTotals& g : t.groups) {
      GroupTotals& m = all[g.group];
      m.group = g.group;
      const auto n = static_cast<double>(g.count), before = static_cast<double>(m.count);
      const double delta = g.weight - m.weight;
      const double sum = n + before;
      Births::merge(m.births, g.births);
      if (sum == 0) continue;
      m.variance = (m.variance * before + g.variance * n + delta * delta * n * before / sum) / sum;
      m.weight += delta * n / sum;
      m.count += g.count;
      m.moved_away += g.moved_away;
      m.followed += g.followed;
      m.bytes += g.bytes;
    }
  }
  std::vector<GroupTotals> list;
  for (auto& [group, totals] : all) list.push_back(totals);
  return list;
}

}  // namespace tessera::runtime
