// SimulatedLink: a connection between two ranks on different hosts, in virtual time, for the machines that measure
// links.
//
// A way of `latency` and `bandwidth` with jitter, on which others are now and then; TCP, which starts with ten packets
// and doubles what is on its way each round trip (sent at once, or spread over the round trip as BBR does it), and
// starts anew after an idle time; a sender and a receiver that look at their sockets every so often, and are busy
// otherwise now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "runtime/balance/probing.hpp"

namespace tessera::runtime {

struct LinkModel {
  double bandwidth = 1.25e8;  // bytes/s
  double latency = 1e6;       // ns, one way
  double jitter = 0;          // ns, up to so much more for each packet, in order
  bool paced = false;         // TCP spreads what it sends (BBR)
  double look = 50e3;         // ns between two looks
  double stalls = 0;          // chance of each look to come 0.1 to 3 ms later
  double others = 0;          // share of the time in which others have half of the link
};

class SimulatedLink {
 public:
  SimulatedLink(const LinkModel& model, std::uint64_t seed) : m_(model), random_(seed) {}

  // Sends a probe, and returns how long the answer took; `speed`: what the receiver says of it.
  std::int64_t probe(const Probe& p, std::int64_t round_trip, TrainSpeed& speed) {
    const double begin = now_;
    sent_ += p.parts * (p.bytes + kHead);
    if (begin - idle_since_ > 200e6) window_ = kFirstWindow;
    TrainArrivals arrivals;
    double looked = now_ - m_.look, end = 0;
    double part_sent = now_;
    std::vector<double> came;
    for (std::uint32_t i = 0; i < p.parts; ++i) {
      part_sent += 500 + stall();
      came.push_back(transfer(part_sent, static_cast<double>(p.bytes) + kHead));
    }
    // The receiver does not know yet that something comes: it looked last at any time before.
    looked = came[0] - uniform(0, 1e6);
    double next_look = came[0] + uniform(5e3, 60e3) + stall();
    for (std::size_t i = 0; i < came.size();) {
      if (came[i] > next_look) {  // in vain
        looked = next_look;
        next_look += m_.look * uniform(0.9, 1.4) + stall();
        continue;
      }
      double at = next_look;
      for (; i < came.size() && came[i] <= at; ++i) {
        at += 0.3 * static_cast<double>(p.bytes) + 1e3;  // reading takes time as well
        arrivals.arrived(p.bytes, static_cast<std::int64_t>(looked), static_cast<std::int64_t>(at));
      }
      end = at;
      next_look = at + 2e3;
    }
    speed = arrivals.speed(round_trip);
    now_ = end + m_.latency + uniform(0, m_.jitter) + uniform(5e3, 60e3) + stall();
    idle_since_ = now_;
    return static_cast<std::int64_t>(now_ - begin);
  }

  void pause(double ns) { now_ += ns; }
  double now() const { return now_; }
  double sent() const { return sent_; }

 private:
  static constexpr double kHead = 80, kPacket = 1448, kFirstWindow = 10;

  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  double stall() { return m_.stalls > 0 && uniform(0, 1) < m_.stalls ? uniform(0.1e6, 3e6) : 0; }

  // Packets given to TCP at `at`; returns when the last one has come.
  double transfer(double at, double bytes) {
    double clock = std::max(at, clock_);
    for (double left = bytes; left > 0; left -= kPacket) {
      const auto acknowledged = [&] {
        clock = std::max(clock, acks_.front());
        acks_.pop_front();
        window_ = std::min(window_ + 1, 6e6 / kPacket);
      };
      while (!acks_.empty() && acks_.front() <= clock) acknowledged();
      while (static_cast<double>(acks_.size()) >= window_) acknowledged();
      if (m_.paced) {
        clock = std::max(clock, paced_);
        paced_ = clock + (2 * m_.latency + 50e3) / (2.9 * window_);
      }
      const double size = std::min(left, kPacket) + 66;
      free_ = std::max(clock, free_) + size / m_.bandwidth * 1e9 * (busy_with_others(std::max(clock, free_)) ? 2 : 1);
      last_ = std::max(last_, free_ + m_.latency + uniform(0, m_.jitter));
      acks_.push_back(last_ + m_.latency);
    }
    clock_ = clock;
    return last_;
  }

  bool busy_with_others(double at) {
    if (m_.others == 0) return false;
    while (at > others_until_) {
      others_ = uniform(0, 1) < m_.others;
      others_until_ += uniform(0.2e6, 5e6);
    }
    return others_;
  }

  const LinkModel m_;
  std::mt19937_64 random_;
  double now_ = 0, sent_ = 0, idle_since_ = 0;
  double window_ = kFirstWindow, clock_ = 0, paced_ = 0, free_ = 0, last_ = 0;
  std::deque<double> acks_;
  bool others_ = false;
  double others_until_ = 0;
};

}  // namespace tessera::runtime
