#include "balancer/central/central.hpp"

#include <optional>

#include "balancer/central/coordinator.hpp"
#include "balancer/central/worker.hpp"
#include "balancer/settings.hpp"
#include "balancer/settling/settling.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;
constexpr std::string_view kPlaces[] = {"dedicated", "colocated"};
constexpr std::string_view kPlanners[] = {"mean", "makespan"};

constexpr Parameter kCentralParameters[] = {
    {.name = "coordinator",
     .default_value = "dedicated",
     .help = "dedicated: the last rank balances and runs nothing; colocated: it works as well",
     .kind = Kind::choice,
     .choices = kPlaces},
    {.name = "planner",
     .default_value = "makespan",
     .help = "mean: the source's plan, nobody is filled above the mean load; makespan: the largest "
             "finishing time is minimised",
     .kind = Kind::choice,
     .choices = kPlanners},
    {.name = "jobs_left_threshold",
     .default_value = "auto",
     .help = "seconds of work left on all workers together below which nothing moves (source: 1); "
             "auto: when it costs more to move than to run",
     .may_be_auto = true},
    {.name = "jobs_difference_ratio",
     .default_value = "auto",
     .help = "nothing moves between two workers when (L_from - L_to) / L_from is below this "
             "(source: 0.5); auto: from the measured link and weights",
     .max = 1,
     .may_be_auto = true},
    {.name = "faithful",
     .default_value = "false",
     .help = "true: no new plan until every shipment of the last one is confirmed, as in the source; "
             "false: only pairs of ranks with an unconfirmed shipment wait",
     .kind = Kind::boolean},
    {.name = "transfer_margin",
     .default_value = "auto",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs (source: 1); auto: when it is back before its rank would be done with all it has",
     .max = 1e6,
     .may_be_auto = true},
    {.name = "min_gain",
     .default_value = "auto",
     .help = "seconds by which a message must bring the later of two ranks to its end sooner; auto: "
             "from the measured latency",
     .max = 1e6,
     .may_be_auto = true},
    {.name = "ship_window",
     .default_value = "0.02",
     .help = "seconds of transfer that a rank may have under way, with what fragments no longer than that send "
             "back; more is sent as it arrives, so that idle ranks start soon",
     .min = 1e-6,
     .max = 3600},
    {.name = "plan_interval", .default_value = "0.0005", .help = "seconds between two plans at least", .max = 3600},
    {.name = "report_delay", .default_value = "0.005", .help = "seconds until a small change is reported", .max = 3600},
    {.name = "report_interval",
     .default_value = "0.0005",
     .help = "seconds between two reports of a worker at least",
     .max = 3600},
    {.name = "growing_interval",
     .default_value = "0.0005",
     .help = "the same where fragments make others, whose load says little of what is to come",
     .max = 3600},
    {.name = "report_change",
     .default_value = "0.2",
     .help = "fraction by which the load must change to be reported at once",
     .max = 1},
    {.name = "settle",
     .default_value = "false",
     .help = "true: what is the same in each step of an iteration runs where one plan for all steps has put it",
     .kind = Kind::boolean},
    {.name = "weight_memory",
     .default_value = "1000",
     .help = "completions that the mean weight of a group remembers; 0: all of them, as in the source",
     .kind = Kind::integer,
     .max = 1e15},
};

// Central is one rank: either role or both. Messages between the two roles of one rank do not leave
// it: each is answered at once.
class Central : public Policy {
 public:
  explicit Central(const Setup& setup) : self_(setup.rank) {
    const CentralParameters p = central_parameters(setup.settings);
    const Rank last{setup.ranks - 1};
    const std::int32_t workers = p.colocated ? setup.ranks : setup.ranks - 1;
    if (workers < 2) return;  // nobody to share with: silent
    if (setup.rank != last || p.colocated) worker_.emplace(setup, p, last);
    if (setup.rank == last) coordinator_.emplace(setup, p, Members{Rank{0}, workers});
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
    if (coordinator_) coordinator_->step(now, event, out);
  }

  const Rank self_;
  std::optional<CentralWorker> worker_;
  std::optional<Coordinator> coordinator_;
};

}  // namespace

CentralParameters central_parameters(const Settings& settings) {
  CentralParameters p = planning_parameters(central_info(), settings);
  p.faithful = SettingsReader(central_info(), settings).boolean("faithful");
  if (p.faithful) p.priced = p.settle = false;
  return p;
}

CentralParameters planning_parameters(const PolicyInfo& info, const Settings& settings) {
  const SettingsReader read(info, settings);
  CentralParameters p;
  p.colocated = read.text("coordinator") == "colocated";
  p.makespan = read.text("planner") == "makespan";
  p.weight_memory = read.number("weight_memory");
  p.jobs_left_auto = read.is_auto("jobs_left_threshold");
  if (!p.jobs_left_auto) p.jobs_left_threshold = read.duration("jobs_left_threshold");
  p.difference_auto = read.is_auto("jobs_difference_ratio");
  if (!p.difference_auto) p.jobs_difference_ratio = read.number("jobs_difference_ratio");
  p.priced = read.is_auto("transfer_margin");
  if (!p.priced) p.transfer_margin = read.number("transfer_margin");
  p.min_gain_auto = read.is_auto("min_gain");
  if (!p.min_gain_auto) p.min_gain = read.duration("min_gain");
  p.ship_window = read.duration("ship_window");
  p.plan_interval = read.duration("plan_interval");
  p.report_delay = read.duration("report_delay");
  p.report_interval = read.duration("report_interval");
  p.growing_interval = read.duration("growing_interval");
  p.report_change = read.number("report_change");
  p.settle = read.boolean("settle");
  return p;
}

const PolicyInfo& central_info() {
  static const PolicyInfo info{
      .name = "central",
      .summary = "a coordinator rank plans from measured weights and links",
      .parameters = kCentralParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        const std::int32_t workers = executing_ranks(central_info(), setup.settings, setup.ranks);
        if (!central_parameters(setup.settings).settle || workers < 2) return std::make_unique<Central>(setup);
        return make_settling(std::make_unique<Central>(setup), setup, Rank{setup.ranks - 1}, workers);
      },
      .executing =
          [](const Settings& s, std::int32_t ranks) {
            return setting(central_info(), s, "coordinator") == "dedicated" ? ranks - 1 : ranks;
          },
      .settles = [](const Settings& s) { return central_parameters(s).settle; },
  };
  return info;
}

}  // namespace tessera::balancer
