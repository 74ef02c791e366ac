// `tree`: an unbalanced tree, every node an item that makes its children; as in the UTS benchmark,
// the shape is a function of the seed alone.
#include <algorithm>
#include <cmath>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"
#include "balancer/simulator/workloads/weights.hpp"

namespace tessera::balancer::simulator {
namespace {

using Kind = Parameter::Kind;
constexpr std::string_view kShapes[] = {"geometric", "binomial"};
constexpr std::string_view kOrders[] = {"newest", "oldest"};
constexpr Parameter kTreeParameters[] = {
    {.name = "tree",
     .default_value = "geometric",
     .help = "`geometric`: the number of children is geometric with mean `branching`, none from "
             "`depth` on; `binomial`: the root has `roots` children, any other node `branching` "
             "with probability `chance`, else none",
     .kind = Kind::choice,
     .choices = kShapes},
    {.name = "branching", .default_value = "4", .help = "see `tree`", .min = 0.1, .max = 1000},
    {.name = "depth", .default_value = "8", .help = "of `geometric`", .kind = Kind::integer, .max = 10'000},
    {.name = "roots", .default_value = "2000", .help = "of `binomial`", .kind = Kind::integer, .max = 1e7},
    {.name = "chance", .default_value = "0.24", .help = "of `binomial`; branching x chance < 1", .max = 1},
    TESSERA_WEIGHT_PARAMETERS("1ms"),
    {.name = "bytes", .default_value = "0", .help = "inputs that travel with a node", .kind = Kind::bytes},
    {.name = "runs",
     .default_value = "newest",
     .help = "which of its nodes a rank runs first",
     .kind = Kind::choice,
     .choices = kOrders},
    {.name = "limit",
     .default_value = "100000000",
     .help = "nodes after which no more are made",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e12},
};

class Tree final : public Program {
 public:
  Tree(const SettingsReader& read, const Surroundings& around)
      : seed_(around.seed),
        geometric_(read.text("tree") == "geometric"),
        newest_(read.text("runs") == "newest"),
        branching_(read.number("branching")),
        chance_(read.number("chance")),
        depth_(static_cast<std::uint32_t>(read.integer("depth"))),
        roots_(read.integer("roots")),
        bytes_(read.bytes("bytes")),
        limit_(read.integer("limit")),
        weight_(read, around.seed) {
    groups_.resize(1);
    groups_[0].label = "node at tree.fa:3";
    groups_[0].stealable = groups_[0].bulk = true;
  }

  const std::vector<GroupInfo>& groups() const override { return groups_; }
  std::vector<Births> births() const override { return {{0, Rank{0}, 0, 1}}; }
  void born(const Births& b, Effects& out) override { out.ready(b.rank, item(Random(seed_).next(), 0)); }
  void finished(Rank here, const Item& done, Effects& out) override {
    ++nodes_;
    deepest_ = std::max(deepest_, done.extra);
    heaviest_ = std::max(heaviest_, done.weight);
    Random random(done.state);
    const std::int64_t children = std::min(count(done.extra, random), limit_ - made_);
    for (std::int64_t c = 0; c < children; ++c) {
      out.ready(here, item(random.next(), done.extra + 1));
    }
  }
  bool newest_first(Group) const override { return newest_; }
  bool has_data() const override { return bytes_ > 0; }
  std::int64_t bytes_here(const Item&, Rank) override { return bytes_; }
  std::int64_t board(const Item&, Rank, Rank, Effects&) override { return bytes_; }
  std::string result() const override {
    return std::to_string(nodes_) + " nodes, " + std::to_string(deepest_ + 1) + " deep";
  }
  // The heaviest node or, if all weigh the same, the longest chain: a bound from below.
  Time critical_path(double speed) const override {
    return at_speed(same_ ? heaviest_ * (deepest_ + 1) : heaviest_, speed);
  }

 private:
  std::int64_t count(std::uint32_t depth, Random& random) const {
    if (geometric_) {
      if (depth >= depth_) return 0;
      const double stop = 1 / (1 + branching_);
      return static_cast<std::int64_t>(std::log(1 - random.unit()) / std::log(1 - stop));
    }
    if (depth == 0) return roots_;
    return random.unit() < chance_ ? static_cast<std::int64_t>(branching_) : 0;
  }
  Item item(std::uint64_t state, std::uint32_t depth) {
    ++made_;
    Item i;
    i.state = state;
    i.extra = depth;
    i.weight = weight_(state);
    same_ = same_ && (made_ == 1 || i.weight == last_);
    last_ = i.weight;
    return i;
  }

  std::uint64_t seed_;
  bool geometric_, newest_;
  double branching_, chance_;
  std::uint32_t depth_;
  std::int64_t roots_, bytes_, limit_;
  WeightLaw weight_;
  std::vector<GroupInfo> groups_;
  std::int64_t made_ = 0, nodes_ = 0;
  std::uint32_t deepest_ = 0;
  Time heaviest_ = 0, last_ = 0;
  bool same_ = true;
};

}  // namespace

const WorkloadInfo& tree_workload() {
  static const WorkloadInfo info{"tree", "an unbalanced tree whose nodes are made while running", kTreeParameters,
                                 [](const SettingsReader& read, const Surroundings& around) {
                                   Generated g;
                                   g.program = std::make_unique<Tree>(read, around);
                                   return g;
                                 }};
  return info;
}

}  // namespace tessera::balancer::simulator
