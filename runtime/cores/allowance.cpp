#include "runtime/cores/allowance.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

namespace tessera::cores {
namespace {

double positive(const char* text) {
  if (text == nullptr) return 0;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  return *end == '\0' && value > 0 && value < 1e6 ? value : 0;
}

Mask affinity() {
  Mask mask;
  cpu_set_t* set = CPU_ALLOC(kMostCores);
  const std::size_t size = CPU_ALLOC_SIZE(kMostCores);
  CPU_ZERO_S(size, set);
  if (sched_getaffinity(0, size, set) == 0) {
    for (std::size_t c = 0; c < kMostCores; ++c) mask[c] = CPU_ISSET_S(c, size, set);
  }
  CPU_FREE(set);
  return mask;
}

}  // namespace

Allowance allowance(const Found& found) {
  Allowance a;
  a.mask = found.mask;
  if (a.mask.none()) a.mask.set(0);
  std::vector<Limit> limits = found.quotas;
  if (found.cpus_per_task > 0) limits.push_back({0, found.cpus_per_task});
  if (found.cpus_on_node > 0) limits.push_back({found.job, found.cpus_on_node});
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& x, const Limit& y) { return x.cores < y.cores; });
  a.limit_count = static_cast<std::uint32_t>(std::min(limits.size(), a.limits.size()));
  std::copy_n(limits.begin(), a.limit_count, a.limits.begin());
  return a;
}

Found find(const std::filesystem::path& root, const Variables& variable) {
  Found found;
  found.mask = affinity();
  found.quotas = quotas_of(root);
  if (variable("SLURM_JOB_ID") == nullptr) return found;
  found.cpus_per_task = positive(variable("SLURM_CPUS_PER_TASK"));
  found.cpus_on_node = positive(variable("SLURM_CPUS_ON_NODE"));
  std::string job = variable("SLURM_JOB_ID");
  if (const char* step = variable("SLURM_STEP_ID")) job += std::string(".") + step;
  found.job = std::hash<std::string>{}("slurm " + job) | 1;
  return found;
}

Allowance find_allowance() {
  return allowance(find("/", [](const char* name) -> const char* { return std::getenv(name); }));
}

}  // namespace tessera::cores
