// The outcome of a study as CSV (RFC 4180), a run a row; docs/simulator.md names the columns.
#include <fmt/format.h>

#include "cli/simulate/sweep.hpp"

namespace tessera::cli {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// Five columns; empty where nothing came while others ran.
std::string sojourns(const balancer::simulator::Sojourns& s) {
  if (s.count() == 0) return ",,,,";
  const auto seconds = [](double ns) { return fmt::format("{}", ns / 1e9); };
  std::string text = seconds(s.mean());
  for (const double share : {0.5, 0.95, 0.99}) text += "," + seconds(static_cast<double>(s.quantile(share)));
  return text + "," + seconds(static_cast<double>(s.longest()));
}

}  // namespace

std::string csv_text(const Study& study, const Points& points, const std::vector<StudyRow>& rows) {
  std::string out = "workload,cluster";
  for (const ParameterSweep& s : points.sweeps()) out += "," + field(s.key);
  out +=
      ",seed,balancer,ranks,executing,seconds,bound_seconds,work_seconds,efficiency,imbalance,fragments,messages,"
      "coordinator_load,shipments,moved,"
      "bytes_moved,bytes_fetched,most_moves,sojourn_mean,sojourn_median,sojourn_95,sojourn_99,sojourn_longest,optimum_"
      "least,optimum_found,error\n";
  for (const StudyRow& r : rows) {
    out += field(study.workload) + "," + field(study.cluster_name);
    for (const std::string& value : points.values(r.point)) out += "," + field(value);
    out += fmt::format(",{},{},{}", r.seed, r.balancer, r.ranks);
    if (!r.outcome) {
      out += ",,,,,,,,,,,,,,,,,,,,,," + field(r.why) + "\n";
      continue;
    }
    const balancer::simulator::Outcome& o = *r.outcome;
    const auto seconds = [](balancer::Time ns) { return static_cast<double>(ns) / 1e9; };
    out += fmt::format(",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\n", o.executing, seconds(o.finished),
                       seconds(o.bound), seconds(o.work), o.efficiency(), o.imbalance(), o.executed, o.messages,
                       r.coordinator_load(), o.shipments, o.moved, o.bytes_moved, o.bytes_fetched, o.most_moves,
                       sojourns(o.sojourns),
                       r.optimum ? fmt::format("{},{}", seconds(r.optimum->least), seconds(r.optimum->found)) : ",");
  }
  return out;
}

}  // namespace tessera::cli
