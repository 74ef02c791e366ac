// `queens`: all solutions of N-Queens, an item per partial placement, made while running; of large boards sampled, with
// an item for all that lies below some row.
// `queens_loop`: the same tree as a loop over the placements of the first rows.
#include <algorithm>
#include <bit>
#include <cmath>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

using Kind = Parameter::Kind;
constexpr int kMostQueens = 20;
constexpr int kMostLoopQueens = 24;  // subtrees are not packed
constexpr std::int64_t kSolutions[kMostQueens + 1] = {
    1,    1,     0,     0,      2,       10,       4,        40,        92,         352,        724,
    2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624, 4968057848, 39029188884};

// A placement of the first rows: taken columns, and the diagonals as they cross the next row.
// Packed: 20 bits each.
struct Placement {
  std::uint32_t columns = 0, left = 0, right = 0;

  std::uint64_t packed() const { return columns | std::uint64_t{left} << 20 | std::uint64_t{right} << 40; }
  static Placement unpacked(std::uint64_t p) {
    constexpr std::uint32_t kMask = (1u << 20) - 1;
    return {static_cast<std::uint32_t>(p) & kMask, static_cast<std::uint32_t>(p >> 20) & kMask,
            static_cast<std::uint32_t>(p >> 40) & kMask};
  }
  std::uint32_t free(std::uint32_t all) const { return all & ~(columns | left | right); }
  Placement with(std::uint32_t queen, std::uint32_t all) const {
    return {columns | queen, ((left | queen) << 1) & all, (right | queen) >> 1};
  }
};

std::uint32_t all_columns(int n) { return (1u << n) - 1; }

// Placements under (and with) this one.
std::int64_t count_below(Placement p, std::uint32_t all) {
  std::int64_t nodes = 1;
  for (std::uint32_t free = p.free(all); free != 0; free &= free - 1) {
    nodes += count_below(p.with(free & (~free + 1), all), all);
  }
  return nodes;
}

// Knuth's estimate of the same number, by random descents: their mean is right. And of the solutions among them.
struct Below {
  double placements = 0, solutions = 0;
};
Below estimate_below(Placement start, std::uint32_t all, std::int64_t descents, Random& random) {
  Below sum;
  for (std::int64_t d = 0; d < descents; ++d) {
    Placement p = start;
    double width = 1;
    for (;;) {
      sum.placements += width;
      if (p.columns == all) sum.solutions += width;
      std::uint32_t free = p.free(all);
      const auto choices = static_cast<std::uint32_t>(std::popcount(free));
      if (choices == 0) break;
      width *= choices;
      for (auto skip = random.below(choices); skip > 0; --skip) free &= free - 1;
      p = p.with(free & (~free + 1), all);
    }
  }
  const auto all_descents = static_cast<double>(descents);
  return {sum.placements / all_descents, sum.solutions / all_descents};
}

constexpr std::string_view kEnds[] = {"alternate", "oldest", "newest"};
constexpr Parameter kQueens[] = {
    {.name = "n", .default_value = "14", .help = "queens", .kind = Kind::integer, .min = 1, .max = kMostQueens},
    {.name = "weight",
     .default_value = "1us",
     .help = "of one item: placing the next queen",
     .kind = Kind::duration,
     .min = 1},
    {.name = "ships",
     .default_value = "alternate",
     .help = "what of a rank's list goes when it gives items away: items from all along it, so that halves are "
             "alike, or one end; it runs the newest first",
     .kind = Kind::choice,
     .choices = kEnds},
    {.name = "rows",
     .default_value = "0",
     .help = "sampled: what lies below a placement of so many rows is one item with it, as heavy as random descents "
             "say; 0: the whole tree (16 queens have 10^9 items)",
     .kind = Kind::integer,
     .max = kMostQueens},
    {.name = "descents",
     .default_value = "8",
     .help = "random descents for each such item",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e6},
};

class Queens final : public Program {
 public:
  Queens(const SettingsReader& read, const Surroundings& around)
      : n_(static_cast<int>(read.integer("n"))),
        all_(all_columns(n_)),
        weight_(read.duration("weight")),
        ships_(read.text("ships")),
        rows_(static_cast<int>(read.integer("rows"))),
        descents_(read.integer("descents")),
        seed_(around.seed) {
    groups_.resize(1);
    groups_[0].label = "place at queens.fa:7";
    groups_[0].stealable = groups_[0].bulk = true;
  }

  const std::vector<GroupInfo>& groups() const override { return groups_; }
  std::vector<Births> births() const override { return {{0, Rank{0}, 0, 1}}; }
  void born(const Births& b, Effects& out) override { out.ready(b.rank, item(Placement{})); }
  void finished(Rank here, const Item& done, Effects& out) override {
    const Placement p = Placement::unpacked(done.state);
    if (sampled(p)) {
      solutions_ += below(p).solutions;
      return;
    }
    if (p.columns == all_) {
      ++solutions_;
      return;
    }
    for (std::uint32_t free = p.free(all_); free != 0; free &= free - 1) {
      out.ready(here, item(p.with(free & (~free + 1), all_)));
    }
  }
  bool newest_first(Group) const override { return true; }
  Ships ships() const override {
    return ships_ == "alternate" ? Ships::alternate : ships_ == "newest" ? Ships::newest : Ships::oldest;
  }
  Time critical_path(double speed) const override { return at_speed((n_ + 1) * weight_, speed); }
  std::string result() const override {
    return (rows_ > 0 ? "about " : "") + std::to_string(std::llround(solutions_)) + " solutions";
  }
  std::vector<std::string> faults() const override {
    if (rows_ > 0 || std::llround(solutions_) == kSolutions[n_]) return {};
    return {std::to_string(std::llround(solutions_)) + " solutions instead of " + std::to_string(kSolutions[n_])};
  }

 private:
  Item item(Placement p) const {
    Item i;
    i.state = p.packed();
    i.weight = sampled(p) ? static_cast<Time>(below(p).placements * static_cast<double>(weight_)) : weight_;
    return i;
  }
  // Is all that lies below it one item with it?
  bool sampled(Placement p) const { return rows_ > 0 && std::popcount(p.columns) == rows_; }
  // The same whenever it is asked, and whoever asks.
  Below below(Placement p) const {
    Random random(seed_ ^ p.packed());
    return estimate_below(p, all_, descents_, random);
  }

  int n_;
  std::uint32_t all_;
  Time weight_;
  std::string ships_;
  int rows_;
  std::int64_t descents_;
  std::uint64_t seed_;
  std::vector<GroupInfo> groups_;
  double solutions_ = 0;  // whole numbers are exact up to 2^53
};

constexpr std::string_view kPlacements[] = {"free", "all"};
constexpr Parameter kQueensLoop[] = {
    {.name = "n", .default_value = "14", .help = "queens", .kind = Kind::integer, .min = 4, .max = kMostLoopQueens},
    {.name = "rows",
     .default_value = "3",
     .help = "rows that make one fragment",
     .kind = Kind::integer,
     .min = 1,
     .max = 5},
    {.name = "placements",
     .default_value = "free",
     .help = "which of the first rows make a fragment: those in which no queen attacks another, or `all` n^rows, of "
             "which most weigh next to nothing",
     .kind = Kind::choice,
     .choices = kPlacements},
    {.name = "weight",
     .default_value = "10ns",
     .help = "of one placement below a fragment's",
     .kind = Kind::duration,
     .min = 1},
    {.name = "exact",
     .default_value = "15",
     .help = "up to this n placements are counted one by one (16 takes some 10 s, 17 a minute); "
             "above, each fragment's number is estimated by Knuth's random descents",
     .kind = Kind::integer,
     .max = kMostQueens},
    {.name = "descents",
     .default_value = "2000",
     .help = "random descents per fragment",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e7},
};

// Nothing stands for a placement in which one attacks another: those too, with `attacked`.
void each_prefix(std::optional<Placement> p, int rows, std::uint32_t all, bool attacked,
                 std::vector<std::optional<Placement>>& out) {
  if (rows == 0) {
    out.push_back(p);
    return;
  }
  for (std::uint32_t left = all; left != 0; left &= left - 1) {
    const std::uint32_t column = left & (~left + 1);
    const bool free = p && (p->free(all) & column) != 0;
    if (!free && !attacked) continue;
    each_prefix(free ? std::optional(p->with(column, all)) : std::nullopt, rows - 1, all, attacked, out);
  }
}

Generated queens_loop(const SettingsReader& read, const Surroundings& around) {
  const auto n = static_cast<int>(read.integer("n"));
  const std::uint32_t all = all_columns(n);
  const auto weight = static_cast<double>(read.duration("weight"));
  const bool exact = n <= read.integer("exact");
  Random random(around.seed);
  std::vector<std::optional<Placement>> prefixes;
  each_prefix(Placement{}, static_cast<int>(read.integer("rows")), all, read.text("placements") == "all", prefixes);
  Workload w;
  w.groups.resize(1);
  w.groups[0].label = "subtree at queens.fa:5";
  w.groups[0].stealable = true;
  for (const std::optional<Placement>& p : prefixes) {
    const double nodes = !p      ? 1
                         : exact ? static_cast<double>(count_below(*p, all))
                                 : estimate_below(*p, all, read.integer("descents"), random).placements;
    w.births.push_back({0, Rank{0}, w.add({.group = Group{0}, .weight = static_cast<Time>(nodes * weight)})});
  }
  Generated g;
  g.graph = std::move(w);
  return g;
}

}  // namespace

const WorkloadInfo& queens_workload() {
  static const WorkloadInfo info{"queens", "N-Queens, all solutions, an item per partial placement (Santana)", kQueens,
                                 [](const SettingsReader& read, const Surroundings& around) {
                                   Generated g;
                                   g.program = std::make_unique<Queens>(read, around);
                                   return g;
                                 }};
  return info;
}

const WorkloadInfo& queens_loop_workload() {
  static const WorkloadInfo info{"queens_loop", "N-Queens as a loop over placements of the first rows (De Giusti)",
                                 kQueensLoop, queens_loop};
  return info;
}

}  // namespace tessera::balancer::simulator
