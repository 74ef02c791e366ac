#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

std::string owner(const WorkloadInfo& info) { return "workload '" + std::string(info.name) + "'"; }

}  // namespace

GroupInfo movable_group(std::string label) {
  GroupInfo g;
  g.label = std::move(label);
  g.stealable = true;
  return g;
}

const std::vector<WorkloadInfo>& workloads() {
  static const std::vector<WorkloadInfo> all = {
      loop_workload(),        matmul_workload(), rowreduce_workload(), queens_workload(),
      queens_loop_workload(), tree_workload(),   iterate_workload(),   stencil_workload(),
  };
  return all;
}

const WorkloadInfo* find_workload(std::string_view name) {
  for (const WorkloadInfo& w : workloads()) {
    if (w.name == name) return &w;
  }
  return nullptr;
}

WorkloadRequest parse_workload(std::string_view text, std::vector<std::string>& wrong) {
  WorkloadRequest request;
  const std::size_t colon = text.find(':');
  request.name = text.substr(0, colon);
  if (colon == std::string_view::npos) return request;
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      wrong.push_back("'" + std::string(part) + "' in '" + std::string(text) + "' is no parameter=value");
    } else if (!request.settings.emplace(std::string(part.substr(0, equals)), std::string(part.substr(equals + 1)))
                    .second) {
      wrong.push_back("parameter '" + std::string(part.substr(0, equals)) + "' is given twice in '" +
                      std::string(text) + "'");
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return request;
}

std::vector<std::string> check_workload(const WorkloadInfo& info, const Settings& settings) {
  return check_parameters(owner(info), info.parameters, settings);
}

Generated generate(const WorkloadInfo& info, const Settings& settings, const Surroundings& around) {
  return info.make(SettingsReader(owner(info), info.parameters, settings), around);
}

}  // namespace tessera::balancer::simulator
