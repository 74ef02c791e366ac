// --sweep: a parameter of the workload, the cluster or the balancers takes several values, one after the other.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/study.hpp"

namespace tessera::cli {

struct ParameterSweep {
  enum class Of { workload, cluster, balancer };
  std::string key;  // as it was asked for
  Of of = Of::workload;
  std::string parameter;
  std::vector<std::string> values;  // not empty
};

// `workload.items=1000,2000`, `cluster.link.latency=50us..800us*2`, `patience=0,1ms`: a key without `workload.`,
// `cluster.` or `balancer.` is a parameter of the workload or of a balancer. Throws a usage error.
ParameterSweep parse_sweep(const std::string& text, const Study&);

// All combinations of the values, those of the last sweep changing first. No sweeps: one point, without values.
class Points {
 public:
  // Throws a usage error when a value is not allowed.
  Points(std::vector<ParameterSweep> sweeps, const Study&);

  const std::vector<ParameterSweep>& sweeps() const { return sweeps_; }
  std::size_t count() const;
  std::vector<std::string> values(std::size_t point) const;  // one of each sweep
  void apply(std::size_t point, Study&) const;

 private:
  std::vector<ParameterSweep> sweeps_;
};

}  // namespace tessera::cli
