// Growing: which groups of fragments make values of a rank pile up? Those whose fragments make more than they free
// (GroupStats, of all workers together), and whose values hold much; or the values of groups that free as much as they
// make do, which only those can be the source of. Where a rank is *pressed* (much of what it has made waits for
// leaving, or for who reads it on other ranks) all do that make large values and do not free more: then what they read
// piles up here, which those hear of who send it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/work/group_stats.hpp"
#include "runtime/work/swept_bytes.hpp"

namespace tessera::runtime {

class Growing {
 public:
  // So much is much; or a kPart-th of all, if that is more.
  static constexpr std::int64_t kMuch = 4 << 20, kPart = 16;
  static constexpr std::int64_t kMuchPassedOn = 16 << 20;
  static constexpr std::int64_t kLarge = 4 << 10;
  static constexpr std::int64_t kMostWeight = 256;

  // Who is alone waits for nobody, and may begin earlier: then only the order changes.
  Growing(const Held& held, bool alone)
      : held_(held), much_(alone ? kMuch / 4 : kMuch), alone_(alone), swept_(held.groups()) {}
  void join(const GroupStats& stats) { of_.push_back(&stats); }
  void join(const abi::Program& program) { swept_.join(program); }
  // A fragment of the group has made a large value of a swept name; and so many bytes of these are gone.
  void makes_swept(std::uint32_t group, std::int64_t bytes) { swept_.made(group, bytes); }
  void swept(std::uint32_t group, std::int64_t bytes) {
    swept_.found(group, bytes, [this](std::uint32_t g) { return of_all(g).count; });
  }
  // Looks at how much values hold now. It only decides what goes first; of one worker that is all there is to it.
  // `by_itself`: no other rank has what is read here, so loops may be put in an order (large).
  void look(bool by_itself) {
    const std::int64_t now = held_.now();
    if (now == seen_.exchange(now, std::memory_order_relaxed)) return;
    std::int64_t passed_on = 0;
    bool some = false, large = false;
    for (std::uint32_t g = 0; g < held_.groups(); ++g) {
      const std::int64_t of_group = held_.of_group(g);
      const bool grows = growth(g) * static_cast<float>(of_.size()) >= kLarge;
      if (of_group > 0 && !makes_more(g)) passed_on += of_group;
      some = some || grows;
      large = large || (grows && of_group >= kMuch / 4);
    }
    large = large || (some && passed_on >= kMuchPassedOn);
    passed_on_.store(passed_on, std::memory_order_relaxed);
    if (large && by_itself) large_.store(true, std::memory_order_relaxed);
  }
  // Of several ranks, now and then: how large are the values that fragments make here?
  void weigh() {
    double count = 0, bytes = 0;
    for (std::uint32_t g = 0; g < held_.groups(); ++g) {
      const GroupStats::Snapshot all = of_all(g);
      if (all.ended == 0) continue;
      count += static_cast<double>(all.count);
      bytes += static_cast<double>(all.count) * static_cast<double>(all.mean_bytes_out());
    }
    if (count == 0) return;
    weighed_.store(true, std::memory_order_relaxed);
    const auto mean = static_cast<std::int64_t>(bytes / count);
    weight_.store(std::clamp<std::int64_t>(mean / kLarge, 1, kMostWeight), std::memory_order_relaxed);
  }
  // Of several ranks. `sends`: much has been sent to others, so what a group holds may be on its way to who reads it.
  void press(bool pressed, bool sends) {
    const Press now = pressed ? Press::pressed : sends ? Press::sends : Press::no;
    if (press_.load(std::memory_order_relaxed) != now) press_.store(now, std::memory_order_relaxed);
  }
  // A fragment of this rank that waits counts as so many, for it will make large values: as many as they have times
  // kLarge, on average. Until the first have run here they may be large.
  bool is_weighed() const { return weighed_.load(std::memory_order_relaxed); }
  std::int64_t weight() const { return weight_.load(std::memory_order_relaxed); }
  // On one rank: what piles up, or has before, are large values. A fragment that waits takes much less than one of
  // these.
  bool large() const { return large_.load(std::memory_order_relaxed); }
  bool grows(std::uint32_t group) const {
    const Press press = press_.load(std::memory_order_relaxed);
    if (press != Press::no && (press == Press::pressed || held_.of_group(group) >= kMuchPassedOn) && makes_large(group))
      return true;
    return makes_more(group) && (held_.of_group(group) >= std::max(much_, held_.now() / kPart) || (alone_ && feeds()));
  }
  std::uint32_t groups() const { return held_.groups(); }
  bool of_one() const { return alone_; }
  // What others have passed on is much: those who make more begin it.
  bool feeds() const { return passed_on_.load(std::memory_order_relaxed) >= kMuchPassedOn; }

  enum class Does : std::uint8_t { lets_go, keeps, grows };
  Does does(std::uint32_t group) const {
    if (grows(group) || (makes_more(group) && feeds())) return Does::grows;
    return growth(group) < -static_cast<float>(kLarge) ? Does::lets_go : Does::keeps;
  }

  // The same of what makes fragments: it grows if any of these does, for that one may be the only one to be ready.
  Does makes(const abi::Block& block) const {
    if (block.kind == abi::Kind::atomic) return does(block.group);
    bool grows = false, lets_go = false;
    const auto look = [&](std::uint32_t g) {
      const Does now = does(g);
      grows = grows || now == Does::grows;
      lets_go = lets_go || now == Does::lets_go;
    };
    if (block.kind == abi::Kind::range && (block.flags & abi::kNested) != 0) {
      for (const std::uint32_t* w = block.within; w != nullptr && *w != ~0u; w += 2) {
        for (std::uint32_t g = w[0]; g < w[1]; ++g) look(g);
      }
    } else {
      for (const std::uint32_t* g = block.body_groups; g != nullptr && *g != ~0u; ++g) look(*g);
    }
    return grows ? Does::grows : lets_go ? Does::lets_go : Does::keeps;
  }

  // Bytes that a fragment of the group makes, on average, as far as it is known here.
  std::int64_t bytes_out(std::uint32_t group) const { return of_all(group).mean_bytes_out(); }
  // Bytes, of each worker's latest ones, on average. What is swept is known for much at a time, and late: where it is
  // about as much as is made, or more than half of it, it is taken to be all of it.
  float growth(std::uint32_t group) const {
    float sum = 0;
    for (const GroupStats* s : of_) sum += s->growth(group);
    const float made = sum / static_cast<float>(of_.size()), swept = swept_.each(group);
    return swept > made / 2 && swept < made * 3 / 2 ? 0 : made - swept;
  }

 private:
  GroupStats::Snapshot of_all(std::uint32_t group) const {
    GroupStats::Snapshot all;
    for (const GroupStats* s : of_) all += s->read(group);
    return all;
  }
  // Bytes, of all workers together: a number takes more.
  static constexpr float kLittle = 64;
  bool makes_more(std::uint32_t group) const { return growth(group) * static_cast<float>(of_.size()) > kLittle; }
  bool makes_large(std::uint32_t group) const { return bytes_out(group) >= kLarge && growth(group) >= -kLittle; }
  const Held& held_;
  const std::int64_t much_;
  const bool alone_;
  enum class Press : std::uint8_t { no, sends, pressed };
  std::atomic<Press> press_{Press::no};
  std::atomic<std::int64_t> seen_{0}, passed_on_{0};
  std::atomic<bool> large_{false}, weighed_{false};
  std::atomic<std::int64_t> weight_{kMostWeight};  // until something is known
  std::vector<const GroupStats*> of_;
  SweptBytes swept_;
};

}  // namespace tessera::runtime
