#include "runtime/data/untold.hpp"

#include <utility>

#include "runtime/comm/communicator.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kTellEvery = std::chrono::milliseconds(1);

}  // namespace

void Untold::tell(Communicator& comm, Clock::time_point now, bool all) {
  if (!any_.load(std::memory_order_relaxed) || (!all && now < next_)) return;
  next_ = now + kTellEvery;
  std::map<Rank, Told> told;
  {
    const std::lock_guard hold(mutex_);
    told.swap(told_);
    any_.store(false, std::memory_order_relaxed);
  }
  for (auto& [rank, what] : told) {
    if (!what.used.read.empty() || !what.used.used_up.empty()) comm.send(rank, std::move(what.used));
    if (!what.drop.ids.empty() || !what.drop.passed.empty()) comm.send(rank, std::move(what.drop));
  }
}

}  // namespace tessera::runtime
