// RunData: what a page has of a run, as page/data.js takes it. Items are the runs of kernels, worker by worker; times
// are in ticks of so many ns that 32 bits are enough, and that a million items fit into a page of 5 MB.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/report/columns.hpp"
#include "cli/report/run_record.hpp"

namespace tessera::cli {

class RunData {
 public:
  explicit RunData(const RunRecord&);
  nlohmann::json json();

 private:
  using Numbers = std::vector<std::uint32_t>;
  std::uint32_t ticks(Time) const;  // so long
  std::uint32_t at(Time t) const { return ticks(t - r_.from()); }
  void about(nlohmann::json&) const;
  void put_groups(nlohmann::json&) const;
  void put_items();
  void put_inputs();
  void put_numbers();
  void put_spans();
  void put_path(nlohmann::json&);
  void put_moves();
  void put_decisions(nlohmann::json&) const;
  void put_charts();
  void put_memory();
  nlohmann::json traffic() const;

  const RunRecord& r_;
  const balancer::simulator::Times& t_;
  Time tick_ = 1;
  std::vector<std::size_t> items_;      // bars
  std::vector<std::uint32_t> item_of_;  // by bar: 1 + its item
  Columns columns_;
};

}  // namespace tessera::cli
