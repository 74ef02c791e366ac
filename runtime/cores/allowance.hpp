// Allowance: the processors that this process may use, by whatever limits it: the affinity mask (taskset, cpusets,
// mpirun's and srun's binding), the quotas of its control groups (containers, systemd), and what Slurm says that it was
// given.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace tessera::cores {

inline constexpr std::size_t kMostCores = 8192;  // as Linux
using Mask = std::bitset<kMostCores>;

// A limit in processors, 1.5 say. Processes with the same `id` have it together; 0: it is this process's own.
struct Limit {
  std::uint64_t id = 0;
  double cores = 0;
  friend bool operator==(const Limit&, const Limit&) = default;
};

// Plain bytes: ranks of a host send it to each other. Limits beyond kLimits are those of groups far above; the smallest
// stay.
struct Allowance {
  static constexpr std::size_t kLimits = 8;
  Mask mask;
  std::array<Limit, kLimits> limits{};
  std::uint32_t limit_count = 0;
};

// What was found, and nothing concluded yet.
struct Found {
  Mask mask;                  // empty: it could not be found out
  std::vector<Limit> quotas;  // of the control group and those around it
  double cpus_per_task = 0;   // SLURM_CPUS_PER_TASK, 0: not said
  double cpus_on_node = 0;    // SLURM_CPUS_ON_NODE
  std::uint64_t job = 0;      // that this is of: the Slurm job and step
};

Allowance allowance(const Found&);

using Variables = std::function<const char*(const char* name)>;
// find looks at the files below `root` (/proc, control groups) and the variables; the mask is this thread's.
Found find(const std::filesystem::path& root, const Variables& variable);
// ... of this process as it is now.
Allowance find_allowance();

// quotas_of reads what limits the control group of this process: version 1 and 2, and both at once.
std::vector<Limit> quotas_of(const std::filesystem::path& root);

}  // namespace tessera::cores
