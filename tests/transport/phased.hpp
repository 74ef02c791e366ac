// Phased puts a transport behind what a barrier promises, so that scenarios can rely on it and any
// breach is seen. Every parcel carries when it was sent: after how many barriers, and whether inside
// one (by a sink). What a faster rank sent after a barrier this rank is still in is kept for later;
// what was sent before a barrier and comes after it is a failure.
#pragma once

#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "scenarios.hpp"

namespace tessera::runtime {

class Phased final : public Transport {
 public:
  explicit Phased(Transport& inner) : inner_(inner) {}

  Rank rank() const override { return inner_.rank(); }
  std::int32_t size() const override { return inner_.size(); }
  const std::vector<OnHost>& host() const override { return inner_.host(); }
  std::int32_t host_rank() const override { return inner_.host_rank(); }
  bool shares_memory(Rank r) const override { return inner_.shares_memory(r); }

  void send(Rank to, Parcel parcel) override {
    const std::uint32_t now = now_;
    const std::size_t size = parcel.bytes.size();
    parcel.bytes.resize(size + sizeof now);
    std::memcpy(parcel.bytes.data() + size, &now, sizeof now);
    inner_.send(to, std::move(parcel));
  }

  bool progress(const Sink& sink) override {
    bool moved = false;
    while (!early_.empty()) {
      moved = true;
      auto [from, parcel] = std::move(early_.front());
      early_.pop_front();
      sink(from, std::move(parcel));
    }
    return inner_.progress(sorted(sink)) || moved;
  }

  void wait(Clock::time_point until, bool idle) override {
    if (early_.empty()) inner_.wait(until, idle);
  }
  void wake() override { inner_.wake(); }

  void barrier(const Sink& sink) override {
    progress(sink);
    ++now_;
    inner_.barrier(sorted(sink));
    ++now_;
  }
  [[noreturn]] void abort(int exit_code) override {
    inner_.abort(exit_code);
    __builtin_unreachable();  // GCC 12 forgets the attribute of a virtual function it inlines
  }

 private:
  // now_: 2 * barriers passed, + 1 inside one.
  Sink sorted(const Sink& sink) {
    return [this, &sink](Rank from, Parcel&& parcel) {
      std::uint32_t sent = 0;
      const std::size_t size = parcel.bytes.size() - sizeof sent;
      std::memcpy(&sent, parcel.bytes.data() + size, sizeof sent);
      parcel.bytes.resize(size);
      const std::uint32_t passed = now_ / 2;
      if (sent / 2 > passed) {
        early_.emplace_back(from, std::move(parcel));
        return;
      }
      if (sent % 2 == 0 && sent / 2 < passed) {
        throw Failed("sent before barrier " + std::to_string(sent / 2) + ", came after it, from rank " +
                     std::to_string(index(from)));
      }
      sink(from, std::move(parcel));
    };
  }

  Transport& inner_;
  std::atomic<std::uint32_t> now_{0};
  std::deque<std::pair<Rank, Parcel>> early_;
};

}  // namespace tessera::runtime
