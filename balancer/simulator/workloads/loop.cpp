// `loop`: independent items, the repeated calls of one statement.
#include <algorithm>
#include <cmath>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"
#include "balancer/simulator/workloads/weights.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::string_view kBorn[] = {"first", "blocks", "cyclic", "random"};
constexpr std::string_view kArrivals[] = {"at_once", "even", "poisson"};
constexpr Parameter kLoopParameters[] = {
    {.name = "items",
     .default_value = "1000",
     .help = "how many",
     .kind = Parameter::Kind::integer,
     .max = 1e8},  // 32 bytes each
    TESSERA_WEIGHT_PARAMETERS("10ms"),
    {.name = "bytes", .default_value = "0", .help = "inputs that travel with an item", .kind = Parameter::Kind::bytes},
    {.name = "output",
     .default_value = "0",
     .help = "bytes an item produces, which nobody reads",
     .kind = Parameter::Kind::bytes},
    {.name = "born",
     .default_value = "first",
     .help = "where items are born: all on rank 0, or dealt to all ranks in `blocks`, `cyclic` or at `random`",
     .kind = Parameter::Kind::choice,
     .choices = kBorn},
    {.name = "arrivals",
     .default_value = "at_once",
     .help = "when items come: all at the start, or one after the other, `even` or `poisson`, with `gap` between them; "
             "then "
             "how long they were there is told as well",
     .kind = Parameter::Kind::choice,
     .choices = kArrivals},
    {.name = "gap",
     .default_value = "1ms",
     .help = "mean time from one item to the next, of all ranks together",
     .kind = Parameter::Kind::duration,
     .min = 1},
    {.name = "range",
     .default_value = "false",
     .help = "true: iterations of a `for` that each make one item when they are expanded",
     .kind = Parameter::Kind::boolean},
};
constexpr Time kExpansion = 500;  // ns to make the fragment of one iteration

class Loop final : public Program {
 public:
  Loop(const SettingsReader& read, const Surroundings& around)
      : executing_(around.executing),
        items_(static_cast<std::uint64_t>(read.integer("items"))),
        weight_(read, around.seed),
        bytes_(read.bytes("bytes")),
        output_(read.bytes("output")),
        born_(read.text("born")),
        range_(read.boolean("range")),
        random_(around.seed ^ 0x5DEECE66Du) {
    if (const std::string law = read.text("arrivals"); law != "at_once") arrive(law == "poisson", read.duration("gap"));
    groups_.resize(range_ ? 2 : 1);
    groups_.back().label = "item at loop.fa:4";
    groups_.back().stealable = true;
    if (range_) {
      groups_[0].label = "for at loop.fa:3";
      groups_[0].range = true;
      groups_[0].bulk = bytes_ == 0;
      groups_[0].body = {Group{1}};
    }
  }

  const std::vector<GroupInfo>& groups() const override { return groups_; }
  std::vector<Births> births() const override {
    const auto ranks = static_cast<std::uint64_t>(executing_);
    if (born_ == "first" && came_.empty()) return {{0, Rank{0}, 0, items_}};
    std::vector<Births> all;
    if (!came_.empty() || born_ == "random") {
      Random random = random_;
      for (std::uint64_t i = 0; i < items_; ++i) {
        const std::uint64_t rank = born_ == "first"    ? 0
                                   : born_ == "blocks" ? i * ranks / items_
                                   : born_ == "cyclic" ? i % ranks
                                                       : random.below(ranks);
        all.push_back({came_.empty() ? 0 : came_[i], Rank{static_cast<std::int32_t>(rank)}, i, 1});
      }
      return all;
    }
    for (std::uint64_t r = 0; r < ranks; ++r) {
      const std::uint64_t begin = items_ * r / ranks, end = items_ * (r + 1) / ranks;
      const std::uint64_t dealt = (items_ + ranks - 1 - r) / ranks;
      const Rank rank{static_cast<std::int32_t>(r)};
      if (born_ == "blocks") {
        all.push_back({0, rank, begin, end - begin});
      } else {
        all.push_back({0, rank, r, dealt});
      }
    }
    return all;
  }
  void born(const Births& b, Effects& out) override {
    const std::uint64_t stride = born_ == "cyclic" ? static_cast<std::uint64_t>(executing_) : 1;
    for (std::uint64_t i = 0; i < b.count; ++i) {
      const std::uint64_t number = b.first + i * stride;
      if (range_) {
        Item iteration;
        iteration.state = number;
        iteration.weight = kExpansion;
        out.ready(b.rank, iteration);
      } else {
        out.ready(b.rank, item(number));
      }
    }
  }
  void finished(Rank here, const Item& done, Effects& out) override {
    if (range_ && done.group == 0) return out.ready(here, item(done.state));
    ++finished_;
  }
  Time came(const Item& i) const override { return came_.empty() || !is_body(i) ? -1 : came_[i.state]; }
  bool has_data() const override { return bytes_ > 0 || output_ > 0; }
  std::int64_t bytes_here(const Item& i, Rank) override { return is_body(i) ? bytes_ : 0; }
  std::int64_t board(const Item& i, Rank, Rank, Effects&) override { return is_body(i) ? bytes_ : 0; }
  std::int64_t output_bytes(const Item&) const override { return 0; }  // nobody reads them
  Time critical_path(double speed) const override {
    Time longest = 0;
    for (std::uint64_t i = 0; i < items_; ++i)
      longest = std::max(longest, at_speed(item(i).weight, speed) + (came_.empty() ? 0 : came_[i]));
    return longest + (range_ ? at_speed(kExpansion, speed) : 0);
  }
  std::vector<std::string> faults() const override {
    if (finished_ == items_) return {};
    return {std::to_string(finished_) + " of " + std::to_string(items_) + " items ran"};
  }

 private:
  void arrive(bool at_random, Time gap) {
    double at = 0;
    came_.reserve(items_);
    for (std::uint64_t i = 0; i < items_; ++i) {
      came_.push_back(static_cast<Time>(at));
      at += static_cast<double>(gap) * (at_random ? -std::log(1 - random_.unit()) : 1);
    }
  }
  bool is_body(const Item& i) const { return !range_ || i.group == 1; }
  Item item(std::uint64_t number) const {
    Item i;
    i.state = number;
    i.weight = weight_(number);
    i.group = range_ ? 1 : 0;
    return i;
  }

  std::int32_t executing_;
  std::uint64_t items_;
  WeightLaw weight_;
  std::int64_t bytes_, output_;
  std::string born_;
  bool range_;
  Random random_;
  std::vector<Time> came_;  // by item; empty: all at the start
  std::vector<GroupInfo> groups_;
  std::uint64_t finished_ = 0;
};

}  // namespace

const WorkloadInfo& loop_workload() {
  static const WorkloadInfo info{"loop", "independent items of one loop, with weights that differ", kLoopParameters,
                                 [](const SettingsReader& read, const Surroundings& around) {
                                   Generated g;
                                   g.program = std::make_unique<Loop>(read, around);
                                   return g;
                                 }};
  return info;
}

}  // namespace tessera::balancer::simulator
