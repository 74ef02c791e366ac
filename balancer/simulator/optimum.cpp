// A search in depth, with bounds. Fragments are given their places in the order of their starts: of a schedule in which
// each begins as soon as its thread and its inputs allow, that is one order, so each is met once.
#include "balancer/simulator/optimum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "balancer/simulator/bound.hpp"
#include "balancer/simulator/network.hpp"

namespace tessera::balancer::simulator {
namespace {

using Number = std::uint32_t;

// Not worth a search.
constexpr double kNear = 1e-3;
constexpr std::int32_t kMostRanksSearched = 64;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Before a fragment starts: the end of another, and the way of so many bytes from there.
struct Before {
  Number fragment;
  std::int64_t bytes;
};

struct Node {
  double weight = 0;
  std::vector<Before> before{};
  std::vector<Number> after{};
  double at = 0;  // it is born then, on `rank`, with inputs of its own
  std::int32_t rank = -1;
  std::int64_t bytes = 0;
  double tail = 0;   // from its start to the end of all that needs it, on the fastest rank
  Number alike = 0;  // those of a number differ in nothing but the weight, and nobody waits for them; 0: none
};

class Search {
 public:
  Search(const Workload& w, const Options& o, Time known, std::int64_t most);
  Optimum run();

 private:
  struct Choice {
    Number fragment;
    std::int32_t rank;
    double start;
  };

  void read(const Workload&);
  void find_tails();
  void find_alike();
  void find_twins();
  double way(std::int32_t from, std::int32_t to, std::int64_t bytes) const;
  double ready(const Node&, std::int32_t rank) const;
  double takes(Number f, std::int32_t rank) const { return nodes_[f].weight / speeds_[static_cast<std::size_t>(rank)]; }
  // The thread of the rank that is free first.
  std::size_t thread(std::int32_t rank) const;
  bool has_untouched_twin_before(std::int32_t rank) const;
  double bound(double now) const;
  std::vector<Choice> choices(double now, Number last) const;
  void look(double now, Number last, double end);
  void place(const Choice&, double end);

  const std::size_t ranks_, threads_;
  std::vector<double> speeds_, latencies_, per_byte_;
  double fastest_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::vector<bool>> twins_;  // of ranks: nothing tells them apart

  // The schedule so far.
  std::vector<double> free_;  // by rank and thread
  std::vector<std::int32_t> rank_of_;
  std::vector<double> end_of_;
  std::vector<std::uint32_t> missing_;              // by fragment: before it, without a place yet
  std::vector<std::int32_t> on_rank_;               // fragments
  std::vector<std::vector<double>> last_of_alike_;  // by rank and number: the weight of the last one
  double left_ = 0;                                 // weights without a place
  std::size_t placed_ = 0;
  double best_;
  std::int64_t looks_ = 0;
  const std::int64_t most_;
  Time least_ = 0;
};

Search::Search(const Workload& w, const Options& o, Time known, std::int64_t most)
    : ranks_(static_cast<std::size_t>(executing_ranks(o))),
      threads_(static_cast<std::size_t>(o.threads)),
      best_(known > 0 ? static_cast<double>(known) : kNever),
      most_(most) {
  const Network network(o);
  for (std::size_t r = 0; r < ranks_; ++r) {
    speeds_.push_back(r < o.speeds.size() ? o.speeds[r] : 1);
    for (std::size_t to = 0; to < ranks_; ++to) {
      const LinkModel l = network.link(Rank{static_cast<std::int32_t>(r)}, Rank{static_cast<std::int32_t>(to)});
      latencies_.push_back(r == to ? 0 : static_cast<double>(l.latency));
      per_byte_.push_back(r == to ? 0 : 1e9 / l.bandwidth);
    }
  }
  fastest_ = fastest_speed(o);
  read(w);
  find_tails();
  if (threads_ == 1) find_alike();  // of several the first that is free would take the next: not all orders
  find_twins();
  free_.assign(ranks_ * threads_, 0);
  rank_of_.assign(nodes_.size(), -1);
  end_of_.assign(nodes_.size(), 0);
  on_rank_.assign(ranks_, 0);
  last_of_alike_.assign(ranks_, std::vector<double>(nodes_.size() + 1, kNever));
  for (const Node& n : nodes_) {
    missing_.push_back(static_cast<std::uint32_t>(n.before.size()));
    left_ += n.weight;
  }
  least_ = best_time(o, w.work(), w.critical_path(fastest_));
}

void Search::read(const Workload& w) {
  nodes_.resize(w.fragments.size());
  for (const Birth& b : w.births) {
    Node& n = nodes_[b.fragment];
    n.at = static_cast<double>(b.at);
    n.rank = index(b.rank) % static_cast<std::int32_t>(ranks_);
    n.bytes = w.fragments[b.fragment].bytes;
  }
  for (Number f = 0; f < nodes_.size(); ++f) {
    const Fragment& from = w.fragments[f];
    nodes_[f].weight = static_cast<double>(from.weight);
    const auto add = [&](std::size_t later, std::int64_t bytes) {
      nodes_[later].before.push_back({f, bytes});
      nodes_[f].after.push_back(static_cast<Number>(later));
    };
    // One with a home is made there, with what is its own: what travels from its maker is the news.
    for (const std::size_t child : from.children)
      add(child, index(w.fragments[child].home) < 0 ? w.fragments[child].bytes : 0);
  }
  for (Number f = 0; f < nodes_.size(); ++f) {
    for (const Input& i : w.fragments[f].inputs) {
      nodes_[f].before.push_back({static_cast<Number>(i.fragment), i.bytes});
      nodes_[i.fragment].after.push_back(f);
    }
  }
}

void Search::find_tails() {
  std::vector<std::uint32_t> left;
  std::vector<Number> done;
  for (Number f = 0; f < nodes_.size(); ++f) {
    left.push_back(static_cast<std::uint32_t>(nodes_[f].after.size()));
    if (left[f] == 0) done.push_back(f);
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    Node& n = nodes_[done[i]];
    for (const Number later : n.after) n.tail = std::max(n.tail, nodes_[later].tail);
    n.tail += n.weight / fastest_;
    for (const Before& b : n.before) {
      if (--left[b.fragment] == 0) done.push_back(b.fragment);
    }
  }
}

void Search::find_alike() {
  Number numbers = 0;
  for (Number f = 0; f < nodes_.size(); ++f) {
    Node& n = nodes_[f];
    if (!n.after.empty() || n.alike != 0) continue;
    n.alike = ++numbers;
    for (Number g = f + 1; g < nodes_.size(); ++g) {
      Node& other = nodes_[g];
      const bool same =
          other.after.empty() && other.at == n.at && other.rank == n.rank && other.bytes == n.bytes &&
          std::equal(n.before.begin(), n.before.end(), other.before.begin(), other.before.end(),
                     [](const Before& a, const Before& b) { return a.fragment == b.fragment && a.bytes == b.bytes; });
      if (same) other.alike = n.alike;
    }
  }
}

void Search::find_twins() {
  twins_.assign(ranks_, std::vector<bool>(ranks_));
  std::vector<bool> born(ranks_);
  for (const Node& n : nodes_) {
    if (n.rank >= 0) born[static_cast<std::size_t>(n.rank)] = true;
  }
  const auto same = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return latencies_[a * ranks_ + b] == latencies_[c * ranks_ + d] &&
           per_byte_[a * ranks_ + b] == per_byte_[c * ranks_ + d];
  };
  for (std::size_t a = 0; a < ranks_; ++a) {
    for (std::size_t b = 0; b < ranks_; ++b) {
      bool twins = speeds_[a] == speeds_[b] && !born[a] && !born[b] && same(a, b, b, a);
      for (std::size_t c = 0; twins && c < ranks_; ++c) {
        if (c != a && c != b) twins = same(a, c, b, c) && same(c, a, c, b);
      }
      twins_[a][b] = twins;
    }
  }
}

double Search::way(std::int32_t from, std::int32_t to, std::int64_t bytes) const {
  const std::size_t at = static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
  return latencies_[at] + static_cast<double>(bytes) * per_byte_[at];
}

// When all that it needs could be on the rank.
double Search::ready(const Node& n, std::int32_t rank) const {
  double at = n.rank >= 0 ? n.at + way(n.rank, rank, n.bytes) : 0;
  for (const Before& b : n.before) at = std::max(at, end_of_[b.fragment] + way(rank_of_[b.fragment], rank, b.bytes));
  return at;
}

std::size_t Search::thread(std::int32_t rank) const {
  const auto first = free_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * threads_);
  return static_cast<std::size_t>(std::min_element(first, first + static_cast<std::ptrdiff_t>(threads_)) -
                                  free_.begin());
}

bool Search::has_untouched_twin_before(std::int32_t rank) const {
  const auto r = static_cast<std::size_t>(rank);
  if (on_rank_[r] > 0) return false;
  for (std::size_t a = 0; a < r; ++a) {
    if (on_rank_[a] == 0 && twins_[a][r]) return true;
  }
  return false;
}

// Nothing that is left starts before `now`: no end of the schedule is earlier than this.
double Search::bound(double now) const {
  double power = 0, since = left_;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    power += speeds_[i / threads_];
    since += std::max(free_[i], now) * speeds_[i / threads_];
  }
  double least = since / power;
  for (Number f = 0; f < nodes_.size(); ++f) {
    if (rank_of_[f] >= 0) continue;
    double start = std::max(now, nodes_[f].at);
    for (const Before& b : nodes_[f].before) {
      if (rank_of_[b.fragment] >= 0) start = std::max(start, end_of_[b.fragment]);
    }
    least = std::max(least, start + nodes_[f].tail);
  }
  return least;
}

std::vector<Search::Choice> Search::choices(double now, Number last) const {
  std::vector<Choice> all;
  for (Number f = 0; f < nodes_.size(); ++f) {
    const Node& n = nodes_[f];
    if (rank_of_[f] >= 0 || missing_[f] > 0) continue;
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(ranks_); ++r) {
      if (has_untouched_twin_before(r)) continue;
      // Of those that are alike a rank takes the heavy ones first.
      if (n.alike > 0 && n.weight > last_of_alike_[static_cast<std::size_t>(r)][n.alike]) continue;
      const double start = std::max(ready(n, r), free_[thread(r)]);
      // Of those that start together the first comes first; one without weight may have made the other possible.
      if (start < now || (start == now && f < last && nodes_[last].weight > 0)) continue;
      all.push_back({f, r, start});
    }
  }
  std::sort(all.begin(), all.end(), [&](const Choice& a, const Choice& b) {
    const double first = a.start - nodes_[a.fragment].tail, second = b.start - nodes_[b.fragment].tail;
    if (first != second) return first < second;
    return a.start + takes(a.fragment, a.rank) < b.start + takes(b.fragment, b.rank);
  });
  return all;
}

void Search::place(const Choice& c, double end) {
  double& free = free_[thread(c.rank)];
  const double free_before = free, weight = nodes_[c.fragment].weight;
  const auto rank = static_cast<std::size_t>(c.rank);
  double& last = last_of_alike_[rank][nodes_[c.fragment].alike];
  const double last_before = last;
  const double ends = c.start + takes(c.fragment, c.rank);
  free = ends;
  last = weight;
  rank_of_[c.fragment] = c.rank;
  end_of_[c.fragment] = ends;
  for (const Number later : nodes_[c.fragment].after) --missing_[later];
  ++on_rank_[rank];
  left_ -= weight;
  ++placed_;
  look(c.start, c.fragment, std::max(end, ends));
  --placed_;
  left_ += weight;
  --on_rank_[rank];
  for (const Number later : nodes_[c.fragment].after) ++missing_[later];
  rank_of_[c.fragment] = -1;
  last = last_before;
  free = free_before;
}

void Search::look(double now, Number last, double end) {
  if (placed_ == nodes_.size()) {
    best_ = std::min(best_, end);
    return;
  }
  if (++looks_ > most_) return;
  const auto too_late = [&](double at) { return at >= best_ * (1 - kNear); };
  if (too_late(end) || too_late(bound(now))) return;
  for (const Choice& c : choices(now, last)) {
    if (looks_ > most_ || too_late(c.start + nodes_[c.fragment].tail)) continue;
    place(c, end);
  }
}

Optimum Search::run() {
  look(0, 0, 0);
  Optimum o;
  o.looks = looks_;
  o.found = static_cast<Time>(std::ceil(best_));
  o.proved = looks_ <= most_;
  o.least = o.proved ? std::max(least_, static_cast<Time>(best_ * (1 - kNear))) : least_;
  // The bound of all schedules is reached: there is nothing left to look for.
  o.proved = o.proved || best_ * (1 - kNear) <= static_cast<double>(least_);
  return o;
}

// Runs a program at once, and notes who has made whom.
class Unfolding final : public Effects {
 public:
  explicit Unfolding(Program& p) : program_(p) {}
  std::optional<Workload> run() {
    work_.groups = program_.groups();
    for (const Births& b : program_.births()) {
      if (b.count > kMostSearched) return std::nullopt;
      now_ = b.at;
      program_.born(b, *this);
      if (!fits()) return std::nullopt;
    }
    parent_ = 0;
    for (; *parent_ < items_.size(); ++*parent_) {
      const Item done = items_[*parent_];
      program_.finished(Rank{0}, done, *this);
      if (!fits()) return std::nullopt;
    }
    return std::move(work_);
  }
  void ready(Rank here, const Item& item) override {
    const std::size_t f = work_.add({Group{item.group}, item.weight});
    work_.fragments[f].bytes = program_.has_data() ? program_.bytes_here(item, here) : 0;
    if (parent_) {
      work_.fragments[*parent_].children.push_back(f);
    } else {
      work_.births.push_back({now_, here, f});
    }
    items_.push_back(item);
  }
  void send(Rank, Rank, std::int64_t, const Note&) override { said_ = true; }

 private:
  bool fits() const { return !said_ && items_.size() <= kMostSearched; }

  Program& program_;
  Workload work_;
  std::vector<Item> items_;  // by fragment
  std::optional<std::size_t> parent_;
  Time now_ = 0;
  bool said_ = false;
};

}  // namespace

std::optional<Workload> unfold(Program& p) { return Unfolding(p).run(); }

std::string why_no_optimum(const Workload& w, const Options& o) {
  if (w.fragments.size() > kMostSearched) {
    return "the search is for up to " + std::to_string(kMostSearched) + " fragments; these are " +
           std::to_string(w.fragments.size());
  }
  if (executing_ranks(o) > kMostRanksSearched)
    return "the search is for up to " + std::to_string(kMostRanksSearched) + " ranks";
  if (!o.changes.empty() || !o.absent.empty()) return "the search is for clusters that do not change";
  return "";
}

Optimum optimum(const Workload& w, const Options& o, Time known, std::int64_t most) {
  return Search(w, o, known, most).run();
}

}  // namespace tessera::balancer::simulator
