#include "runtime/balance/link_meter.hpp"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>

#include "runtime/comm/communicator.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(20);
// While a train comes in. When nothing has come of it for so long, nobody waits for it.
constexpr auto kLookAgain = std::chrono::microseconds(50);
constexpr auto kGivenUp = std::chrono::milliseconds(200);
// Who has sent a probe sends another one soon.
constexpr auto kExpected = std::chrono::nanoseconds(kGivenUp);

// ns per byte of memory that is written for the first time: the best of a few pieces.
double first_touch() {
  constexpr std::size_t kPieces = 3, kPiece = 256 << 10, kPage = 4096;
  void* p = mmap(nullptr, kPieces * kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return 0;
  auto best = Clock::duration::max();
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < kPiece; i += kPage) {
      static_cast<volatile char*>(p)[piece * kPiece + i] = 1;
    }
    best = std::min(best, Clock::now() - begin);
  }
  munmap(p, kPieces * kPiece);
  return static_cast<double>(best.count()) / kPiece;
}

}  // namespace

void LinkMeter::start(std::int32_t worker_ranks, const std::function<bool(Rank)>& near) {
  const std::int32_t self = balancer::index(self_);
  if (self >= worker_ranks) return;
  const double touch = first_touch();
  for (std::int32_t d = 1; d < worker_ranks; d *= 2) {
    const Rank peer{(self + d) % worker_ranks};
    peers_.push_back({peer, near(peer) ? probing_through_memory(touch) : probing_over_network()});
  }
  pause_ = kFirstPause;
  if (!peers_.empty()) turn(Clock::now());
}

bool LinkMeter::more_wanted() const {
  const std::uint64_t largest = largest_.load(std::memory_order_relaxed);
  return rounds_ > 0 &&
         std::any_of(peers_.begin(), peers_.end(), [&](const Peer& p) { return p.probing->wants_more(largest); });
}

Clock::time_point LinkMeter::next(Clock::time_point now) const {
  Clock::time_point at = now + std::chrono::hours(1);
  for (const auto& [from, train] : trains_) {
    if (now < train.latest + kGivenUp) at = now + kLookAgain;
  }
  if (running_ || peers_.empty()) return at;
  return more_wanted() ? now : rounds_ == Probing::kRounds ? at : std::min(at, next_round_);
}

void LinkMeter::turn(Clock::time_point now) {
  if (running_ || peers_.empty()) return;
  if (!more_wanted()) {
    if (rounds_ == Probing::kRounds || now < next_round_) return;
    ++rounds_;
  }
  running_ = true;
  peer_ = 0;
  for (Peer& p : peers_) p.probing->begin_round(rounds_);
  send_probe();
}

// The next probe; of the next peer, when this one has had all of its round.
void LinkMeter::send_probe() {
  while (peer_ < peers_.size()) {
    Peer& peer = peers_[peer_];
    const auto probe = peer.probing->next(largest_.load(std::memory_order_relaxed));
    if (!probe) {
      spdlog::debug("rank {}: link to {}: {:.1f} us, {:.1f} MB/s", balancer::index(self_), balancer::index(peer.rank),
                    static_cast<double>(peer.probing->latency()) / 1e3, peer.probing->bandwidth() / 1e6);
      ++peer_;
      continue;
    }
    probe_ = *probe;
    ++number_;
    sent_ = Clock::now();
    for (std::uint32_t i = 0; i < probe_.parts; ++i) {
      LinkProbe part{number_, probe_.parts, 2 * peer.probing->latency(), {}};
      if (probe_.bytes != 0) part.payload.value = ValueRef(abi::value_bytes(probe_.bytes));
      comm_.send(peer.rank, part);
    }
    return;
  }
  running_ = false;
  next_round_ = Clock::now() + pause_;
  pause_ *= 4;
}

void LinkMeter::on(Rank from, LinkProbe&& p) {
  expected_until_ = ticks() + static_cast<std::uint64_t>(static_cast<double>(kExpected.count()) / ns_per_tick());
  if (p.parts == 1) return comm_.send(from, LinkAnswer{p.number});
  const auto now = Clock::now();
  Train& train = trains_[from];
  if (train.number != p.number) train = {p.number, p.parts, {}, {}};
  train.latest = now;
  const auto since = static_cast<std::int64_t>(static_cast<double>(ticks() - looked_) * ns_per_tick());
  const std::int64_t at = now.time_since_epoch().count();
  train.arrivals.arrived(p.payload.value ? p.payload.value.get()->size : 0, at - since, at);
  if (--train.missing > 0) return;
  const TrainSpeed s = train.arrivals.speed(p.round_trip);
  trains_.erase(from);
  comm_.send(from, LinkAnswer{p.number, s.bandwidth, s.fastest, s.most, s.sure});
}

void LinkMeter::on(Rank, const LinkAnswer& a) {
  if (!running_ || a.number != number_) return;
  Peer& peer = peers_[peer_];
  const std::int64_t took = (Clock::now() - sent_).count();
  if (probe_.parts > 1) {
    spdlog::debug("rank {}: {} kB to {} in {:.0f} us: {:.1f} MB/s{}, for a while {:.1f}", balancer::index(self_),
                  probe_.parts * probe_.bytes / 1000, balancer::index(peer.rank), static_cast<double>(took) / 1e3,
                  a.bandwidth / 1e6, a.sure ? "" : "?", a.fastest / 1e6);
  }
  if (peer.probing->answered(probe_, took, {a.bandwidth, a.fastest, a.most, a.sure})) {
    note({peer.rank, peer.probing->latency(), peer.probing->bandwidth()});
    result_(peer.rank, peer.probing->latency(), peer.probing->bandwidth());
  }
  send_probe();
}

std::vector<Rank> LinkMeter::peers() const {
  std::vector<Rank> all;
  for (const Peer& p : peers_) all.push_back(p.rank);
  return all;
}

void LinkMeter::note(const Measured& m) {
  const std::lock_guard hold(measured_mutex_);
  const auto at = std::find_if(measured_.begin(), measured_.end(), [&](const Measured& x) { return x.peer == m.peer; });
  at == measured_.end() ? measured_.push_back(m) : void(*at = m);
}

std::vector<LinkMeter::Measured> LinkMeter::measured() const {
  const std::lock_guard hold(measured_mutex_);
  return measured_;
}

bool LinkMeter::typical(balancer::Time& latency, double& bandwidth) const {
  double n = 0, sum_latency = 0, sum_bandwidth = 0;
  for (const Peer& p : peers_) {
    if (p.probing->bandwidth() == 0) continue;
    ++n;
    sum_latency += static_cast<double>(p.probing->latency());
    sum_bandwidth += p.probing->bandwidth();
  }
  if (n == 0) return false;
  latency = static_cast<balancer::Time>(sum_latency / n);
  bandwidth = sum_bandwidth / n;
  return true;
}

}  // namespace tessera::runtime
