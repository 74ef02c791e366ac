#include "runtime/balance/link_meter.hpp"

#include <spdlog/spdlog.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "runtime/comm/communicator.hpp"

namespace tessera::runtime {
namespace {

// Payload bytes of each step; zero: latency. (Simulated: probing in balancer/simulator/simulation.cpp.)
// The largest is sent in the last round only: it tells a third more bandwidth than the one before it, and is most of what rounds send.
constexpr std::array<std::uint64_t, 9> kSteps{0, 0, 0, 0, 0, 16 << 10, 16 << 10, 256 << 10, 1 << 20};
// Larger payloads than this are sent where values of a quarter of their size are made.
constexpr std::uint64_t kAlways = 16 << 10;
// Where a payload takes so long (s), and the one before it did, larger ones would only keep a slow link from its work.
constexpr double kLong = 0.002;
constexpr int kRounds = 3;
constexpr auto kFirstPause = std::chrono::milliseconds(20);

// ns per byte of memory that is written for the first time: the best of a few pieces.
double first_touch() {
  constexpr std::size_t kPieces = 3, kPiece = 256 << 10, kPage = 4096;
  void* p =
      mmap(nullptr, kPieces * kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

void LinkMeter::start(std::int32_t worker_ranks) {
  const std::int32_t self = balancer::index(self_);
  if (self >= worker_ranks) return;
  for (std::int32_t d = 1; d < worker_ranks; d *= 2) {
    peers_.push_back(Peer{Rank{(self + d) % worker_ranks}});
  }
  pause_ = kFirstPause;
  first_touch_ = first_touch();
  if (!peers_.empty()) turn(Clock::now());
}

Clock::time_point LinkMeter::next(Clock::time_point now) const {
  if (running_ || peers_.empty()) return now + std::chrono::hours(1);
  return more_wanted() ? now : rounds_ == kRounds ? now + std::chrono::hours(1) : next_round_;
}

bool LinkMeter::wanted(std::size_t step) const {
  if (step >= kSteps.size() || (step + 1 == kSteps.size() && rounds_ < kRounds)) return false;
  return kSteps[step] <= kAlways || largest_.load(std::memory_order_relaxed) >= kSteps[step] / 4;
}

void LinkMeter::turn(Clock::time_point now) {
  if (running_ || peers_.empty()) return;
  if (!more_wanted()) {
    if (rounds_ == kRounds || now < next_round_) return;
    ++rounds_;
  }
  running_ = true;
  left_out_ = kSteps.size();
  peer_ = 0;
  step_ = 0;
  probe();
}

void LinkMeter::probe() {
  LinkProbe p;
  p.number = ++number_;
  if (kSteps[step_] != 0) p.payload.value = ValueRef(abi::value_bytes(kSteps[step_]));
  sent_ = Clock::now();
  comm_.send(peers_[peer_].rank, p);
}

void LinkMeter::on(Rank from, LinkProbe&& p) {
  if (!p.echo) {
    LinkProbe echo;
    echo.number = p.number;
    echo.echo = true;
    return comm_.send(from, echo);
  }
  if (!running_ || p.number != number_) return;
  Peer& peer = peers_[peer_];
  const std::int64_t took = (Clock::now() - sent_).count();
  bool enough = !wanted(step_ + 1);
  if (enough) left_out_ = step_ + 1;
  if (kSteps[step_] == 0) {
    peer.round_trip = std::min(peer.round_trip, took);
  } else {
    // The latency is no part of the transfer; but it was measured at another moment, so it may take
    // away only so much.
    const auto transfer = static_cast<double>(std::max(took - peer.round_trip, took / 2));
    const auto bytes = static_cast<double>(kSteps[step_]);
    peer.bandwidth = std::max(peer.bandwidth, bytes / (transfer + bytes * first_touch_) * 1e9);
    if (kSteps[step_ - 1] != 0) {
      enough = enough || bytes / peer.bandwidth > kLong;
      result_(peer.rank, peer.round_trip / 2, peer.bandwidth);
    }
  }
  ++step_;
  if (enough) {
    spdlog::debug("rank {}: link to {}: {:.1f} us, {:.0f} MB/s", balancer::index(self_),
                  balancer::index(peer.rank), static_cast<double>(peer.round_trip) / 2e3,
                  peer.bandwidth / 1e6);
    step_ = 0;
    if (++peer_ == peers_.size()) {
      running_ = false;
      next_round_ = Clock::now() + pause_;
      pause_ *= 4;
      return;
    }
  }
  probe();
}

bool LinkMeter::typical(balancer::Time& latency, double& bandwidth) const {
  double n = 0, sum_latency = 0, sum_bandwidth = 0;
  for (const Peer& p : peers_) {
    if (p.bandwidth == 0) continue;
    ++n;
    sum_latency += static_cast<double>(p.round_trip) / 2;
    sum_bandwidth += p.bandwidth;
  }
  if (n == 0) return false;
  latency = static_cast<balancer::Time>(sum_latency / n);
  bandwidth = sum_bandwidth / n;
  return true;
}

}  // namespace tessera::runtime
