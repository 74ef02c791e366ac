// ReadyItems: what is ready on one simulated rank, in the order the live ready queue would run it
// (runtime/work/ready_queue.hpp): first in, first out inside a group; of several groups the one
// that became non-empty last, but what is much lighter first (balancer/ready_order.hpp); stacks newest first;
// iterations of ranges, of the group that became non-empty last, when there is nothing else. `expand_first` has it the
// other way round: what makes more fragments goes first, while few wait, so that the balancer sees them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "balancer/ready_order.hpp"
#include "balancer/simulator/program.hpp"

namespace tessera::balancer::simulator {

class ReadyItems {
 public:
  // structured: subs, `if`, `while`: the newest first, but what came between two pops keeps its order.
  enum class Kind : std::uint8_t { queue, range, stack, structured };

  // `plenty`: as many of a group waiting as the ranks can do with for now.
  explicit ReadyItems(const std::vector<Kind>* kinds, std::int64_t plenty = 0)
      : kinds_(kinds), groups_(kinds->size()), plenty_(plenty) {}

  std::int64_t count() const { return count_; }
  std::int64_t count(std::size_t g) const { return groups_[g].size(); }
  std::int64_t bytes(std::size_t g) const { return groups_[g].bytes; }

  void push(const Item& item) {
    Waiting& w = groups_[item.group];
    const Kind kind = (*kinds_)[item.group];
    if (w.size() == 0) order(kind).push_back(item.group);
    if (kind == Kind::queue) ++queued_;
    if (kind == Kind::structured) {
      if (w.pops != pops_) w.latest = 0;
      w.pops = pops_;
      w.items.insert(w.items.end() - w.latest++, item);
    } else {
      w.items.push_back(item);
    }
    w.bytes += item.bytes;
    ++count_;
  }

  // The item to run next; there is one.
  Item pop(bool expand_first) {
    ++pops_;
    expand_first = expand_first && queued_ < kVisible;
    const bool queued = !queues_.empty() && (!expand_first || (stacks_.empty() && ranges_.empty()));
    const std::uint16_t g = queued ? next_queue() : !stacks_.empty() ? stacks_.back() : ranges_.back();
    const Item item = stacked((*kinds_)[g]) ? take_newest(g) : take_oldest(g);
    if (groups_[g].size() == 0) forget(g);
    return item;
  }

  // What items of the group weigh, once some have run.
  void weigh(std::size_t g, double weight) { groups_[g].weight = weight; }

  // The first items of a queue: those of which a shipment takes the nearest. Their order may be changed.
  std::span<Item> first(std::size_t g) {
    if (g >= groups_.size() || (*kinds_)[g] != Kind::queue) return {};
    Waiting& w = groups_[g];
    return std::span(w.items).subspan(w.head, static_cast<std::size_t>(std::min(w.size(), kSeen)));
  }

  // Takes up to n of a group for a shipment: of a range its last iterations, of a stack what
  // `ships` says, of a queue the oldest; structured ones as they would run.
  std::int64_t take(std::size_t g, std::int64_t n, Program::Ships ships, std::vector<Item>& out) {
    if (g >= groups_.size()) return 0;
    const Kind kind = (*kinds_)[g];
    const bool from_end =
        kind == Kind::range || kind == Kind::structured || (kind == Kind::stack && ships == Program::Ships::newest);
    const std::int64_t taken = std::min(n, count(g));
    if (taken <= 0) return 0;
    if (kind == Kind::stack && ships == Program::Ships::alternate) deal(groups_[g], taken);
    for (std::int64_t i = 0; i < taken; ++i) {
      out.push_back(from_end ? take_newest(g) : take_oldest(g));
    }
    if (groups_[g].size() == 0) forget(static_cast<std::uint16_t>(g));
    return taken;
  }

 private:
  struct Waiting {
    std::vector<Item> items;
    std::size_t head = 0;  // those before it are gone
    std::int64_t bytes = 0;
    double weight = 0;
    std::int64_t pops = 0, latest = 0;  // structured: how many came since that pop
    std::int64_t size() const { return static_cast<std::int64_t>(items.size() - head); }
  };

  // Puts n items from all along the stack, the oldest and then evenly spaced, to its old end; both parts
  // keep their order.
  static void deal(Waiting& w, std::int64_t n) {
    std::vector<Item> dealt, kept;
    const std::int64_t size = w.size();
    for (std::int64_t i = 0; i < size; ++i) {
      const bool goes = static_cast<std::int64_t>(dealt.size()) * size <= i * n;
      (goes ? dealt : kept).push_back(w.items[w.head + static_cast<std::size_t>(i)]);
    }
    w.items.swap(dealt);
    w.items.insert(w.items.end(), kept.begin(), kept.end());
    w.head = 0;
  }
  Item take_oldest(std::size_t g) {
    Waiting& w = groups_[g];
    const Item item = w.items[w.head++];
    if (w.head == w.items.size()) {
      w.items.clear();
      w.head = 0;
    } else if (w.head >= 64 && 2 * w.head >= w.items.size()) {
      w.items.erase(w.items.begin(), w.items.begin() + static_cast<std::ptrdiff_t>(w.head));
      w.head = 0;
    }
    return taken(w, item);
  }
  Item take_newest(std::size_t g) {
    Waiting& w = groups_[g];
    const Item item = w.items.back();
    w.items.pop_back();
    w.latest = std::max<std::int64_t>(0, w.latest - 1);
    if (w.head == w.items.size()) {
      w.items.clear();
      w.head = 0;
    }
    return taken(w, item);
  }
  Item taken(Waiting& w, const Item& item) {
    w.bytes -= item.bytes;
    --count_;
    if ((*kinds_)[item.group] == Kind::queue) --queued_;
    return item;
  }
  static bool stacked(Kind k) { return k == Kind::stack || k == Kind::structured; }
  std::vector<std::uint16_t>& order(Kind k) { return k == Kind::range ? ranges_ : stacked(k) ? stacks_ : queues_; }
  std::uint16_t next_queue() const {
    const std::uint16_t newest = queues_.back();
    if (groups_[newest].size() >= plenty_ || groups_[newest].bytes >= kPlentyBytes) return newest;
    const auto older = [this](auto visit) { std::for_each(queues_.rbegin() + 1, queues_.rend(), visit); };
    return next_group(newest, older, [this](std::uint16_t g) { return groups_[g].weight; });
  }
  void forget(std::uint16_t g) {
    auto& of = order((*kinds_)[g]);
    of.erase(std::find(of.begin(), of.end(), g));
  }

  const std::vector<Kind>* kinds_;  // by group; shared by all ranks
  std::vector<Waiting> groups_;
  std::int64_t plenty_;
  // Non-empty groups, the one that became so last at the end.
  std::vector<std::uint16_t> queues_, stacks_, ranges_;
  std::int64_t count_ = 0;
  std::int64_t queued_ = 0;  // in queues
  std::int64_t pops_ = 0;
};

}  // namespace tessera::balancer::simulator
