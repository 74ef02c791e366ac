#include "balancer/central/plan_price.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tessera::balancer {
namespace {

// So little goes at its latency.
constexpr std::int64_t kNoMatter = 256;
// Turns of a move, at most.
constexpr std::int64_t kTurns = 8;
// Ways whose times differ by less than this factor are alike.
constexpr double kFurther = 4;

class Pricer {
 public:
  Pricer(const std::vector<Load>& loads, const Ways& ways, Plan& plan) : loads_(loads), ways_(ways), plan_(plan) {
    for (const Load& load : loads) ends_.push_back({load.finish(), load.capacity});
  }

  void cut() {
    const Plan asked = plan_;
    std::vector<std::size_t> going;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (!loads_[plan_[i].from].receives) continue;
      for (GroupCount& f : plan_[i].fragments) f.count = 0;
      going.push_back(i);
    }
    while (!going.empty()) {
      std::erase_if(going, [&](std::size_t i) { return !turn(plan_[i], asked[i]); });
    }
    for (Move& m : plan_) std::erase_if(m.fragments, [](const GroupCount& f) { return f.count <= 0; });
    std::erase_if(plan_, [](const Move& m) { return m.fragments.empty(); });
  }

 private:
  // turn lets a move have some more of what it asked for; false: it has all that it gets.
  bool turn(Move& m, const Move& asked) {
    const Link& link = ways_.link(m.from, m.to);
    for (std::size_t k = 0; k < m.fragments.size(); ++k) {
      GroupCount& f = m.fragments[k];
      const std::int64_t wanted = asked.fragments[k].count, left = wanted - f.count;
      const GroupWork* g = loads_[m.from].find(f.group);
      if (left <= 0 || g == nullptr) continue;
      std::int64_t most = left, bytes = g->bytes;
      if (ways_.bytes) {
        const std::int64_t usual = ways_.usual(m.to, f.group);
        const bool like_those = f.count < usual;
        if (like_those) most = std::min(left, usual - f.count);
        bytes = like_those ? ways_.bytes(m.to, *g, 1) : ways_.bytes(m.to, *g, usual + 1) - ways_.bytes(m.to, *g, usual);
      }
      const std::int64_t some = bytes <= kNoMatter ? most : std::min(most, std::max<std::int64_t>(1, wanted / kTurns));
      const Lot lot = lot_of(some, g->weight, bytes - g->outputs, g->outputs, link, ways_.order);
      const std::int64_t n =
          affordable(lot, 0, staying(m.from, lot, bytes - g->outputs), ends_[m.to], line(m.from, m.to));
      f.count += n;
      if (n == some) return true;
    }
    return false;
  }

  LineUse& line(std::size_t from, std::size_t to) {
    const std::int64_t number = ways_.line(from, to);
    const auto [it, first] = lines_.try_emplace(number);
    if (first) it->second = ways_.use(number);
    return it->second;
  }

  // Who would have to do it if it did not go that far: its source, with those who are much nearer.
  Computing& staying(std::size_t from, const Lot& lot, std::int64_t inputs) {
    const double takes = lot.latency + lot.out;
    const int distance = static_cast<int>(std::log(std::max(1.0, takes)) / std::log(kFurther));
    const auto [it, first] = staying_.try_emplace({from, distance}, ends_[from]);
    if (!first) return it->second;
    double work = 0, capacity = 0, nearest = 0;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const Link& link = ways_.link(from, i);
      const auto there = static_cast<double>(transfer_time(link, inputs));
      if (i != from && (!loads_[i].receives || !link.measured || there * kFurther > takes)) continue;
      if (i != from) nearest = std::max(nearest, static_cast<double>(ways_.order) + there + lot.work);
      work += loads_[i].finish() * loads_[i].capacity;
      capacity += loads_[i].capacity;
    }
    if (capacity > ends_[from].capacity) {
      it->second = {std::min(ends_[from].finish, std::max(work / capacity, nearest)), capacity};
    }
    return it->second;
  }

  const std::vector<Load>& loads_;
  const Ways& ways_;
  Plan& plan_;
  std::vector<Computing> ends_;
  std::map<std::int64_t, LineUse> lines_;
  std::map<std::pair<std::size_t, int>, Computing> staying_;
};

}  // namespace

void cut_to_price(const std::vector<Load>& loads, const Ways& ways, Plan& plan) { Pricer(loads, ways, plan).cut(); }

}  // namespace tessera::balancer
