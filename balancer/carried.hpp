// How many bytes shipments really take along.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "balancer/types.hpp"

namespace tessera::balancer {

// Carried learns it by group and receiver. What is said of inputs is a mean over all that are ready: an input that
// many of them read is said once, and travels once to each rank. So the first that go to a rank take what the first
// took to any rank; as many as went there last find there what those found.
class Carried {
 public:
  // `count` went to this rank; of one `said` bytes were said, and it took `took`.
  void learn(Rank to, Group g, double said, double took, std::int64_t count) {
    There& there = there_[{to, g}];
    if (there.count == 0) first_[g].learn(took);
    if (said > 0) there.share.learn(std::clamp(took / said, 0.05, 4.0));
    there.count = count;
  }
  // What one takes along if `count` go to this rank, and `said` bytes are said of one.
  double bytes(Rank to, Group g, double said, std::int64_t count) const {
    const auto rank = there_.find({to, g});
    const There there = rank == there_.end() ? There{} : rank->second;
    const auto any = first_.find(g);
    const double again = said * there.share.or_else(1);
    const double first = std::max(again, any == first_.end() ? said : any->second.or_else(said));
    const auto usual = static_cast<double>(std::min(count, there.count)), all = static_cast<double>(count);
    return (usual * again + (all - usual) * first) / all;
  }

 private:
  class Mean {  // of the latest
   public:
    void learn(double seen) { value_ = value_ < 0 ? seen : value_ + (seen - value_) / 4; }
    double or_else(double unknown) const { return value_ < 0 ? unknown : value_; }

   private:
    double value_ = -1;
  };
  struct There {
    Mean share;              // of what was said
    std::int64_t count = 0;  // that went last
  };
  std::map<std::pair<Rank, Group>, There> there_;
  std::map<Group, Mean> first_;
};

}  // namespace tessera::balancer
