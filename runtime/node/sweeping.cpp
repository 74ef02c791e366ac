#include "runtime/node/sweeping.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/node/node.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kBoxWords = 5;

void put(std::vector<std::int64_t>& words, std::int64_t horizon, const std::int64_t (&first)[2],
         const std::int64_t (&last)[2]) {
  words.insert(words.end(), {horizon, first[0], last[0], first[1], last[1]});
}

template <class F>
void for_each_box(const std::vector<std::int64_t>& words, F f) {
  for (std::size_t k = 0; k + kBoxWords <= words.size(); k += kBoxWords)
    f(words[k], Horizon::Box{{words[k + 1], words[k + 3]}, {words[k + 2], words[k + 4]}});
}

}  // namespace

Sweeping::Sweeping(Node& node)
    : node_(node), rank_(static_cast<std::size_t>(node.ranks())), lead_(static_cast<std::size_t>(node.ranks())) {}

template <class M>
void Sweeping::say(Rank to, M m) {
  to == node_.self() ? on(to, std::move(m)) : node_.comm.send(to, std::move(m));
}

template <class M>
void Sweeping::say_all(const M& m) {
  for (std::int32_t r = 0; r < node_.ranks(); ++r) {
    if (Rank{r} != node_.self()) node_.comm.send(Rank{r}, m);
  }
  on(node_.self(), M(m));
}

void Sweeping::want(Horizons::Whose whose) {
  if (whose == Horizons::Whose::own) return sweep_own();
  if (!wanted_.exchange(true)) node_.wake_communication();
}

void Sweeping::turn() {
  if (wanted_.load(std::memory_order_relaxed) && wanted_.exchange(false)) say(Rank{0}, SweepWanted{});
}

// Nobody is asked about names of which this rank has everything, and who makes the values frees them: the communication
// thread could not keep up. What leaves after the second look was held when it was written down; what waits, and leaves
// then, is remembered (relies), which it is already while a wave is on.
void Sweeping::sweep_own() {
  Horizons& horizons = *node_.data.horizons;
  const std::lock_guard one(one_);
  const bool wave = homes_left_ > 0;
  if (!wave) horizons.relies(true);
  Horizons::Boxes held = horizons.write_down_own();
  horizons.leave_own(held);
  std::vector<Horizons::Dead> found = horizons.find_dead(held);
  free(found, {}, Horizons::Whose::own);
  if (!wave) horizons.relies(false);
}

void Sweeping::free(std::vector<Horizons::Dead>& found, const std::unordered_set<std::uint64_t>& awaited,
                    Horizons::Whose whose) {
  node_.data.free_dead(found, awaited);
  if (found_dead != nullptr) *found_dead += found.size();
  node_.data.horizons->remove(found, whose);
}

void Sweeping::leaves(const Cf* c) {
  node_.data.horizons->share(hulls_of(c));
  try {  // and what it waits for or has
    const InputNames names(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      if (!abi::is_swept(names[k])) continue;
      const ScopeRecord* const scope = node_.scopes.find_home(names[k].scope);
      if (scope != nullptr && scope->horizons != nullptr) scope->horizons->share();
    }
  } catch (const ProgramError&) {  // it will not read them
  }
}

std::uint64_t Sweeping::ships(Rank to) {
  const std::lock_guard lock(mutex_);
  return rank_.ships(static_cast<std::size_t>(balancer::index(to)));
}

void Sweeping::came(const Ship& ship) {
  if (ship.fragments.empty()) return;  // none boarded: it has no mark
  bool crosses = false;
  {
    const std::lock_guard lock(mutex_);
    crosses = rank_.came(ship.mark);
  }
  if (crosses) {
    for (const PackedCf& p : ship.fragments) add(p);
  }
  tell();
}

bool Sweeping::is_asked(std::int32_t home) const {
  return std::find(homes_.begin(), homes_.end(), home) != homes_.end();
}

// What the fragment may read: its inputs, and what it holds.
void Sweeping::add(const PackedCf& p) {
  Cf* const c = unpack(node_.facts.program, PackedCf(p), nullptr);
  try {
    const InputNames names(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      if (abi::is_needed(names[k]) && abi::is_swept(names[k])) node_.data.horizons->rely(names[k].id);
    }
  } catch (const ProgramError&) {  // it will not read them either
  }
  const abi::Hulls hulls = hulls_of(c);
  for (std::uint32_t k = 0; k < hulls.count; ++k) {
    const abi::Hull& h = hulls.at[k];
    if (!is_asked(Horizons::home_of(h.horizon))) continue;
    written_[h.horizon].push_back({{h.first[0], h.first[1]}, {h.last[0], h.last[1]}});
  }
  free_cf(c);
}

void Sweeping::stay(const abi::Hulls& hulls, std::int64_t until) {
  std::map<Rank, HullsStay> told;
  for (std::uint32_t k = 0; k < hulls.count; ++k) {
    const abi::Hull& h = hulls.at[k];
    const Rank home{Horizons::home_of(h.horizon)};
    if (home == node_.self()) {
      node_.data.horizons->stay(h, until);
    } else {
      told[home].until = until;
      put(told[home].boxes, h.horizon, h.first, h.last);
    }
  }
  // Before this rank says that it does not hold them any more.
  for (auto& [home, m] : told) node_.comm.send(home, std::move(m));
}

void Sweeping::on(Rank, HullsStay&& m) {
  for_each_box(m.boxes, [&](std::int64_t horizon, const Horizon::Box& b) {
    node_.data.horizons->stay({horizon, {b.first[0], b.first[1]}, {b.last[0], b.last[1]}}, m.until);
  });
}

// ---------------------------------------------------------------------------- a sweep

void Sweeping::on(Rank from, SweepWanted&&) {
  lead_.want(balancer::index(from));
  begin();
}

void Sweeping::begin() {
  if (!lead_.begins()) return;
  SweepCut cut{lead_.number, {}};
  for (const std::int32_t h : lead_.homes) cut.homes.push_back(Rank{h});
  say_all(cut);
}

void Sweeping::on(Rank, SweepCut&& m) {
  homes_.clear();
  for (const Rank h : m.homes) homes_.push_back(balancer::index(h));
  {
    const std::lock_guard one(one_);
    homes_left_ = homes_.size();
    // In this order: who leaves when it has been written down that nobody holds what it waits for is remembered.
    node_.data.horizons->relies(true);
    written_ = node_.data.horizons->write_down(homes_);
  }
  SweepHasCut answer;
  {
    const std::lock_guard lock(mutex_);
    rank_.cut(m.number);
    answer.sent = rank_.sent;
  }
  say(Rank{0}, std::move(answer));
}

void Sweeping::on(Rank, SweepHasCut&& m) {
  if (!lead_.cut(m.sent)) return;
  for (std::int32_t r = node_.ranks() - 1; r >= 0; --r)
    say(Rank{r}, SweepExpect{lead_.expected[static_cast<std::size_t>(r)]});
}

void Sweeping::on(Rank, SweepExpect&& m) {
  {
    const std::lock_guard lock(mutex_);
    rank_.expect(m.count);
  }
  tell();
}

void Sweeping::tell() {
  {
    const std::lock_guard lock(mutex_);
    if (!rank_.tells()) return;
  }
  std::map<std::int32_t, SweepTold> told;
  for (const std::int32_t h : homes_) told[h];
  for (const auto& [horizon, boxes] : written_) {
    for (const Horizon::Box& b : boxes) put(told[Horizons::home_of(horizon)].boxes, horizon, b.first, b.last);
  }
  for (auto& [home, m] : told) say(Rank{home}, std::move(m));
}

void Sweeping::on(Rank, SweepTold&& m) {
  for_each_box(m.boxes, [&](std::int64_t horizon, const Horizon::Box& b) { around_[horizon].push_back(b); });
  if (++told_ < static_cast<std::size_t>(node_.ranks())) return;
  told_ = 0;
  // Not those that have been opened or shared since: nobody has been asked about them.
  Horizons::Boxes around;
  for (const auto& [horizon, boxes] : written_) {
    if (Horizons::home_of(horizon) == balancer::index(node_.self())) around[horizon] = std::move(around_[horizon]);
  }
  around_.clear();
  found_ = node_.data.horizons->find_dead(around);
  SweepFound found;
  for (const Horizons::Dead& d : found_) found.values.push_back(d.id);
  for (std::int32_t r = 0; r < node_.ranks(); ++r) {
    if (Rank{r} != node_.self()) node_.comm.send(Rank{r}, found);
  }
}

void Sweeping::on(Rank home, SweepFound&& m) {
  std::erase_if(m.values, [this](const abi::Id& id) { return !node_.data.is_awaited(id); });
  node_.comm.send(home, SweepAwaited{std::move(m.values)});
  done_with_home();
}

void Sweeping::on(Rank, SweepAwaited&& m) {
  for (const abi::Id& id : m.values) awaited_.insert(id.lo);
  if (++answered_ + 1 < static_cast<std::size_t>(node_.ranks())) return;
  answered_ = 0;
  free(found_, std::exchange(awaited_, {}), Horizons::Whose::shared);
  found_.clear();
  done_with_home();
  say(Rank{0}, SweepHeard{});
}

void Sweeping::done_with_home() {
  const std::lock_guard one(one_);
  if (--homes_left_ == 0) node_.data.horizons->relies(false);
}

void Sweeping::on(Rank, SweepHeard&&) {
  lead_.heard();
  begin();
}

}  // namespace tessera::runtime
