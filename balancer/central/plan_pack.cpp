#include "balancer/central/plan_pack.hpp"

#include <limits>
#include <tuple>

namespace tessera::balancer {
namespace {

// Of rounding: five of 8 are to fit into 40.
constexpr double kSlack = 1e-6;
// Groups whose weights differ by less are placed in turns: as far as one can measure they weigh the same, and what they
// make may be needed together.
constexpr double kSameWeight = 1.25;
// In a gap that holds so many of a fragment, other fragments of its donor are to follow.
constexpr double kMany = 4;
// Of more than so many that are alike, one more or less is not seen.
constexpr std::int64_t kFew = 8;

}  // namespace

Packer::Packer(const std::vector<Load>& loads, const std::vector<double>& finish, Queues& queues,
               const PlanCosts& costs, double level, double latest)
    : loads_(loads),
      initial_(finish),
      queues_(queues),
      costs_(costs),
      level_(level),
      reached_(latest),
      finish_(finish),
      gaps_(loads.size()) {}

void Packer::pack(double ceiling) {
  begin(ceiling);
  while (!donors_.empty() && round()) retire();
  double reached = ceiling;
  for (const Donor& donor : donors_) {
    const bool leaves = !loads_[donor.worker].receives;
    // NOLINTNEXTLINE(bugprone-narrowing-conversions): sees one from double to double
    reached = std::max(reached, leaves ? std::numeric_limits<double>::infinity() : finish_[donor.worker]);
  }
  if (reached >= reached_) return;
  reached_ = reached;
  steps_.swap(packed_);
}

// round has all donors give what somebody has room for; false: nothing moves any more.
bool Packer::round() {
  const std::int32_t widest = gaps_.widest();
  if (widest == Gaps::kNone) return false;
  pool_.clear();
  const double heaviest = gaps_.room(widest) * (1 + kSlack);
  for (std::size_t i = 0; i < donors_.size(); ++i) choose(i, heaviest);
  const std::size_t steps = steps_.size();
  place_all();
  if (steps_.size() == steps) push_all();
  return steps_.size() > steps;
}

Plan Packer::plan() {
  std::sort(packed_.begin(), packed_.end(), [](const Step& a, const Step& b) {
    return std::tie(a.from, a.to, a.group) < std::tie(b.from, b.to, b.group);
  });
  Plan plan;
  for (auto first = packed_.begin(), last = first; first != packed_.end(); first = last) {
    Move move{first->from, first->to, {}};
    double work = 0;
    for (; last != packed_.end() && last->from == first->from && last->to == first->to; ++last) {
      if (move.fragments.empty() || move.fragments.back().group != last->group) {
        move.fragments.push_back({last->group, 0});
      }
      move.fragments.back().count += last->count;
      work += last->work;
    }
    const Load& from = loads_[move.from];
    if (from.receives && work <= gain_needed(move.from) * from.capacity) continue;
    plan.push_back(std::move(move));
  }
  return plan;
}

double Packer::gain_needed(std::size_t worker) const {
  return std::max(static_cast<double>(costs_.min_gain), initial_[worker] * 1e-9);
}

// The work that a worker must give away. Who leaves gives everything.
double Packer::excess(std::size_t worker) const {
  if (!loads_[worker].receives) return std::numeric_limits<double>::max();
  const double late = finish_[worker] - ceiling_;
  return late > std::max(gain_needed(worker), kSlack * ceiling_) ? late * loads_[worker].capacity : 0;
}

double Packer::room(std::size_t worker, double begin) const {
  return loads_[worker].receives ? (ceiling_ - begin) * loads_[worker].capacity : 0;
}

// When `to` could start a fragment with such inputs from `from`, at the end of its own queue.
double Packer::start(std::size_t from, std::size_t to, std::int64_t bytes) const {
  if (!costs_.transfer) return finish_[to];
  return std::max(finish_[to], static_cast<double>(costs_.transfer(from, to, bytes)));
}

// How many fragments `to` could take and finish by then.
std::int64_t Packer::fits(std::size_t from, std::int32_t to, const Queues::Item& item, double by) const {
  if (to == Gaps::kNone) return 0;
  const auto there = static_cast<std::size_t>(to);
  const bool known = by == ceiling_ && !costs_.transfer;
  const double gap = known ? gaps_.room(to) : (by - start(from, there, item.bytes())) * loads_[there].capacity;
  return static_cast<std::int64_t>(gap / item.weight + kSlack);
}

void Packer::begin(double ceiling) {
  ceiling_ = ceiling;
  queues_.refill();
  steps_.clear();
  donors_.clear();
  pushed_.assign(loads_.size(), false);
  finish_ = initial_;
  double widest = 0;
  for (std::size_t i = 0; i < loads_.size(); ++i) widest = std::max(widest, room(i, finish_[i]));
  gaps_.reset(widest);
  for (std::size_t i = loads_.size(); i-- > 0;) {  // the first shall be found first
    gaps_.set(i, room(i, finish_[i]));
    if (excess(i) > 0 && !queues_.of(i).empty()) donors_.push_back({i});
  }
}

void Packer::choose(std::size_t donor, double heaviest) {
  donors_[donor].to_place = 0;
  const std::size_t worker = donors_[donor].worker;
  const auto queue = queues_.of(worker);
  const double least = kSlack * ceiling_ * loads_[worker].capacity;
  double left = excess(worker);
  auto item = std::partition_point(queue.begin(), queue.end(), [&](const auto& i) { return i.weight > heaviest; });
  for (; item != queue.end() && left > least; ++item) {
    if (item->left <= 0) continue;
    const auto n = std::min(item->left, static_cast<std::int64_t>(std::min(left / item->weight, 1e18)));
    left -= static_cast<double>(n) * item->weight;
    if (n > 0) take(donor, *item, n, item->weight);
    if (item->left == 0 || left <= least) continue;
    // One is enough now. It waits a little for those that are needed as a whole.
    auto last = std::partition_point(item, queue.end(), [&](const auto& i) { return i.weight >= left; }) - 1;
    while (last->left <= 0) --last;
    return take(donor, *last, 1, (last->weight + left) / 2);
  }
}

void Packer::take(std::size_t donor, Queues::Item& item, std::int64_t count, double order) {
  if (count > 1 && !pool_.empty()) {
    const Piece& previous = pool_.back();
    if (previous.donor == donor && previous.count > 1 && previous.order <= order * kSameWeight) order = previous.order;
  }
  item.left -= count;
  donors_[donor].to_place += static_cast<double>(count) * item.weight;
  pool_.push_back({order, static_cast<std::uint32_t>(donor), &item, count});
}

void Packer::place_all() {
  effort_ += pool_.size();
  std::sort(pool_.begin(), pool_.end(),
            [](const Piece& a, const Piece& b) { return a.order != b.order ? a.order > b.order : a.donor < b.donor; });
  for (std::size_t first = 0, last = 0; first < pool_.size(); first = last) {
    while (last < pool_.size() && pool_[last].together(pool_[first])) ++last;
    place({pool_.data() + first, last - first});
  }
}

// place gives what is alike in turns.
void Packer::place(std::span<Piece> alike) {
  std::size_t empty = 0;  // in a row
  for (std::size_t turn = 0; empty < alike.size(); turn = (turn + 1) % alike.size()) {
    Piece& piece = alike[turn];
    empty = piece.count == 0 ? empty + 1 : 0;
    if (piece.count == 0) continue;
    Donor& donor = donors_[piece.donor];
    const auto [to, fit] = receiver(donor, piece);
    const std::int64_t n = fit > 0 ? std::min(fit, piece.count) : piece.count;
    if (fit > 0) {
      move(donor.worker, static_cast<std::size_t>(to), *piece.item, n);
    } else {
      piece.item->left += n;
    }
    piece.count -= n;
    donor.to_place -= static_cast<double>(n) * piece.item->weight;
  }
}

// receiver finds who takes fragments of a piece, and how many. Of many that are alike nobody gets more than up to the
// level while others could: they would idle until the next plan, if not for longer.
std::pair<std::int32_t, std::int64_t> Packer::receiver(Donor& donor, const Piece& piece) {
  const Queues::Item& item = *piece.item;
  const auto takes = [&](std::int32_t to) {
    const std::int64_t fit = fits(donor.worker, to, item, ceiling_);
    if (fit <= 1 || fit > kFew || piece.count == 1) return fit;
    return std::clamp<std::int64_t>(fits(donor.worker, to, item, level_), 1, fit);
  };
  std::int32_t best = Gaps::kNone;
  for (std::size_t i = std::min<std::size_t>(donor.opened, donor.open.size()); i-- > 0;) {
    const std::int32_t to = donor.open[i];
    if (best != Gaps::kNone && gaps_.room(to) >= gaps_.room(best)) continue;
    if (fits(donor.worker, to, item, piece.count == 1 ? ceiling_ : level_) > 0) best = to;
  }
  if (best != Gaps::kNone) return {best, takes(best)};
  const std::int32_t widest = gaps_.widest();
  const bool many = piece.count > 1 || (widest != Gaps::kNone && gaps_.room(widest) >= kMany * item.weight);
  const double want = (many ? donor.to_place : item.weight) * (1 - kSlack);
  for (const std::int32_t to : {gaps_.nearest(want), widest}) {
    const std::int64_t n = takes(to);
    if (n <= 0) continue;
    donor.open[donor.opened++ % donor.open.size()] = to;
    return {to, n};
  }
  return {Gaps::kNone, 0};
}

void Packer::move(std::size_t from, std::size_t to, const Queues::Item& item, std::int64_t count) {
  const double work = static_cast<double>(count) * item.weight;
  finish_[to] = start(from, to, item.bytes()) + work / loads_[to].capacity;
  finish_[from] -= work / loads_[from].capacity;
  gaps_.set(to, room(to, finish_[to]));
  steps_.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), item.group(), count, work});
}

void Packer::push_all() {
  const std::size_t stuck = donors_.size();
  for (std::size_t i = 0; i < stuck; ++i) {
    const std::int32_t widest = gaps_.widest();
    if (widest == Gaps::kNone) return;
    const std::size_t from = donors_[i].worker;
    if (loads_[from].receives) push(from, static_cast<std::size_t>(widest));
  }
}

// push gives the lightest fragment that suffices, or else the heaviest. The receiver is less above the ceiling then
// than the giver was, and nobody is pushed to twice: it ends.
void Packer::push(std::size_t from, std::size_t to) {
  const auto queue = queues_.of(from);
  const double left = excess(from);
  auto item = std::partition_point(queue.begin(), queue.end(), [&](const auto& i) { return i.weight >= left; });
  if (item != queue.begin()) --item;
  while (item->left <= 0 && item != queue.begin()) --item;
  const double above = item->weight - gaps_.room(static_cast<std::int32_t>(to));
  if (item->left <= 0 || above >= left || pushed_[to] || queues_.of(to).empty()) return;
  pushed_[to] = true;
  --item->left;
  move(from, to, *item, 1);
  if (excess(to) > 0) donors_.push_back({to});
}

// Who gave more than its excess has a gap now; who has nothing left to give can do no more.
void Packer::retire() {
  std::erase_if(donors_, [this](const Donor& donor) {
    const bool done = excess(donor.worker) <= 0;
    if (done) gaps_.set(donor.worker, room(donor.worker, finish_[donor.worker]));
    return done || queues_.of(donor.worker).empty();
  });
}

}  // namespace tessera::balancer
