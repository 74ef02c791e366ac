// What `simulate` and `advise` are given on the command line. All of it is checked before anything is simulated;
// mistakes are thrown as usage errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/simulate/study.hpp"

namespace tessera::cli {

// "; did you mean `near`?", or else `otherwise` after a semicolon.
std::string guess(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise);

std::filesystem::path clusters_folder();
std::vector<std::string> cluster_names();
// A name of these, or a file; with other values of some keys.
balancer::simulator::ClusterModel find_cluster(const std::string& name,
                                               const balancer::simulator::ClusterChanges& changes = {});

// A policy, or a file of configs/balancer by its name (`central-faithful`). Throws a usage error.
Study::Balancer find_balancer(const std::string& name);

// A trace's file, or NAME:parameter=value,... of a generated workload.
void find_workload(const std::string& asked, Study& study);

// `2,4,8`, `2..16`, `2..1024*2` (times two each).
std::vector<std::int32_t> parse_counts(const std::string& text, const std::string& option);

}  // namespace tessera::cli
