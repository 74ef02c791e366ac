// What a rank's policy believes is ready on its own rank.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/weights.hpp"

namespace tessera::balancer {

// ReadyView keeps the host's last absolute word per group, and corrects it for shipments that came
// and went since: the host tells of those in Arrived and Shipped first and in LoadChanged later.
//
// Invariant: between two LoadChanged events count(g) = told(g) + arrived - shipped, never below
// zero; a LoadChanged is absolute and ends all corrections.
class ReadyView {
 public:
  struct Entry {
    std::int64_t told = 0;
    std::int64_t bytes = 0;
    std::int64_t correction = 0;
    std::int64_t count() const { return told + correction > 0 ? told + correction : 0; }
    std::int64_t each = 0;  // bytes of one, as told last: what came in a shipment is taken to be like those
    // Input bytes of those still here.
    std::int64_t bytes_now() const {
      return told <= 0 ? each * count() : correction >= 0 ? bytes + each * correction : bytes / told * count();
    }
  };

  explicit ReadyView(std::size_t groups) : entries_(groups) {}

  void told(const LoadChanged& e) {
    for (Entry& entry : entries_) entry.correction = 0;
    for (const GroupLoad& g : e.ready) {
      Entry& entry = at(g.group);
      entry.told = g.ready;
      entry.bytes = g.bytes;
      if (g.ready > 0) entry.each = g.bytes / g.ready;
    }
    accounted_ = total();
  }
  void arrived(const std::vector<GroupCount>& fragments) {
    for (const GroupCount& f : fragments) {
      at(f.group).correction += f.count;
      accounted_ += f.count;
    }
  }
  // `asked` is what was wanted, `moved` what really went. Where fewer went there are no more.
  void shipped(const std::vector<GroupCount>& asked, const std::vector<GroupCount>& moved) {
    for (const GroupCount& f : moved) {
      at(f.group).correction -= f.count;
      accounted_ -= f.count;
    }
    for (const GroupCount& want : asked) {
      std::int64_t went = 0;
      for (const GroupCount& f : moved) went += f.group == want.group ? f.count : 0;
      if (went < want.count) at(want.group) = Entry{};
    }
  }

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](std::size_t g) const { return entries_[g]; }

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const Entry& e : entries_) sum += e.count();
    return sum;
  }
  // What was told last, with what came and without what really went since: for Growth. Unlike total(), it
  // takes a shipment that found too few for no proof that there are none.
  std::int64_t accounted() const { return accounted_; }
  Time load(const Weights& weights) const {
    double sum = 0;
    for (std::size_t g = 0; g < entries_.size(); ++g) {
      const std::int64_t n = entries_[g].count();
      if (n > 0) {
        sum += static_cast<double>(n) * static_cast<double>(weights.weight(Group{static_cast<std::uint32_t>(g)}));
      }
    }
    return sum < 4e18 ? static_cast<Time>(sum) : Time{4'000'000'000'000'000'000};
  }

 private:
  Entry& at(Group g) {
    if (index(g) >= entries_.size()) entries_.resize(index(g) + 1);
    return entries_[index(g)];
  }
  std::vector<Entry> entries_;
  std::int64_t accounted_ = 0;
};

}  // namespace tessera::balancer
