#include "runtime/fragment/horizons.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "runtime/memory/pool.hpp"

namespace tessera::runtime {
namespace {

// A sweep of several ranks takes some ten messages for each: not for fewer values, or bytes, than these.
constexpr std::size_t kTimesAsMany = 8;
constexpr std::size_t kLeastBytesOfRank = 1 << 20;
// A look is paid for by so many bytes: about what a fragment that holds something takes itself. So values hold no more
// than twice what is needed, and as much again as all who wait; and to put the boxes of thousands in order, on each
// rank, takes longer than a look of one rank does.
constexpr std::size_t kBytesPerLook = 512;

}  // namespace

Horizons::~Horizons() {
  while (!all_.empty()) {
    Horizon* const h = all_.begin()->second;
    all_.erase(all_.begin());
    delete h;  // of another home: those of scopes have gone with them
  }
}

Horizon* Horizons::open(Horizon* next) {
  Horizon* h = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t handle = (static_cast<std::int64_t>(self_) << 48) | ++opened_;
    h = all_[handle] = new Horizon(next, handle, *this);
  }
  h->open(this);
  return h;
}

void Horizons::close(std::int64_t handle) {
  Horizon* h = nullptr;
  {
    const std::lock_guard lock(mutex_);
    h = &at(handle);
  }
  h->close();
}

void Horizons::forget(const Horizon& h) {
  const std::lock_guard lock(mutex_);
  const auto it = all_.find(h.handle());
  if (it == all_.end() || it->second != &h) return;
  all_.erase(it);
  for (const std::int64_t guard : h.handed_to_) {
    if (const auto other = all_.find(guard); other != all_.end()) other->second->forget(h);
  }
  std::size_t values = 0, bytes = 0;
  for (const Horizon::Part& p : h.parts_) values += p.values.size(), bytes += p.bytes;
  Noted& its = noted(h);
  its.values.fetch_sub(std::min(values, its.values.load()));
  its.bytes.fetch_sub(std::min(bytes, its.bytes.load()));
}

// The caller holds the lock. An empty one of another home goes with the next look.
Horizon& Horizons::at(std::int64_t handle) {
  Horizon*& h = all_[handle];
  if (h == nullptr) h = new Horizon(nullptr, handle, *this);
  return *h;
}

void Horizons::hold(HeldHull* h, const abi::Hull& hull) {
  std::vector<Horizon*> unheld;
  {
    const std::lock_guard lock(mutex_);
    if (all_.size() > look_at_) {
      for (auto it = all_.begin(); it != all_.end();) {
        Horizon& other = *it->second;
        const std::lock_guard its(other.mutex_);
        const bool goes = home_of(it->first) != self_ && other.held_.empty();
        if (goes) unheld.push_back(&other);
        it = goes ? all_.erase(it) : std::next(it);
      }
      look_at_ = 2 * all_.size() + 64;
    }
    at(hull.horizon).add(h);
  }
  for (Horizon* other : unheld) delete other;
}

void Horizons::stay(const abi::Hull& hull, std::int64_t until) {
  const std::lock_guard lock(mutex_);
  const auto of = all_.find(hull.horizon);
  if (of == all_.end()) return;  // its scope has ended
  HeldHull* const h = Horizon::make_held(hull);
  of->second->add(h);
  if (const auto guard = all_.find(until); guard != all_.end()) {
    std::vector<std::int64_t>& to = of->second->handed_to_;
    if (std::find(to.begin(), to.end(), until) == to.end()) to.push_back(until);
    h->also = std::exchange(guard->second->handed_, h);
  }
}

// By all ranks, that of its home as it is now.
bool Horizons::is_left(Horizon& h, const std::vector<Horizon::Box>& told) {
  const std::lock_guard lock(h.mutex_);
  return told.empty() && h.held_.empty();
}

void Horizons::note(std::int64_t handle, std::size_t part, const Horizon::Value& v) {
  auto whose = Whose::shared;
  {
    const std::lock_guard lock(mutex_);
    const auto it = all_.find(handle);
    if (it == all_.end()) return;
    it->second->keep(part, v);
    if (it->second->is_own()) whose = Whose::own;
  }
  Noted& n = noted_[static_cast<std::size_t>(whose)];
  const std::size_t values = n.values.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::size_t bytes = n.bytes.fetch_add(v.bytes, std::memory_order_relaxed) + v.bytes;
  const std::size_t most = std::max(n.most.load(std::memory_order_relaxed), kTimesAsMany * least_to_sweep);
  const std::size_t most_bytes = std::max(n.most_bytes.load(std::memory_order_relaxed), kLeastBytesOfRank);
  if (values < most && bytes < most_bytes) return;
  if (!n.asked.load(std::memory_order_relaxed) && !n.asked.exchange(true)) want_(whose);
}

void Horizons::share(const abi::Hulls& hulls) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t k = 0; k < hulls.count; ++k) {
    if (const auto h = all_.find(hulls.at[k].horizon); h != all_.end()) h->second->share();
  }
}

Horizons::Boxes Horizons::write_down(const std::vector<std::int32_t>& homes) {
  Boxes out;
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, h] : all_) {
    if (std::find(homes.begin(), homes.end(), home_of(handle)) == homes.end()) continue;
    if (home_of(handle) == self_) {
      if (!h->is_own()) out.emplace(handle, h->cut());
      continue;
    }
    std::size_t holds = 0;
    std::vector<Horizon::Box> boxes = h->held(Horizon::kAll, holds);
    if (!boxes.empty()) out.emplace(handle, std::move(boxes));
  }
  return out;
}

Horizons::Boxes Horizons::write_down_own() {
  Boxes out;
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, h] : all_) {
    if (home_of(handle) == self_ && h->is_own()) out.emplace(handle, h->cut());
  }
  return out;
}

void Horizons::leave_own(Boxes& held) {
  const std::lock_guard lock(mutex_);
  std::erase_if(held, [this](const auto& of) {
    const auto at = all_.find(of.first);
    return at == all_.end() || !at->second->is_own();
  });
}

std::vector<Horizons::Dead> Horizons::find_dead(const Boxes& around) {
  std::vector<Dead> dead;
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, h] : all_) {
    const auto told = around.find(handle);
    if (h->handed_ == nullptr || told == around.end() || !is_left(*h, told->second)) continue;
    Horizon::release(std::exchange(h->handed_, nullptr));
  }
  for (const auto& [handle, h] : all_) {
    const auto told = around.find(handle);
    if (home_of(handle) != self_ || told == around.end()) continue;
    std::size_t holds = 0;
    std::vector<Horizon::Box> boxes = h->held(h->cut_, holds);
    noted(*h).looks += 1 + holds + told->second.size();
    boxes.insert(boxes.end(), told->second.begin(), told->second.end());
    h->find_dead(std::move(boxes), [&, name = handle](const abi::Id& id) { dead.push_back({name, id}); });
  }
  return dead;
}

void Horizons::remove(const std::vector<Dead>& gone, Whose whose) {
  std::map<std::int64_t, std::unordered_set<std::uint64_t>> of;
  for (const Dead& d : gone) of[d.handle].insert(d.id.lo);
  const std::lock_guard lock(mutex_);
  std::size_t values[2] = {}, bytes[2] = {};
  for (const auto& [handle, h] : all_) {
    if (home_of(handle) != self_) continue;
    const std::size_t n = h->is_own() ? 0 : 1;
    if (const auto its = of.find(handle); its != of.end()) h->remove(its->second);
    for (Horizon::Part& p : h->parts_) {
      const std::lock_guard parts(p.mutex);
      values[n] += p.values.size();
      bytes[n] += p.bytes;
    }
  }
  for (const std::size_t n : {0, 1}) {
    noted_[n].values.store(values[n]);
    noted_[n].bytes.store(bytes[n]);
  }
  const auto at = static_cast<std::size_t>(whose);
  Noted& n = noted_[at];
  const std::size_t looks = std::exchange(n.looks, 0);
  n.most.store(least_to_sweep == 0 ? 0 : 2 * values[at] + looks);  // so looking costs as much as was assigned
  n.most_bytes.store(least_to_sweep == 0 ? 0 : 2 * bytes[at] + kBytesPerLook * looks);
  n.asked.store(false);
}

void Horizons::rely(const abi::Id& id) {
  const std::lock_guard lock(relied_mutex_);
  if (remembers_) relied_.insert(id.lo);
}

bool Horizons::relied(const abi::Id& id) {
  const std::lock_guard lock(relied_mutex_);
  return relied_.count(id.lo) != 0;
}

void Horizons::relies(bool on) {
  const std::lock_guard lock(relied_mutex_);
  remembers_ = on;
  relied_.clear();
}

}  // namespace tessera::runtime
