#include "runtime/memory/held.hpp"

#include <algorithm>
#include <unordered_map>

#include "runtime/memory/value.hpp"

namespace tessera::runtime {
namespace {

struct Sample {
  std::shared_ptr<Held> by;  // or
  std::shared_ptr<HeldFrom> from;
  std::string name;
  std::uint32_t group;
  std::int64_t stands_for;
};
// Values are freed by any thread of the process, which does not know whose they were.
std::mutex samples_mutex;
std::unordered_map<const abi::Value*, Sample>& samples() {
  static auto* all = new std::unordered_map<const abi::Value*, Sample>;  // values are freed until the very end
  return *all;
}

}  // namespace

void HeldCountdown::again() {
  // Of random length: values of several names may take turns.
  random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
  left_ = every_ / 2 + static_cast<std::int64_t>(random_ % static_cast<std::uint64_t>(every_));
}

void Held::add(const std::string& name, std::uint32_t group, std::int64_t bytes) {
  const std::lock_guard hold(mutex_);
  names_[name] += bytes;
  of_groups_[group].store(of_group(group) + bytes, std::memory_order_relaxed);
  const std::int64_t now = now_.load(std::memory_order_relaxed) + bytes;
  now_.store(now, std::memory_order_relaxed);
  if (bytes > 0) made_.store(made() + bytes, std::memory_order_relaxed);
  const std::int64_t more = std::max(kGrows, now / 8);
  if (now >= grown_at_) {
    in_vain_ = std::min(2 * in_vain_, kMostInVain);
    grown_at_ = now + in_vain_ * more;
    told_at_ = now;
    pile_.store(Pile::grown, std::memory_order_relaxed);
  } else {
    if (now <= told_at_ - kGrows / 2) in_vain_ = 1;
    grown_at_ = std::min(grown_at_, now + in_vain_ * more);
  }
  note_peak();
}

void Held::note_peak() {
  const std::int64_t all = now() + copies();
  if (all <= peak_ + peak_ / 32) return;
  peak_ = all;
  at_peak_ = names_;
  copies_at_peak_ = copies();
}

void Held::copied(std::int64_t bytes) {
  const std::lock_guard hold(mutex_);
  copies_.store(copies() + bytes, std::memory_order_relaxed);
  note_peak();
}

void Held::sample(const std::string& name, std::uint32_t group, abi::Value* v) {
  const std::int64_t stands_for = std::max(bytes_of(v), kEvery);
  {
    const std::lock_guard hold(samples_mutex);
    if (!samples().try_emplace(v, Sample{shared_from_this(), nullptr, name, group, stands_for}).second) return;
    mark_sampled(v);
  }
  add(name, group, stands_for);
}

void HeldFrom::sample(abi::Value* v) {
  const auto bytes = static_cast<std::int64_t>(v->size);
  {
    const std::lock_guard hold(samples_mutex);
    if (!samples().try_emplace(v, Sample{nullptr, shared_from_this(), {}, 0, bytes}).second) return goes(bytes);
    mark_sampled(v);
  }
  here_->copied(bytes);
}

void no_longer_held(const abi::Value* v) {
  Sample s;
  {
    const std::lock_guard hold(samples_mutex);
    const auto at = samples().find(v);
    s = std::move(at->second);
    samples().erase(at);
  }
  if (s.from != nullptr) {
    s.from->here_->copied(-s.stands_for);
    s.from->goes(s.stands_for);
  } else {
    s.by->add(s.name, s.group, -s.stands_for);
  }
}

std::vector<HeldBytes> Held::most() const {
  std::vector<HeldBytes> all;
  {
    const std::lock_guard hold(mutex_);
    for (const auto& [name, bytes] : at_peak_) all.push_back({name, bytes});
    if (copies_at_peak_ > 0) {
      all.emplace_back().name = kCopies;
      all.back().bytes = copies_at_peak_;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const HeldBytes& a, const HeldBytes& b) { return a.bytes > b.bytes; });
  if (all.size() > kMost) all.resize(kMost);
  return all;
}

}  // namespace tessera::runtime
