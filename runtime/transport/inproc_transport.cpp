// The in-process transport: N ranks are N objects that share mailboxes. Values are handed over by
// reference (they are immutable), also when an emulated link says how long they take.
#include <unistd.h>

#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/transport/barrier_protocol.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/inproc_mailbox.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {
namespace {

// One line of the emulated network: everything a rank sends to one other rank.
struct Link {
  std::mutex mutex;
  std::mt19937_64 random;
  Clock::time_point busy_until{};  // bandwidth: parcels of a pair follow each other
};

// Network is what the ranks share; the last one to go frees it with the mail nobody took.
struct Network {
  explicit Network(const InprocOptions& o)
      : options(o), timed(has_delays(o)), links(static_cast<std::size_t>(o.ranks) * o.ranks) {
    std::seed_seq sequence{static_cast<std::uint32_t>(o.seed), static_cast<std::uint32_t>(o.seed >> 32)};
    std::vector<std::uint32_t> seeds((links.size() + o.ranks) * 2);
    sequence.generate(seeds.begin(), seeds.end());
    std::size_t used = 0;
    const auto next_seed = [&] {
      used += 2;
      return (std::uint64_t{seeds[used - 2]} << 32) | seeds[used - 1];
    };
    for (Link& link : links) link.random.seed(next_seed());
    cores::Allowance allowed = cores::find_allowance();
    if (simulation != nullptr) {
      allowed = {};
      for (std::size_t k = 0; k < simulation->cores() * static_cast<std::size_t>(o.ranks); ++k) allowed.mask.set(k);
    }
    for (std::int32_t r = 0; r < o.ranks; ++r) {
      host.push_back({Rank{r}, allowed});
      boxes.push_back(std::make_unique<Mailbox>(o.ranks, o.seed == 0 ? 0 : next_seed() | 1, timed));
    }
  }

  static bool has_delays(const InprocOptions& o) {
    return (o.seed != 0 && o.max_delay.count() > 0) || o.latency.count() > 0 || o.bandwidth > 0;
  }

  Link& link(Rank from, Rank to) { return links[static_cast<std::size_t>(index(from)) * options.ranks + index(to)]; }
  Mailbox& box(Rank r) { return *boxes[static_cast<std::size_t>(index(r))]; }

  const InprocOptions options;
  const bool timed;
  std::vector<Link> links;
  std::vector<std::unique_ptr<Mailbox>> boxes;
  std::vector<OnHost> host;
};

std::uint64_t size_of(const Parcel& parcel) {
  std::uint64_t size = parcel.bytes.size();
  for (const ValueRef& value : parcel.values) size += value.get()->size;
  return size;
}

class InprocTransport final : public Transport {
 public:
  InprocTransport(std::shared_ptr<Network> network, Rank rank)
      : network_(std::move(network)),
        rank_(rank),
        barrier_(rank, network_->options.ranks, [this](Rank to, Control what) { put(to, what, Parcel{}); }) {}

  Rank rank() const override { return rank_; }
  std::int32_t size() const override { return network_->options.ranks; }
  const std::vector<OnHost>& host() const override { return network_->host; }
  std::int32_t host_rank() const override { return index(rank_); }
  bool shares_memory(Rank) const override {
    return network_->options.latency.count() == 0 && network_->options.bandwidth == 0;
  }

  void send(Rank to, Parcel parcel) override { put(to, Control::parcel, std::move(parcel)); }

  bool progress(const Sink& sink) override {
    if (next_ == taken_.size()) {
      taken_.clear();
      next_ = 0;
      network_->box(rank_).take(taken_);
    }
    const bool moved = !taken_.empty();
    // A sink that throws leaves the rest for the next call.
    while (next_ < taken_.size()) {
      Mail mail = std::move(taken_[next_++]);
      if (mail.control == Control::parcel) {
        if (simulation != nullptr && !simulation->delivers(index(mail.from), index(rank_), mail.parcel)) continue;
        sink(mail.from, std::move(mail.parcel));
      } else {
        barrier_.received(mail.from, mail.control);
      }
    }
    return moved;
  }

  void wait(Clock::time_point until, bool) override {
    if (network_->timed) sharpen_timers_of_this_thread();
    network_->box(rank_).wait(until);
  }
  void wake() override { network_->box(rank_).wake(); }

  void barrier(const Sink& sink) override {
    barrier_.enter();
    while (progress(sink), !barrier_.passed()) {
      network_->box(rank_).wait_for_mail(Clock::time_point::max());
    }
  }

  [[noreturn]] void abort(int exit_code) override {
    flush_output();
    end_process(exit_code);
  }

 private:
  void put(Rank to, Control what, Parcel parcel) {
    if (index(to) < 0 || index(to) >= size()) {
      throw std::out_of_range("transport: parcel to rank " + std::to_string(index(to)) + " of " +
                              std::to_string(size()));
    }
    Mail mail{rank_, what, {}, std::move(parcel)};
    if (network_->timed) mail.due = due(to, mail.parcel);
    network_->box(to).put(std::move(mail));
  }

  // When a parcel sent now arrives: it enters the link behind the previous one, takes size/bandwidth
  // to get in, `latency` to get through, and a random delay under a seed. Parcels to oneself only
  // have the random delay.
  Clock::time_point due(Rank to, const Parcel& parcel) {
    const InprocOptions& o = network_->options;
    Link& link = network_->link(rank_, to);
    Clock::time_point at = Clock::now();
    const std::lock_guard lock(link.mutex);
    if (to != rank_) {
      if (o.bandwidth > 0) {
        const std::chrono::duration<double> takes(static_cast<double>(size_of(parcel)) / o.bandwidth);
        at = std::max(at, link.busy_until) + std::chrono::duration_cast<Clock::duration>(takes);
        link.busy_until = at;
      }
      at += o.latency;
    }
    if (o.seed != 0 && o.max_delay.count() > 0) {
      const auto most = static_cast<std::uint64_t>(std::chrono::nanoseconds(o.max_delay).count());
      at += std::chrono::nanoseconds(link.random() % (most + 1));
    }
    return at;
  }

  const std::shared_ptr<Network> network_;
  const Rank rank_;
  BarrierProtocol barrier_;  // this and the next two: under the rank's progress lock
  std::vector<Mail> taken_;
  std::size_t next_ = 0;  // in taken_: the first that was not handed out yet
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_inproc_transports(const InprocOptions& options) {
  if (options.ranks < 1) {
    throw std::invalid_argument("in-process transport: the number of ranks must be at least 1, not " +
                                std::to_string(options.ranks));
  }
  auto network = std::make_shared<Network>(options);
  std::vector<std::unique_ptr<Transport>> out;
  for (std::int32_t r = 0; r < options.ranks; ++r) {
    out.push_back(std::make_unique<InprocTransport>(network, Rank{r}));
  }
  return out;
}

}  // namespace tessera::runtime
