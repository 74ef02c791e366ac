#include "balancer/hierarchical/hierarchical.hpp"

#include <optional>

#include "balancer/central/worker.hpp"
#include "balancer/hierarchical/leaf.hpp"
#include "balancer/hierarchical/root.hpp"
#include "balancer/settings.hpp"
#include "balancer/settling/settling.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;
constexpr std::string_view kHeadPlaces[] = {"dedicated", "colocated"};

constexpr Parameter kHierarchicalParameters[] = {
    {.name = "coordinator",
     .default_value = "dedicated",
     .help = "dedicated: the last ranks coordinate (one for each group, one for all groups) and run "
             "nothing; colocated: they work as well",
     .kind = Kind::choice,
     .choices = kHeadPlaces},
    {.name = "group_size",
     .default_value = "auto",
     .help = "workers of one coordinator at most; with no more than that it is the only one, as in "
             "central; auto: 256, more from 65,536 ranks on",
     .kind = Kind::integer,
     .min = 2,
     .max = 1e6,
     .may_be_auto = true},
    {.name = "group_difference",
     .default_value = "0.1",
     .help = "nothing moves between two groups when (T_from - T_to) / T_from is below this, T being "
             "the time until a group runs dry",
     .max = 1},
    {.name = "group_report_change",
     .default_value = "0.05",
     .help = "fraction by which the load of a group must change to be reported",
     .max = 1},
    {.name = "group_interval",
     .default_value = "0.002",
     .help = "seconds between two reports of a group's coordinator at least",
     .min = 1e-6,
     .max = 3600},
};

// Ours, and those of central that say how a group is balanced.
const std::vector<Parameter>& all_parameters() {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> list(std::begin(kHierarchicalParameters), std::end(kHierarchicalParameters));
    for (const Parameter& p : central_info().parameters) {
      if (p.name != "coordinator" && p.name != "faithful") list.push_back(p);
    }
    return list;
  }();
  return all;
}

// Hierarchical is one rank: worker, leaf, root, or several of them. Messages between roles of one
// rank do not leave it: each is answered at once.
class Hierarchical : public Policy {
 public:
  explicit Hierarchical(const Setup& setup) : self_(setup.rank) {
    const HierarchicalParameters p = hierarchical_parameters(setup.settings);
    const Layout layout = Layout::of(setup.ranks, p.group_size, p.planning.colocated);
    if (layout.workers < 2) return;  // nobody to share with: silent
    if (layout.works(self_)) {
      worker_.emplace(setup, p.planning, layout.leaf(layout.group_of(self_)));
    }
    const std::int32_t group = layout.group_led_by(self_);
    if (group >= 0) leaf_.emplace(setup, p, layout, group);
    if (layout.has_root() && self_ == layout.root()) root_.emplace(p, layout);
  }

  void step(Time now, const Event& event, Actions& out) override {
    Actions mine;
    dispatch(now, event, mine);
    // Messages to this very rank are answered here, in order; `mine` grows while it is read.
    for (std::size_t i = 0; i < mine.size(); ++i) {
      Send* send = std::get_if<Send>(&mine[i]);
      if (send == nullptr || send->to != self_) {
        out.push_back(std::move(mine[i]));
        continue;
      }
      const Received received{self_, std::move(send->message)};
      dispatch(now, received, mine);
    }
  }

 private:
  void dispatch(Time now, const Event& event, Actions& out) {
    if (worker_) worker_->step(now, event, out);
    if (leaf_) leaf_->step(now, event, out);
    if (root_) root_->step(now, event, out);
  }

  const Rank self_;
  std::optional<CentralWorker> worker_;
  std::optional<Leaf> leaf_;
  std::optional<Root> root_;
};

}  // namespace

HierarchicalParameters hierarchical_parameters(const Settings& settings) {
  const SettingsReader read(hierarchical_info(), settings);
  HierarchicalParameters p;
  p.planning = planning_parameters(hierarchical_info(), settings);
  if (!read.is_auto("group_size")) {
    p.group_size = static_cast<std::int32_t>(read.integer("group_size"));
  }
  p.group_difference = read.number("group_difference");
  p.group_report_change = read.number("group_report_change");
  p.group_interval = read.duration("group_interval");
  return p;
}

const PolicyInfo& hierarchical_info() {
  static const PolicyInfo info{
      .name = "hierarchical",
      .summary = "a coordinator for each group of ranks, and one that balances between the groups",
      .parameters = all_parameters(),
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        const std::int32_t workers = executing_ranks(hierarchical_info(), setup.settings, setup.ranks);
        if (!hierarchical_parameters(setup.settings).planning.settle || workers < 2) {
          return std::make_unique<Hierarchical>(setup);
        }
        return make_settling(std::make_unique<Hierarchical>(setup), setup, Rank{setup.ranks - 1}, workers);
      },
      .executing = [](const Settings& s, std::int32_t ranks) -> std::int32_t {
        const HierarchicalParameters p = hierarchical_parameters(s);
        return Layout::of(ranks, p.group_size, p.planning.colocated).workers;
      },
      .settles = [](const Settings& s) { return hierarchical_parameters(s).planning.settle; },
  };
  return info;
}

}  // namespace tessera::balancer
