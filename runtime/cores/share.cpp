#include "runtime/cores/share.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::cores {
namespace {

// Thirds that add up to one.
std::int32_t whole(double cores) { return static_cast<std::int32_t>(std::floor(cores + 1e-6)); }

// How many working ranks may use each core, and have each limit.
struct Users {
  std::vector<std::int32_t> of_core = std::vector<std::int32_t>(kMostCores);
  std::map<std::uint64_t, std::int32_t> of_limit;

  explicit Users(const std::vector<HostRank>& host) {
    for (const HostRank& r : host) {
      if (!r.works) continue;
      const Allowance& a = r.allowed;
      for (std::size_t c = a.mask._Find_first(); c < kMostCores; c = a.mask._Find_next(c)) ++of_core[c];
      for (std::uint32_t i = 0; i < a.limit_count; ++i) ++of_limit[a.limits[i].id];
    }
  }
  double cores_of(const Allowance& mine) const {
    double cores = 0;
    for (std::size_t c = mine.mask._Find_first(); c < kMostCores; c = mine.mask._Find_next(c))
      cores += 1.0 / std::max(1, of_core[c]);
    for (std::uint32_t i = 0; i < mine.limit_count; ++i) {
      const auto found = of_limit.find(mine.limits[i].id);
      const bool alone = mine.limits[i].id == 0 || found == of_limit.end();
      cores = std::min(cores, mine.limits[i].cores / (alone ? 1 : found->second));
    }
    return cores;
  }
};

// All cores of the host that its ranks may use.
std::int32_t all_cores(const std::vector<HostRank>& host, const Users& users) {
  double sum = 0;
  for (const HostRank& r : host) {
    if (r.works) sum += users.cores_of(r.allowed);
  }
  return whole(sum);
}

}  // namespace

Share share_host(const std::vector<HostRank>& host, std::size_t self, std::int32_t threads) {
  const Users users(host);
  const auto threads_of = [&](const HostRank& r) {
    return threads > 0 ? threads : std::max(1, whole(users.cores_of(r.allowed)));
  };
  std::int64_t all = 0;
  for (const HostRank& r : host) all += threads_of(r);
  const std::int64_t cores = std::max(1, all_cores(host, users));
  return {threads_of(host[self]), all <= cores, all < cores};
}

bool core_for_each_rank(std::vector<HostRank> host) {
  for (HostRank& r : host) r.works = true;
  return all_cores(host, Users(host)) >= static_cast<std::int32_t>(host.size());
}

}  // namespace tessera::cores
