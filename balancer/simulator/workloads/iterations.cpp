// `iterate`: parts that are all updated, then a barrier, again and again. `stencil`: parts that
// only wait for their neighbours.
#include <algorithm>
#include <cmath>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

using Kind = Parameter::Kind;
constexpr std::string_view kPatterns[] = {"slope", "step", "random", "equal"};
constexpr std::string_view kHomes[] = {"blocks", "first", "follow"};

#define TESSERA_PART_PARAMETERS                                                                                      \
  {.name = "iterations", .default_value = "20", .help = "how many", .kind = Kind::integer, .min = 1, .max = 1e6},    \
      {.name = "weight", .default_value = "10ms", .help = "mean weight of updating a part", .kind = Kind::duration}, \
      {.name = "skew", .default_value = "4", .help = "heaviest part over lightest", .min = 1, .max = 1e6},           \
      {.name = "pattern",                                                                                            \
       .default_value = "slope",                                                                                     \
       .help =                                                                                                       \
           "how weights lie: a `slope` over the parts, a `step` (the first half heavy), "                            \
           "`random` places, or all `equal`; a part keeps its weight",                                               \
       .kind = Kind::choice,                                                                                         \
       .choices = kPatterns},                                                                                        \
      {.name = "state",                                                                                              \
       .default_value = "100kB",                                                                                     \
       .help = "bytes of a part, needed by its next update",                                                         \
       .kind = Kind::bytes},                                                                                         \
      {.name = "home",                                                                                               \
       .default_value = "blocks",                                                                                    \
       .help =                                                                                                       \
           "where an update is created: parts lie on the ranks in `blocks`, all on the "                             \
           "`first`, or `follow` the rank that ran their last update",                                               \
       .kind = Kind::choice,                                                                                         \
       .choices = kHomes},                                                                                           \
      {.name = "drift",                                                                                              \
       .default_value = "0",                                                                                         \
       .help = "parts by which the weights move along the parts in each iteration",                                  \
       .max = 1e6},                                                                                                  \
  {                                                                                                                  \
    .name = "series", .default_value = "false",                                                                      \
    .help = "true: what the balancer has moved of a part, its next updates follow", .kind = Kind::boolean            \
  }

constexpr Parameter kIterate[] = {
    {.name = "parts", .default_value = "64", .help = "parts", .kind = Kind::integer, .min = 1, .max = 1e7},
    {.name = "kept",
     .default_value = "0",
     .help = "bytes that each update of a part reads, made where the part lies before the first one",
     .kind = Kind::bytes},
    {.name = "shared", .default_value = "8", .help = "bytes of a barrier, which all updates read", .kind = Kind::bytes},
    {.name = "barrier",
     .default_value = "true",
     .help = "false: a part waits for nothing but its own last update, parts are chains",
     .kind = Kind::boolean},
    TESSERA_PART_PARAMETERS,
};
constexpr Parameter kStencil[] = {
    {.name = "width", .default_value = "64", .help = "parts in a row", .kind = Kind::integer, .min = 1, .max = 1e6},
    {.name = "height",
     .default_value = "1",
     .help = "rows of parts; above 1 it is a 2D stencil",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e6},
    {.name = "halo", .default_value = "8kB", .help = "bytes that a neighbour needs of a part", .kind = Kind::bytes},
    TESSERA_PART_PARAMETERS,
};

// The parts of an iterative program: how heavy, and where.
class Parts {
 public:
  Parts(const SettingsReader& read, const Surroundings& around, std::size_t count)
      : home_(read.text("home")),
        state_(read.bytes("state")),
        series_(read.boolean("series")),
        drift_(read.number("drift")),
        executing_(static_cast<std::size_t>(around.executing)),
        count_(count) {
    const std::string pattern = read.text("pattern");
    const double skew = read.number("skew");
    Random random(around.seed);
    double sum = 0;
    std::vector<double> weights;
    for (std::size_t p = 0; p < count; ++p) {
      const double x = count > 1 ? static_cast<double>(p) / static_cast<double>(count - 1) : 0;
      const double heavy = pattern == "slope"   ? 1 - x
                           : pattern == "step"  ? (2 * p < count ? 1 : 0)
                           : pattern == "equal" ? 0
                                                : random.unit();
      weights.push_back(1 + heavy * (skew - 1));
      sum += weights.back();
    }
    const double mean = static_cast<double>(read.duration("weight"));
    for (const double x : weights) {
      weights_.push_back(static_cast<Time>(x / sum * static_cast<double>(count) * mean));
    }
  }

  std::size_t count() const { return count_; }
  // In iteration t; between two parts as much of each as it has come.
  Time weight(std::size_t part, std::int64_t t) const {
    if (drift_ == 0) return weights_[part];
    const double at = static_cast<double>(part) + static_cast<double>(t) * drift_;
    const auto first = static_cast<std::size_t>(at);
    const double share = at - static_cast<double>(first);
    const Time a = weights_[first % count_], b = weights_[(first + 1) % count_];
    return a + static_cast<Time>(share * static_cast<double>(b - a));
  }
  std::int64_t state() const { return state_; }
  bool follows() const { return home_ == "follow"; }
  Rank place(std::size_t part) const {
    if (home_ == "first") return Rank{0};
    return Rank{static_cast<std::int32_t>(part * executing_ / count_)};
  }
  // Adds the update of a part, after its `previous` (none: the first).
  std::size_t add(Workload& w, std::size_t part, std::int64_t t, const std::size_t* previous,
                  std::vector<Input> inputs) const {
    Fragment f{.group = Group{0}, .weight = weight(part, t), .output = state_};
    f.inputs = std::move(inputs);
    if (previous != nullptr) f.inputs.push_back({*previous, state_});
    if (previous == nullptr || !follows()) f.home = place(part);
    if (series_) f.series = static_cast<std::uint32_t>(part + 1);
    const std::size_t number = w.add(std::move(f));
    if (previous != nullptr && follows()) {
      w.fragments[*previous].children.push_back(number);
    } else {
      w.births.push_back({0, place(part), number});
    }
    return number;
  }

 private:
  std::string home_;
  std::int64_t state_;
  bool series_;
  double drift_;
  std::size_t executing_, count_;
  std::vector<Time> weights_;
};

constexpr Time kBarrier = 1'000;

Generated iterate(const SettingsReader& read, const Surroundings& around) {
  const Parts parts(read, around, static_cast<std::size_t>(read.integer("parts")));
  const std::int64_t iterations = read.integer("iterations");
  const bool with_barrier = read.boolean("barrier");
  Workload w;
  w.groups = {movable_group("update at iterate.fa:9"), movable_group("barrier at iterate.fa:14")};
  const std::int64_t kept = read.bytes("kept"), shared = read.bytes("shared");
  std::vector<std::size_t> kept_of;
  for (std::size_t p = 0; kept > 0 && p < parts.count(); ++p) {
    kept_of.push_back(w.add({.group = Group{1}, .weight = kBarrier, .output = kept, .home = parts.place(p)}));
    w.births.push_back({0, parts.place(p), kept_of.back()});
  }
  std::vector<std::size_t> last(parts.count());
  std::size_t barrier = 0;
  for (std::int64_t t = 0; t < iterations; ++t) {
    Fragment next{.group = Group{1}, .weight = kBarrier, .output = shared, .home = Rank{0}};
    for (std::size_t p = 0; p < parts.count(); ++p) {
      std::vector<Input> inputs;
      if (t > 0 && with_barrier) inputs.push_back({barrier, shared});
      if (kept > 0) inputs.push_back({kept_of[p], kept});
      last[p] = parts.add(w, p, t, t > 0 ? &last[p] : nullptr, std::move(inputs));
      next.inputs.push_back({last[p], 8});
    }
    if (!with_barrier) continue;
    barrier = w.add(std::move(next));
    w.births.push_back({0, Rank{0}, barrier});
  }
  Generated g;
  g.graph = std::move(w);
  return g;
}

Generated stencil(const SettingsReader& read, const Surroundings& around) {
  const auto width = static_cast<std::size_t>(read.integer("width"));
  const auto height = static_cast<std::size_t>(read.integer("height"));
  const Parts parts(read, around, width * height);
  const std::int64_t halo = read.bytes("halo"), iterations = read.integer("iterations");
  Workload w;
  w.groups = {movable_group("update at stencil.fa:9")};
  std::vector<std::size_t> last(parts.count()), now(parts.count());
  for (std::int64_t t = 0; t < iterations; ++t) {
    for (std::size_t p = 0; p < parts.count(); ++p) {
      const std::size_t x = p % width, y = p / width;
      std::vector<Input> neighbours;
      if (t > 0) {
        if (x > 0) neighbours.push_back({last[p - 1], halo});
        if (x + 1 < width) neighbours.push_back({last[p + 1], halo});
        if (y > 0) neighbours.push_back({last[p - width], halo});
        if (y + 1 < height) neighbours.push_back({last[p + width], halo});
      }
      now[p] = parts.add(w, p, t, t > 0 ? &last[p] : nullptr, std::move(neighbours));
    }
    last.swap(now);
  }
  Generated g;
  g.graph = std::move(w);
  return g;
}

}  // namespace

const WorkloadInfo& iterate_workload() {
  static const WorkloadInfo info{"iterate",
                                 "iterations over parts of lasting uneven weights, with a barrier between or without",
                                 kIterate, iterate};
  return info;
}

const WorkloadInfo& stencil_workload() {
  static const WorkloadInfo info{"stencil", "a 1D or 2D stencil: a part waits for its neighbours only", kStencil,
                                 stencil};
  return info;
}

}  // namespace tessera::balancer::simulator
