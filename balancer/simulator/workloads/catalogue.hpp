// The workloads that have a name: `tessera simulate --workload NAME:parameter=value,...`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/settings.hpp"
#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {

// What a generator may look at besides its parameters.
struct Surroundings {
  std::int32_t executing = 1;  // ranks that run fragments
  std::uint64_t seed = 1;
};

// A graph, or a program that makes its items as it goes; one of the two.
struct Generated {
  std::optional<Workload> graph;
  std::unique_ptr<Program> program;
};

struct WorkloadInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const Parameter> parameters;
  Generated (*make)(const SettingsReader&, const Surroundings&);
};

// The list is a value; no static registration. The functions are in the files of this folder.
const std::vector<WorkloadInfo>& workloads();
const WorkloadInfo* find_workload(std::string_view name);

// A workload as it is asked for: `loop:items=1000,weight=10ms`.
struct WorkloadRequest {
  std::string name;
  Settings settings;
};
// parse_workload reads that; what is no `parameter=value` goes into `wrong`.
WorkloadRequest parse_workload(std::string_view text, std::vector<std::string>& wrong);
// check_workload returns what is wrong with the parameters, for a person.
std::vector<std::string> check_workload(const WorkloadInfo&, const Settings&);
Generated generate(const WorkloadInfo&, const Settings&, const Surroundings&);

// movable_group is what the generators call the items of one statement, which the balancer may move.
GroupInfo movable_group(std::string label);

const WorkloadInfo& loop_workload();
const WorkloadInfo& matmul_workload();
const WorkloadInfo& rowreduce_workload();
const WorkloadInfo& queens_workload();
const WorkloadInfo& queens_loop_workload();
const WorkloadInfo& tree_workload();
const WorkloadInfo& iterate_workload();
const WorkloadInfo& stencil_workload();

}  // namespace tessera::balancer::simulator
