// Graph runs a Workload: it counts what each fragment still waits for, and carries values to the
// ranks that need them, once to each.
//
// Invariant: a fragment is created on its rank before it is ready; an input is counted down exactly
// once: when it is there at creation, or else when it is assigned or arrives there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balancer/simulator/copies.hpp"
#include "balancer/simulator/program.hpp"
#include "balancer/simulator/workload.hpp"

namespace tessera::balancer::simulator {

class Graph final : public Program {
 public:
  // The workload must outlive it. Homes and birth ranks are taken modulo `executing` ranks.
  Graph(const Workload&, std::int32_t executing);

  const std::vector<GroupInfo>& groups() const override { return work_.groups; }
  std::vector<Births> births() const override;
  void born(const Births&, Effects&) override;
  void finished(Rank here, const Item&, Effects&) override;
  void arrived(Rank here, const Note&, Effects&) override;
  bool newest_first(Group) const override;
  bool runs_on_the_spot() const override { return true; }
  bool goes_on(const Item& last, const Item& item) const override {
    const Fragment& f = work_.fragments[last.state];
    return last.group == item.group && f.children.size() == 1 && f.children[0] == item.state;
  }
  Rank settled(const Item&, Rank here) const override;
  Rank home(const Item&) const override;
  void resettle(const Item&, Rank to) override;
  std::uint64_t series(const Item& item) const override {
    const Fragment& f = work_.fragments[item.state];
    return index(f.home) < 0 ? 0 : f.series;  // what follows its maker belongs nowhere
  }
  Rank series_home(const Item& item) const override { return placed(work_.fragments[item.state].home); }
  void settle(std::uint64_t series, Rank to) override { settled_[series] = index(to); }
  bool has_data() const override { return has_data_; }
  std::int64_t bytes_here(const Item&, Rank here) override;
  void runs_here(const Item&, Rank here) override;
  std::int64_t board(const Item&, Rank from, Rank to, Effects&) override;
  bool landed(Rank here, const Item&, Effects&) override;
  std::int64_t output_bytes(const Item&) const override;
  void nearest_first(std::span<Item>, std::int64_t n, Rank from, Rank to) const override;
  Time critical_path(double speed) const override { return work_.critical_path(speed); }
  std::vector<std::string> faults() const override;

 private:
  enum NoteKind : std::uint32_t { kCreate, kValue, kFetch, kRelay };
  Rank placed(Rank home) const { return Rank{index(home) % executing_}; }
  void create(std::size_t fragment, Rank here, Effects&);
  void count_down(std::size_t fragment, Effects&);
  void send_value(std::size_t fragment, Rank from, Rank to, Effects&);
  void pass_on(std::size_t fragment, Rank from, Rank to, Effects&);
  std::int64_t bytes_for(std::size_t fragment, Rank to) const;
  static std::uint64_t bit(Rank r) { return std::uint64_t{1} << (index(r) & 63); }
  Rank giver_of(std::size_t fragment, std::int64_t bytes, Rank from, Rank to);

  const Workload& work_;
  const std::int32_t executing_;
  bool has_data_ = false;
  // Consumers of fragment f: consumers_[first_consumer_[f] .. first_consumer_[f + 1]).
  std::vector<std::uint32_t> first_consumer_, consumers_;
  std::vector<std::int32_t> rank_of_;   // where created; -1: not yet
  std::vector<std::int32_t> ran_on_;    // -1: not finished
  std::vector<std::uint32_t> missing_;  // inputs
  std::vector<std::int32_t> settled_;   // by series: where the policy has moved it; -1: nowhere
  std::vector<std::int32_t> runs_, births_;
  std::vector<std::size_t> birth_order_;
  Copies copies_;
  std::vector<std::uint64_t> holders_;  // by value: a bit for each rank that has it, or will; ranks 64 apart share one
  std::map<std::size_t, std::vector<Rank>> given_;  // by value: who has been sent it
  // By value and rank: to whom it is to pass the value on, once it has it.
  std::map<std::pair<std::size_t, std::int32_t>, std::vector<Rank>> promised_;
};

}  // namespace tessera::balancer::simulator
