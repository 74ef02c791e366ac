// `proportional`: the rank where the fragments of an iteration become ready is its master. It gives
// each worker (itself too) a share by the rates of the iteration before, fastest first, and waits
// for each to say that its share is done.
//
// An iteration is a group's fragments that become ready together. What becomes ready while it is
// open belongs to it as far as the last iteration had as many; beyond that the shares may all be
// done and their reports on the way, so the master waits `report_wait` for the iteration to close
// before it takes them for latecomers.
#include "balancer/proportional/proportional.hpp"

#include <algorithm>

#include "balancer/loops/loop_rank.hpp"
#include "balancer/proportional/iterations.hpp"
#include "balancer/proportional/tracker.hpp"

namespace tessera::balancer {
namespace {

class Proportional : public LoopRank {
 public:
  explicit Proportional(const Setup& setup)
      : LoopRank(setup, proportional_info(), SettingsReader(proportional_info(), setup.settings).numbers("powers")),
        tracker_(groups_),
        silent_(static_cast<std::size_t>(ranks_), false),
        tasks_(static_cast<std::size_t>(ranks_), 0.0) {
    const SettingsReader read(proportional_info(), setup.settings);
    percent_ = read.number("percent");
    probe_after_ = read.integer("probe_after");
    report_wait_ = read.duration("report_wait");
    slack_ = read.number("slack");
    tries_first_ = false;  // a part of the first iteration would be measured as one
  }

 private:
  enum Timer : std::uint32_t { kReports = 1, kOverdue = 2, kQuickShare = 3 };
  static constexpr Time kQuick = 5 * kMillisecond;  // ten times what the host takes to tell

  void react(Time now, const Event& event, Actions& out) override {
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    for (std::size_t g = 0; g < births_.groups(); ++g) consider(g, now, out);
    set_overdue_timer(now, out);
  }

  // ---- worker

  void handle(Time now, const LoadChanged& e, Actions& out) { report(tracker_.finished(e.finished), now, out); }
  void handle(Time now, const WentIdle&, Actions& out) { report_idle(now, out); }
  void handle(Time, const WentBusy&, Actions&) {}
  void handle(Time now, const Arrived& e, Actions& out) {
    for (const GroupCount& f : e.fragments) tracker_.add(e.from, e.ticket, f.group, f.count);
    // They may be done before the host looks, and then it says nothing.
    if (idle_) out.push_back(SetTimer{kQuickShare, now + kQuick});
  }
  void report_idle(Time now, Actions& out) {
    const auto ready = [this](Group g) { return index(g) < births_.groups() ? births_.ready(index(g)) : 0; };
    report(tracker_.idle(ready), now, out);
  }
  void report(const ShareTracker::Shares& shares, Time now, Actions& out) {
    for (const ShareTracker::Share& s : shares) {
      if (s.from == self_) {
        loop(index(s.group)).done(self_, s.units, now, percent_);
      } else if (team_.here(s.from)) {
        out.push_back(Send{s.from, ShareDone{s.ticket, s.units}});
      }
    }
  }
  // What the master gave and has not started goes to others; what they gave stays.
  void hand_over(Rank master, const HandOver& e, Actions& out) {
    const std::size_t g = index(e.group);
    if (g >= births_.groups()) return;
    std::vector<Portion> portions;
    for (const Rank r : e.to) {
      if (r != self_ && team_.here(r)) portions.push_back({r, {}});
    }
    const std::int64_t n = std::min(births_.here(g), tracker_.held(master, e.group));
    if (n == 0 || portions.empty()) return;
    const auto counts = apportion(std::vector<double>(portions.size(), 1.0), n);
    for (std::size_t i = 0; i < portions.size(); ++i) {
      if (counts[i] > 0) portions[i].fragments.push_back({e.group, counts[i]});
    }
    for (const auto& tickets : ship(portions, "handed over", out)) {
      for (const std::uint64_t t : tickets) handing_over_[t] = master;
    }
  }

  // ---- both

  void handle(Time now, const Shipped& e, Actions& out) {
    if (const auto over = handing_over_.find(e.ticket); over != handing_over_.end()) {
      const Rank master = over->second;
      handing_over_.erase(over);
      for (const GroupCount& f : e.fragments) {
        report(tracker_.passed_on(master, f.group, f.count), now, out);
      }
      return;
    }
    const auto out_there = given_.find(e.ticket);
    if (out_there == given_.end()) return;
    Given& g = out_there->second;
    const std::int64_t went = e.fragments.empty() ? 0 : e.fragments.front().count;
    loop(g.group).went_short(e.to, g.units - went);
    g.units = went;
    if (went > 0) return;
    const std::size_t group = g.group;
    given_.erase(out_there);
    loop(group).done(e.to, 0, now, percent_);  // closes it if this was all
  }
  void handle(Time now, const Received& r, Actions& out) {
    if (const auto* done = std::get_if<ShareDone>(&r.message)) {
      share_done(r.from, *done, now);
    } else if (const auto* over = std::get_if<HandOver>(&r.message)) {
      hand_over(r.from, *over, out);
    } else if (const auto* tasks = std::get_if<OutsideTasks>(&r.message)) {
      outside(r.from, tasks->tasks);
    }
  }
  void handle(Time now, const TimerFired& e, Actions& out) {
    if (e.timer == kQuickShare && idle_) report_idle(now, out);
    if (e.timer == kOverdue) overdue(now, out);
    // kReports: consider looks at the time
  }
  void handle(Time, const LinkMeasured& e, Actions&) {
    // Back after it was bad: what was measured over it says nothing any more.
    Link& known = link_seen_.try_emplace(e.peer, Link{e.latency, e.bandwidth}).first->second;
    if (e.bandwidth > 2 * known.bandwidth || 2 * e.latency < known.latency) unsettle();
    known = Link{e.latency, e.bandwidth};
  }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad& e, Actions&) { outside(self_, e.tasks); }
  void handle(Time, const RankLeaving& e, Actions&) { forget(e.rank); }
  void handle(Time, const RankJoined& e, Actions&) {
    if (index(e.rank) >= ranks_) return;
    silent_[static_cast<std::size_t>(index(e.rank))] = false;
    for (Iterations& i : loops_) i.renew(e.rank);
  }

  // ---- master

  Iterations& loop(std::size_t g) {
    if (loops_.size() <= g) {
      loops_.resize(std::max(g + 1, births_.groups()), Iterations(static_cast<std::size_t>(ranks_)));
    }
    return loops_[g];
  }
  void unsettle() {
    for (Iterations& i : loops_) i.unsettle();
  }
  void outside(Rank r, double tasks) {
    double& before = tasks_[static_cast<std::size_t>(index(r))];
    if (tasks >= before + 1) unsettle();
    before = tasks;
  }
  // Its shares are not waited for; what it still holds it passes on itself.
  void forget(Rank r) {
    std::erase_if(given_, [&](const auto& g) { return g.second.to == r; });
    for (Iterations& i : loops_) i.forget(r, percent_);
  }
  void share_done(Rank from, const ShareDone& done, Time now) {
    const auto at = given_.find(done.ticket);
    if (at == given_.end() || at->second.to != from) {
      // Late, of an iteration that went on without it: dropped, but the rank is alive.
      if (silent_[static_cast<std::size_t>(index(from))]) {
        silent_[static_cast<std::size_t>(index(from))] = false;
        for (Iterations& i : loops_) i.renew(from);
      }
      return;
    }
    const Given g = at->second;
    given_.erase(at);
    loop(g.group).done(from, g.units, now, percent_);
  }

  void consider(std::size_t g, Time now, Actions& out) {
    const std::int64_t n = dealable(g);
    const auto waiting = held_until_.find(g);
    if (n == 0) {
      if (waiting != held_until_.end()) held_until_.erase(waiting);
      return;
    }
    if (just_born()) return;
    Iterations& i = loop(g);
    if (i.open() && i.units() + n > i.expected()) {
      if (waiting == held_until_.end()) {
        held_until_[g] = now + report_wait_;
        out.push_back(SetTimer{kReports, now + report_wait_});
        return;
      }
      if (now < waiting->second) return;
    }
    if (waiting != held_until_.end()) held_until_.erase(waiting);
    give(g, n, now, out);
  }

  void give(std::size_t g, std::int64_t n, Time now, Actions& out) {
    const Group group{static_cast<std::uint32_t>(g)};
    std::vector<Iterations::Worker> workers;
    for (const Rank r : team_.workers()) {
      if (!silent_[static_cast<std::size_t>(index(r))]) workers.push_back(worker(g, r));
    }
    const auto fair = n / static_cast<std::int64_t>(workers.size());
    if (workers.size() < 2 || !pays(g, std::max<std::int64_t>(1, fair))) return;
    Iterations& i = loop(g);
    const std::vector<std::int64_t> shares = i.shares(workers, n, probe_after_);
    std::vector<std::size_t> order;
    for (std::size_t w = 0; w < workers.size(); ++w) order.push_back(w);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return i.rate(workers[a].rank) > i.rate(workers[b].rank); });
    std::vector<Portion> portions;
    for (const std::size_t w : order) {
      const Rank to = workers[w].rank;
      if (shares[w] == 0) continue;
      i.given(to, shares[w], now);
      if (to == self_) {
        births_.keep(group, shares[w]);
        tracker_.add(self_, 0, group, shares[w]);
      } else {
        portions.push_back({to, {{group, shares[w]}}});
      }
    }
    const std::size_t before = out.size();
    ship(portions, "apportioned", out);
    for (std::size_t a = before; a < out.size(); ++a) {
      if (const auto* s = std::get_if<Ship>(&out[a])) {
        given_[s->ticket] = Given{g, s->to, s->fragments.front().count};
      }
    }
  }

  // Weights are this rank's; another's follow from the powers.
  Iterations::Worker worker(std::size_t g, Rank r) const {
    const auto weight = static_cast<double>(weights_.weight(Group{static_cast<std::uint32_t>(g)}));
    Iterations::Worker w{r, {}, 0, team_.outside_factor_of(r)};
    w.cost.work = weight * 1e-9 * team_.power(self_) / team_.power(r);
    if (r == self_) return w;
    const Link& link = links_.between(self_, r);
    w.cost.wire = static_cast<double>(wire_time(link, births_.bytes_each(g))) * 1e-9;
    w.latency = static_cast<double>(link.latency) * 1e-9;
    return w;
  }

  Time overdue_at(std::size_t g, Rank r) const {
    const Iterations::Worker w = worker(g, r);
    return loops_[g].overdue_at(r, w.latency, w.cost.wire, slack_);
  }
  void overdue(Time now, Actions& out) {
    for (std::size_t g = 0; g < loops_.size(); ++g) {
      std::vector<Rank> late, others;
      for (const Rank r : team_.workers()) {
        const Time at = r == self_ || !loops_[g].open() ? 0 : overdue_at(g, r);
        if (at > 0 && at <= now) {
          late.push_back(r);
        } else if (!silent_[static_cast<std::size_t>(index(r))]) {
          others.push_back(r);
        }
      }
      for (const Rank r : late) {
        silent_[static_cast<std::size_t>(index(r))] = true;
        const Group group{static_cast<std::uint32_t>(g)};
        out.push_back(Decide{"silent", r, self_, {}, 0, 0});
        out.push_back(Send{r, HandOver{group, others}});
        forget(r);
      }
    }
  }
  void set_overdue_timer(Time now, Actions& out) {
    Time first = 0;
    for (const auto& [ticket, given] : given_) {
      const Time at = overdue_at(given.group, given.to);
      if (at > 0 && (first == 0 || at < first)) first = at;
    }
    if (first == overdue_timer_) return;
    overdue_timer_ = first;
    if (first > 0) {
      out.push_back(SetTimer{kOverdue, std::max(first, now)});
    } else {
      out.push_back(CancelTimer{kOverdue});
    }
  }

  struct Given {
    std::size_t group;
    Rank to;
    std::int64_t units;
  };

  double percent_ = 0;
  std::int64_t probe_after_ = 0;
  Time report_wait_ = 0;
  double slack_ = 1;

  ShareTracker tracker_;
  std::map<std::uint64_t, Rank> handing_over_;  // ticket -> whose units

  std::vector<Iterations> loops_;           // by group
  std::map<std::uint64_t, Given> given_;    // by ticket: shares that are out
  std::map<std::size_t, Time> held_until_;  // groups with fragments that may be the next iteration
  std::vector<bool> silent_;                // by rank: too long without an answer
  std::vector<double> tasks_;               // by rank: outside load, as last told
  std::map<Rank, Link> link_seen_;
  Time overdue_timer_ = 0;
};

constexpr Parameter kProportionalParameters[] = {
    {.name = "percent",
     .default_value = "5",
     .help = "an iteration was balanced when the time of every worker was within this many percent "
             "of the mean; the next is shared in the same proportions then",
     .max = 100},
    {.name = "probe_after",
     .default_value = "8",
     .help = "iterations after which a worker that got nothing gets one fragment again, to measure "
             "its rate",
     .kind = Parameter::Kind::integer,
     .min = 1,
     .max = 1e9},
    {.name = "report_wait",
     .default_value = "0.005",
     .help = "seconds that a new iteration waits for the last reports of the one before",
     .max = 60},
    {.name = "slack",
     .default_value = "4",
     .help = "a worker that takes this many times longer than its measured rate says is left out "
             "until it answers, and passes on what it has not started",
     .min = 1,
     .max = 1e6},
    kPowersParameter,
    kMarginParameter,
    kMaxTransferParameter,
};

}  // namespace

const PolicyInfo& proportional_info() {
  static const PolicyInfo info{
      .name = "proportional",
      .summary = "each iteration is shared by the rates measured in the one before",
      .parameters = kProportionalParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> { return std::make_unique<Proportional>(setup); },
  };
  return info;
}

}  // namespace tessera::balancer
