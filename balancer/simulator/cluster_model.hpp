// ClusterModel: a cluster as a person describes it (configs/clusters/*.toml, docs/simulator.md),
// not yet of a certain number of ranks.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {

struct ClusterModel {
  struct Nodes {  // equal ranks, one after the other
    std::int32_t count = 1;
    double speed = 1;
    std::int32_t cores = 0;  // 0: as many as threads
  };
  std::string name;
  std::string about;
  std::int32_t threads = 1;
  std::vector<Nodes> nodes;  // not empty
  LinkModel link;
  std::int32_t ranks_per_host = 1;
  LinkModel inside_host{1'000, 5e9, 0};
  std::vector<std::int32_t> hosts_per_site;  // empty: one site; the last takes all that are left
  LinkModel between_sites{1'000'000, 1e8, 0};
  std::vector<Tier> tiers;
  Torus torus;
  Processing processing;
  Processing coordinator;
  std::vector<Change> changes;
  std::vector<Rank> absent;

  std::int32_t ranks() const;  // sum of the counts
};

// ClusterError says, for a person, what is wrong with a file: place, what it says, what is allowed.
struct ClusterError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Keys of a cluster file, `link.latency`, and what they are instead of what the file says: `50 us`, `8`.
using ClusterChanges = std::vector<std::pair<std::string, std::string>>;

// load_cluster reads a file. Throws ClusterError.
ClusterModel load_cluster(const std::string& path, const ClusterChanges& changes = {});

// apply_cluster makes the options describe `executing` ranks of the model, and further ones that
// only coordinate. With another number of ranks than the model has, its kinds of nodes keep their
// order and proportions.
void apply_cluster(const ClusterModel&, std::int32_t executing, std::int32_t coordinators, Options&);

}  // namespace tessera::balancer::simulator
