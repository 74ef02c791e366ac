#include "runtime/balance/link_meter.hpp"

#include <algorithm>
#include <array>

#include "runtime/comm/communicator.hpp"

namespace tessera::runtime {
namespace {

// Payload bytes of each step; zero: latency.
constexpr std::array<std::uint64_t, 7> kSteps{0, 0, 0, 0, 16 << 10, 256 << 10, 1 << 20};

}  // namespace

void LinkMeter::start(std::int32_t worker_ranks) {
  const std::int32_t self = balancer::index(self_);
  if (self >= worker_ranks) return;
  for (std::int32_t d = 1; d < worker_ranks; d *= 2) {
    const Rank peer{(self + d) % worker_ranks};
    if (peer == self_) continue;
    probe(peer, states_[peer]);
  }
}

void LinkMeter::probe(Rank peer, State& s) {
  LinkProbe p;
  p.number = s.step;
  if (kSteps[s.step] != 0) p.payload.value = ValueRef(abi::value_bytes(kSteps[s.step]));
  s.sent = Clock::now();
  comm_.send(peer, p);
}

void LinkMeter::on(Rank from, LinkProbe&& p) {
  if (!p.echo) {
    LinkProbe echo;
    echo.number = p.number;
    echo.echo = true;
    return comm_.send(from, echo);
  }
  State& s = states_[from];
  if (p.number != s.step || s.step >= kSteps.size()) return;
  const std::int64_t took = (Clock::now() - s.sent).count();
  if (kSteps[s.step] == 0) {
    s.round_trip = std::min(s.round_trip, took);
  } else {
    const double seconds = static_cast<double>(std::max<std::int64_t>(took - s.round_trip, 1000)) * 1e-9;
    s.bandwidth = std::max(s.bandwidth, static_cast<double>(kSteps[s.step]) / seconds);
  }
  if (++s.step < kSteps.size()) return probe(from, s);
  result_(from, s.round_trip / 2, s.bandwidth);
}

bool LinkMeter::typical(balancer::Time& latency, double& bandwidth) const {
  std::int64_t n = 0;
  double sum_latency = 0, sum_bandwidth = 0;
  for (const auto& [peer, s] : states_) {
    if (s.step < kSteps.size()) continue;
    ++n;
    sum_latency += static_cast<double>(s.round_trip) / 2;
    sum_bandwidth += s.bandwidth;
  }
  if (n == 0) return false;
  latency = static_cast<balancer::Time>(sum_latency / static_cast<double>(n));
  bandwidth = sum_bandwidth / static_cast<double>(n);
  return true;
}

}  // namespace tessera::runtime
