// Births: what a worker has made of each group, and by what: for the time that is left (report/outlook.hpp). Written by
// its worker, read by anybody.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/fragment/cf.hpp"

namespace tessera::runtime {

class Births {
 public:
  explicit Births(std::uint32_t groups) : groups_(groups) {}

  // A fragment is made. True: note() it; each long loop, and the others one by one until they are many, then some of
  // them.
  bool noted(const Cf& c) { return --left_ == 0 || is_long(c); }
  // `maker`: the one that runs.
  void note(const Cf& c, const Cf& maker) {
    const bool range = c.block->kind == abi::Kind::range;
    const std::int64_t stands_for = is_long(c) ? 1 : gap_;
    GroupBirths& g = groups_[c.block->group];
    add(g.born, stands_for);
    const std::uint32_t by = maker.block->group;
    if (g.maker != by) set(g.maker, g.maker == kNoMaker ? by : kManyMakers);
    if (range || (c.block->flags & abi::kRepeats) != 0)
      add(g.steps, stands_for * std::max<std::int64_t>(0, abi::frame_int(&c, 1) - abi::frame_int(&c, 0) + 1));
    if (left_ == 0) draw_gap();
  }
  // So many ranks run all of its iterations.
  void spread(const Cf& range, std::int32_t ranks) {
    add(groups_[range.block->group].steps, (ranks - 1) * (abi::frame_int(&range, 1) - abi::frame_int(&range, 0) + 1));
  }
  void stepped(std::uint32_t group, std::int64_t iterations) { add(groups_[group].stepped, iterations); }

  // Adds what is known of a group.
  void add_to(std::uint32_t group, GroupBirths& sum) const {
    const GroupBirths& g = groups_[group];
    GroupBirths one{get(g.born), get(g.steps), get(g.stepped), get(g.maker)};
    merge(sum, one);
  }
  static void merge(GroupBirths& sum, const GroupBirths& one) {
    sum.born += one.born;
    sum.steps += one.steps;
    sum.stepped += one.stepped;
    if (one.maker == kNoMaker || one.maker == sum.maker) return;
    sum.maker = sum.maker == kNoMaker ? one.maker : kManyMakers;
  }

 private:
  static bool is_long(const Cf& c) {
    return c.block->kind == abi::Kind::range && abi::frame_int(&c, 1) - abi::frame_int(&c, 0) >= kLong;
  }
  template <class T>
  static T get(const T& x) {
    return __atomic_load_n(&x, __ATOMIC_RELAXED);
  }
  template <class T>
  static void set(T& x, T to) {
    __atomic_store_n(&x, to, __ATOMIC_RELAXED);
  }
  static void add(std::int64_t& x, std::int64_t n) { set(x, x + n); }
  // At random, so that no pattern of the program is in step with it.
  void draw_gap() {
    if (exactly_ > 0) {
      --exactly_;
    } else {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      gap_ = 25 + static_cast<std::int32_t>(random_ >> 59);
    }
    left_ = gap_;
  }

  static constexpr std::int64_t kLong = 64;  // iterations
  std::int32_t left_ = 1, gap_ = 1;
  std::int32_t exactly_ = 10'000;
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<GroupBirths> groups_;
};

}  // namespace tessera::runtime
