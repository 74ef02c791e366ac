// The outcome of a study for other programs; docs/simulator.md names the fields.
#include <nlohmann/json.hpp>

#include "cli/simulate/sweep.hpp"

namespace tessera::cli {
namespace {

double seconds(balancer::Time ns) { return static_cast<double>(ns) / 1e9; }

nlohmann::ordered_json row_of(const Points& points, const StudyRow& r) {
  nlohmann::ordered_json j;
  const std::vector<std::string> values = points.values(r.point);
  for (std::size_t i = 0; i < values.size(); ++i) j["sweep"][points.sweeps()[i].key] = values[i];
  j["seed"] = r.seed;
  j["balancer"] = r.balancer;
  j["ranks"] = r.ranks;
  if (!r.outcome) {
    j["error"] = r.why;
    return j;
  }
  const balancer::simulator::Outcome& o = *r.outcome;
  j["executing"] = o.executing;
  j["seconds"] = seconds(o.finished);
  j["bound_seconds"] = seconds(o.bound);
  j["critical_path_seconds"] = seconds(o.critical_path);
  j["work_seconds"] = seconds(o.work);
  if (r.optimum) {
    const auto& best = *r.optimum;
    j["optimum_seconds"] = {{"least", seconds(best.least)}, {"found", seconds(best.found)}, {"proved", best.proved}};
    j["over_optimum"] = r.over_optimum();
  }
  j["efficiency"] = o.efficiency();
  j["imbalance"] = o.imbalance();
  j["fragments"] = o.executed;
  j["messages"] = o.messages;
  j["messages_per_rank"] = r.messages_per_rank();
  j["coordinator_load"] = r.coordinator_load();
  j["shipments"] = o.shipments;
  j["moved"] = o.moved;
  j["bytes_moved"] = o.bytes_moved;
  j["bytes_fetched"] = o.bytes_fetched;
  j["most_moves"] = o.most_moves;
  if (const auto& s = o.sojourns; s.count() > 0) {
    j["sojourn_seconds"] = {{"mean", s.mean() / 1e9},
                            {"median", seconds(s.quantile(0.5))},
                            {"95", seconds(s.quantile(0.95))},
                            {"99", seconds(s.quantile(0.99))},
                            {"longest", seconds(s.longest())}};
  }
  j["events"] = o.events;
  j["result"] = o.result;
  j["decisions"] = o.decisions;
  auto& by_rank = j["by_rank"];
  const auto times = [](const std::vector<balancer::Time>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const balancer::Time t : all) list.push_back(seconds(t));
    return list;
  };
  by_rank["busy_seconds"] = times(o.busy);
  by_rank["end_seconds"] = times(o.ends);
  by_rank["host_seconds"] = times(o.host_busy);
  by_rank["fragments"] = o.items;
  by_rank["messages_received"] = o.received;
  return j;
}

}  // namespace

std::string json_text(const Study& study, const Points& points, const std::vector<StudyRow>& rows) {
  nlohmann::ordered_json j;
  j["version"] = 1;
  j["workload"] = study.workload;
  j["cluster"] = study.cluster_name;
  j["seed"] = study.seed;
  j["runs"] = nlohmann::ordered_json::array();
  for (const StudyRow& r : rows) j["runs"].push_back(row_of(points, r));
  return j.dump(1) + "\n";
}

std::string json_lines(const Study& study, const Points& points, const std::vector<StudyRow>& rows) {
  std::string lines;
  for (const StudyRow& r : rows) {
    nlohmann::ordered_json j;
    j["workload"] = study.workload;
    j["cluster"] = study.cluster_name;
    j.update(row_of(points, r));
    lines += j.dump() + "\n";
  }
  return lines;
}

}  // namespace tessera::cli
