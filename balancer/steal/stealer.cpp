// The default stealer.
//
// Thief: needs work when idle, or when what is ready lasts less than a steal takes. It has at most
// one request out, to: the rank that woke it, else the rank that has given most, else a random one that
// does not remember it yet. A refusal means "I remember you"; a rank that `attempts` others
// remember is silent and sleeps. Victim: gives half of what is ready and worth moving, never what
// its own threads take next, in shipments short enough for the thief to start soon. It remembers
// refused thieves and wakes as many as it has fragments to give when surplus appears; a woken thief
// is forgotten. With patience it also deals out what becomes ready again as it went the last time.
//
// So each refusal is paid for by one wake-up, each wake-up by new surplus: with nothing stealable
// anywhere no message is sent.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "balancer/carried.hpp"
#include "balancer/growth.hpp"
#include "balancer/links.hpp"
#include "balancer/price.hpp"
#include "balancer/ready_view.hpp"
#include "balancer/settings.hpp"
#include "balancer/steal/flow.hpp"
#include "balancer/steal/steal.hpp"
#include "balancer/steal/victims.hpp"

namespace tessera::balancer {
namespace {

// Ranks of this host, itself too; none where hosts are not known.
std::vector<Rank> mates_of(const Setup& setup) {
  const Hosts hosts(setup.hosts);
  std::vector<Rank> mates;
  for (std::int32_t r = 0; hosts.known() && r < setup.ranks; ++r)
    if (hosts.same(setup.rank, Rank{r})) mates.push_back(Rank{r});
  return mates;
}

class Stealer : public Policy {
 public:
  explicit Stealer(const Setup& setup)
      : self_(setup.rank),
        ranks_(setup.ranks),
        workers_(std::max(1, setup.workers)),
        ship_cost_(setup.ship_cost),
        never_moved_(setup.groups.size()),
        weights_(setup.groups, kWeightMemory, kShippings * setup.ship_cost),
        ready_(setup.groups.size()),
        growth_(workers_),
        links_(Hosts(setup.hosts)),
        powers_(setup.powers),
        victims_(self_, ranks_, mates_of(setup), SettingsReader(steal_info(), setup.settings).integer("attempts"),
                 Random(setup.seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(index(setup.rank)))) {
    for (std::size_t g = 0; g < setup.groups.size(); ++g) {
      never_moved_[g] = setup.groups[g].never_moved;
    }
    const SettingsReader read(steal_info(), setup.settings);
    priced_ = read.is_auto("transfer_margin");
    if (!priced_) margin_ = read.number("transfer_margin");
    max_transfer_ = read.duration("max_transfer");
    patience_ = read.duration("patience");
    for (std::int32_t r = 0; r < ranks_; ++r) powers_in_all_ += power(Rank{r});
  }

  void step(Time now, const Event& event, Actions& out) override {
    if (ranks_ < 2) return;
    now_ = now;
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    deal(out);
    wake_thieves(out);
    call_others(out);
    ask(now, out);
  }

 private:
  using Known = Victims::Known;
  struct Thief {
    Rank rank;
    bool idle;
  };
  // Where fragments make others, mean growth says little of the last few: a rank asks ahead while it
  // has less than three steals' worth, and a shipment is worth five transfers. Else crumbs are
  // handed around, and thieves meet victims that have just been robbed.
  static constexpr double kAhead = 3, kWorth = 5;
  // More find work sooner at the start of a search on hundreds of ranks; on hosts that take 50 us for a message they
  // cost more than that.
  static constexpr std::int64_t kCallers = 4;
  // Where inputs are dear (the wire takes more than a 64th of what one weighs) a thief gets no more than lasts for
  // kLasts steals: halves of halves would carry the same inputs over several ranks before anybody uses them.
  // Where the links of the victims are full steals last longer, and shipments grow with them.
  static constexpr Time kDear = 64, kLasts = 4;

  void handle(Time now, const LoadChanged& e, Actions&) {
    std::int64_t finished = 0;
    for (const GroupDone& d : e.finished) {
      weights_.completed(d);
      finished += d.count;
      of(d.group).flow.finished(d.count);
      if (index(d.group) >= produced_.size()) produced_.resize(index(d.group) + 1);
      const auto n = static_cast<double>(d.count), sum = static_cast<double>(d.bytes);
      produced_[index(d.group)].add(n, sum, sum * sum / std::max(1.0, n), kWeightMemory);
    }
    const std::int64_t before = ready_.accounted();
    ready_.told(e);
    growth_.told(before, ready_.total(), finished);
    for (std::size_t g = 0; g < ready_.size(); ++g) {
      OfGroup& group = of(Group{static_cast<std::uint32_t>(g)});
      if (group.since < 0 && ready_[g].count() > 0) group.since = now;
      group.flow.told(ready_[g].count());
    }
  }
  void handle(Time now, const WentIdle&, Actions&) {
    idle_ = true;
    idle_since_ = now;
  }
  void handle(Time, const WentBusy&, Actions&) { idle_ = fresh_ = false; }
  void handle(Time, const LinkMeasured& e, Actions&) {
    links_.measured(self_, e.peer, Link{e.latency, e.bandwidth});
    if (steal_time_ == 0 || !steal_measured_) steal_time_ = std::max(steal_time_, 3 * e.latency);
  }
  void handle(Time now, const Received& r, Actions& out) {
    if (const auto* request = std::get_if<StealRequest>(&r.message)) {
      growth_.elsewhere(request->made);
      give(r.from, *request, out);
    } else if (const auto* refuse = std::get_if<StealRefuse>(&r.message)) {
      if (asked_ && asked_->victim == r.from && asked_->number == refuse->number) {
        victims_.remembered_at(r.from, asked_->idle ? Known::as_idle : Known::as_busy);
        asked_.reset();
      }
    } else if (const auto* wake = std::get_if<StealWake>(&r.message)) {
      victims_.wakes(r.from);
      if (wake->call) {
        call_heard_ = true;
        called(r.from, out);
      } else if (idle_ && now - idle_since_ >= patience_) {
        idle_since_ = now;  // who serves this rank could not: there was nothing
      }
    }
  }
  void handle(Time now, const Arrived& e, Actions& out) {
    ready_.arrived(e.fragments);
    for (const GroupCount& f : e.fragments) {
      victims_.gave(e.from, f.count);
      of(f.group).came = true;
      if (of(f.group).since < 0) of(f.group).since = now;
      of(f.group).flow.arrived(f.count);
    }
    idle_since_ = now;
    if (asked_ && asked_->victim == e.from) {
      steal_measured_ = true;
      steal_time_ += (now - asked_->at - steal_time_) / 4;
      asked_.reset();
    }
  }
  void handle(Time, const Shipped& e, Actions& out) {
    std::int64_t outputs = 0;
    for (const GroupCount& f : e.fragments) outputs += f.count * produced(f.group);
    const Link& link = links_.between(self_, e.to);
    learn_carried(e, e.bytes - outputs);
    for (const GroupCount& f : e.fragments) of(f.group).flow.left(e.to, f.count);
    if (e.ticket == kNoTheft && !e.fragments.empty())
      sent_until_[e.to] = now_ + crossing_time(link, e.bytes - outputs, weights_.travelling(e.fragments));
    const auto it = shipping_.find(e.ticket);
    if (it == shipping_.end()) return;
    ready_.shipped(it->second.asked, e.fragments);
    lines_[line_to(e.to)].take(now_, wire_time(link, e.bytes - outputs), wire_time(link, outputs));
    if (it->second.dealt) {
      for (const GroupCount& f : it->second.asked) of(f.group).flow.promised(e.to, -f.count);
    } else if (e.fragments.empty()) {
      refuse(it->second.thief, it->second.number, it->second.idle, out);
    }
    shipping_.erase(it);
  }
  void handle(Time, const TimerFired&, Actions&) { timer_set_ = false; }
  void handle(Time, const RankLeaving& e, Actions&) {
    victims_.leaves(e.rank);
    std::erase_if(thieves_, [&](const Thief& t) { return t.rank == e.rank; });
    if (asked_ && asked_->victim == e.rank) asked_.reset();
  }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad&, Actions&) {}
  void handle(Time, const RankJoined& e, Actions&) { victims_.joins(e.rank); }

  struct OfGroup {
    Flow flow;
    Time since = -1;    // some are ready here
    bool came = false;  // some from elsewhere
  };
  OfGroup& of(Group g) {
    if (index(g) >= of_group_.size()) of_group_.resize(index(g) + 1);
    return of_group_[index(g)];
  }
  bool probed_here(std::size_t g, const Link& link, std::int64_t bytes) const {
    return g < of_group_.size() && of_group_[g].came && now_ < of_group_[g].since + probe_wait(link, bytes);
  }

  // ---- thief

  bool needs_work() const {
    if (!present(self_)) return false;
    if (idle_ && ready_.total() == 0) return true;
    const double ahead = growth_.grows() ? kAhead : 1;
    return growth_.factor() * static_cast<double>(ready_.load(weights_)) <
           ahead * static_cast<double>(workers_) * static_cast<double>(steal_time());
  }
  Time steal_time() const { return steal_time_ > 0 ? steal_time_ : 3 * Link{}.latency; }

  Time need() const { return kLasts * workers_ * steal_time(); }

  void ask(Time now, Actions& out) {
    if (asked_ || !needs_work() || !patient(now, out)) return;
    const bool idle = idle_ && !early_;  // who asks early asks as if busy
    const std::optional<Rank> victim = victims_.choose(idle);
    call_heard_ = false;
    if (!victim) return;  // remembered by enough: sleep
    asked_ = Request{*victim, ++number_, now, idle};
    victims_.remembered_at(*victim, Known::no);  // a request replaces what its victim remembers
    out.push_back(Send{*victim, StealRequest{number_, idle, need(), growth_.made()}});
  }

  // Another may serve this rank (`auto`): it asks when it has had nothing for a while, or where fragments make
  // others, whose weights tell nothing. In the beginning a few others are to know of it, who call it if fragments make
  // others there.
  bool patient(Time now, Actions& out) {
    early_ = false;
    if (patience_ == 0 || growth_.may_grow() || call_heard_) return true;
    if (idle_ && now - idle_since_ >= patience_) return true;
    early_ = fresh_ && victims_.remembered() < kCallers;
    if (early_) return true;
    if (!idle_) return false;
    if (!timer_set_) out.push_back(SetTimer{kStealTimer, idle_since_ + patience_});
    timer_set_ = true;
    return false;
  }

  // Beside this rank: weights are those that it has measured.
  double power(Rank r) const {
    const auto of = [this](Rank x) {
      const auto i = static_cast<std::size_t>(index(x));
      return i < powers_.size() && powers_[i] > 0 ? powers_[i] : 1.0;
    };
    return of(r) / of(self_);
  }
  bool present(Rank r) const { return victims_.present(r); }

  // ---- victim

  // share is what a request would get now: half of each group (a lone last fragment only for a
  // thief where nothing runs), while the shipment takes at most max_transfer, and only if what
  // moves outweighs the message. Empty: nothing.
  std::vector<GroupCount> share(Rank thief, bool thief_idle, Time need) const {
    if (idle_ && ready_.total() <= workers_) return {};                    // just arrived; our own threads take it
    const bool served = patience_ > 0 && !thief_idle && !growth_.grows();  // by another, from what is measured
    const Link& link = links_.between(self_, thief);
    std::vector<GroupCount> parts;
    Time weight = 0;
    std::int64_t bytes = 0;
    bool unmeasured = false;
    LineUse line = lines_[line_to(thief)].use(now_);
    // Who is near would have it from here sooner than who is far.
    const auto threads = static_cast<double>(workers_ * (line_to(thief) ? 1 : victims_.on_this_host()));
    const Time running = idle_ ? 0 : weights_.fallback() / 2;  // half of it is left, as far as one can tell
    Computing own{static_cast<double>(running) + static_cast<double>(ready_.load(weights_)) / threads, threads};
    Computing other{0, power(thief)};
    const bool priced = priced_ && !growth_.grows();
    // A thief that another serves needs enough until then: not half, but as much as each rank would have of all.
    const std::int64_t sharers = patience_ > 0 && !growth_.grows() ? ranks_ : 2;
    const auto add = [&](std::size_t g, std::int64_t count) {
      const Group group{static_cast<std::uint32_t>(g)};
      if (count <= 0) return;
      const std::int64_t each = bytes_to(thief, group, count);
      if (!weights_.known(group)) {
        count = 1;  // nothing measured yet: an idle thief finds out what one weighs
        unmeasured = true;
        if ((!thief_idle && !served) || !may_travel(link, each)) return;
        // What came here will soon be known here: its inputs do not travel twice to find out.
        if (priced_ && probed_here(g, link, each)) return;
      } else if (served) {
        return;
      } else if (priced ||
                 !worth_moving(weights_.cautious(group), each, link, margin_, weights_.ship_cost(group, ship_cost_))) {
        // Also where fragments make others: what is ready may be enough without what it will make, and of chains, each
        // of whose links makes the next one ready, it is all that there ever is.
        if (!priced_ || !may_travel(link, each) || too_busy(group, each)) return;
        const std::int64_t outputs = std::min(each, produced(group));
        count =
            affordable(lot_of(count, weights_.weight(group), each - outputs, outputs, link, 0), 0, own, other, line);
        if (count <= 0) return;
      }
      if (each > 0 && wire_time(link, each) > 0) {
        const auto one = static_cast<double>(weights_.weight(group));
        const double wire = static_cast<double>(wire_time(link, each));
        if (need > 0 && kDear * wire > one) {
          const double enough = std::max(static_cast<double>(need), wire) / std::max(1.0, one);
          count = std::min(count, std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(enough, 1e15))));
        }
        const Time left = max_transfer_ - wire_time(link, bytes);
        count = std::min(count, std::max<Time>(parts.empty() ? 1 : 0, left / wire_time(link, each)));
      }
      if (!link.measured && each > 0) count = std::min(count, std::max<std::int64_t>(0, kSmallBytes - bytes) / each);
      if (count <= 0) return;
      parts.push_back({group, count});
      weight += count * weights_.weight(group);
      bytes += count * each;
    };
    for (std::size_t g = 0; g < ready_.size(); ++g) {
      if (movable(g) > 0) add(g, movable(g) / sharers);
    }
    if (parts.empty()) {
      // One of each at most: the heaviest goes that leaves as much work behind, or if the thief has nothing at all.
      // Otherwise two ranks that each have a crumb besides would hand one fragment to and fro.
      std::size_t best = ready_.size();
      for (std::size_t g = 0; g < ready_.size(); ++g) {
        if (movable(g) > 0 && (thief_idle || leaves_as_much(g)) && (best == ready_.size() || heavier(g, best)))
          best = g;
      }
      if (best < ready_.size()) add(best, 1);
    }
    if (priced) return parts;
    const double worth = growth_.grows() ? std::max(kWorth, margin_) : margin_;
    const bool pays =
        growth_.factor() * static_cast<double>(weight) >= worth * static_cast<double>(transfer_time(link, bytes));
    return pays || unmeasured ? parts : std::vector<GroupCount>{};
  }
  // Whether moving one keeps both ranks as busy as running it, however fast the line is.
  bool too_busy(Group group, std::int64_t bytes) const {
    return weights_.cautious(group) < weights_.ship_cost(group, kShippings * ship_cost_) + copy_time(bytes);
  }
  // Of one that is ready, as it is said: its inputs, in bytes.
  std::int64_t inputs(Group group) const {
    if (index(group) >= ready_.size() || ready_[index(group)].count() <= 0) return 0;
    const std::int64_t each = ready_[index(group)].bytes_now() / ready_[index(group)].count();
    return each - std::min(each, produced(group));
  }
  // Of one that goes with `count` to a rank: its inputs as far as they travel, and what it produces, in bytes.
  std::int64_t bytes_to(Rank to, Group group, std::int64_t count) const {
    const std::int64_t each = ready_[index(group)].bytes_now() / ready_[index(group)].count();
    const auto said = static_cast<double>(inputs(group));
    return each - inputs(group) + static_cast<std::int64_t>(carried_.bytes(to, group, said, count));
  }
  void learn_carried(const Shipped& e, std::int64_t bytes) {
    double said = 0, count = 0;
    for (const GroupCount& f : e.fragments) {
      said += static_cast<double>(f.count * inputs(f.group));
      count += static_cast<double>(f.count);
    }
    const auto took = static_cast<double>(std::max<std::int64_t>(0, bytes));
    for (const GroupCount& f : e.fragments) {
      const auto each = static_cast<double>(inputs(f.group));
      carried_.learn(e.to, f.group, each, said > 0 ? each * took / said : took / count, f.count);
    }
  }
  // What one of the group produces, in bytes.
  std::int64_t produced(Group group) const {
    return index(group) < produced_.size() ? static_cast<std::int64_t>(produced_[index(group)].mean) : 0;
  }
  bool line_to(Rank to) const { return links_.hosts().same(self_, to); }
  std::int64_t movable(std::size_t g) const {
    return g < never_moved_.size() && never_moved_[g] ? 0 : ready_[g].count() - in_shipment(g);
  }
  // Whether the others weigh no less than one of this group, as far as is known; where its own weight is not, whether
  // there are any.
  bool leaves_as_much(std::size_t group) const {
    const Group own{static_cast<std::uint32_t>(group)};
    Time left = 0;
    for (std::size_t g = 0; g < ready_.size(); ++g) {
      const Group other{static_cast<std::uint32_t>(g)};
      const std::int64_t count = ready_[g].count() - in_shipment(g) - (g == group);
      if (weights_.known(own) ? weights_.known(other) : count > 0) left += count * weights_.weight(other);
    }
    return left >= (weights_.known(own) ? weights_.weight(own) : 1);
  }
  bool heavier(std::size_t a, std::size_t b) const {
    return weights_.weight(Group{static_cast<std::uint32_t>(a)}) >
           weights_.weight(Group{static_cast<std::uint32_t>(b)});
  }
  std::int64_t in_shipment(std::size_t g) const {
    std::int64_t n = 0;
    for (const auto& [ticket, s] : shipping_) {
      for (const GroupCount& f : s.asked) n += index(f.group) == g ? f.count : 0;
    }
    return n;
  }

  void give(Rank thief, const StealRequest& request, Actions& out) {
    const auto& [number, thief_idle, need, made] = request;
    std::erase_if(thieves_, [&](const Thief& t) { return t.rank == thief; });
    std::vector<GroupCount> parts;
    if (!sent_lately(thief)) parts = share(thief, thief_idle, need);
    if (parts.empty()) {
      refuse(thief, number, thief_idle, out);
      return;
    }
    const std::uint64_t ticket = ++ticket_ | (growth_.may_grow() ? kOfGrowth : 0);
    out.push_back(Ship{ticket, thief, parts});
    out.push_back(Decide{"stolen", self_, thief, parts, ready_.load(weights_), 0});
    shipping_[ticket] = {thief, number, thief_idle, std::move(parts), false};
  }
  // deal gives each rank at once what it got here in the last step, as far as it is worth its price: nobody has to have
  // nothing first, and no plan has to be made. What a rank got beyond its share of all it does not get so.
  void deal(Actions& out) {
    if (patience_ == 0 || !priced_ || growth_.may_grow()) return;
    std::optional<Computing> own;
    std::array<LineUse, 2> lines{};
    for (std::size_t g = 0; g < of_group_.size(); ++g) {
      const Group group{static_cast<std::uint32_t>(g)};
      if (g >= ready_.size() || movable(g) <= 0 || !weights_.known(group)) continue;
      const auto share = [this](Rank r, std::int64_t all) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(all) * power(r) / powers_in_all_));
      };
      for (const Flow::Due& due : of_group_[g].flow.due(workers_, share)) {
        const Link& link = links_.between(self_, due.to);
        std::int64_t count = std::min(due.count, movable(g));
        if (count <= 0 || !present(due.to) || !link.measured) continue;
        if (!own) {
          const auto threads = static_cast<double>(workers_);
          own = Computing{static_cast<double>(ready_.load(weights_)) / threads, threads};
          for (std::size_t l = 0; l < lines.size(); ++l) lines[l] = lines_[l].use(now_);
        }
        const std::int64_t each = bytes_to(due.to, group, count), outputs = std::min(each, produced(group));
        if (too_busy(group, each)) continue;
        const Lot lot = lot_of(count, weights_.weight(group), each - outputs, outputs, link, 0);
        Computing other{0, power(due.to)};
        count = affordable(lot, 0, *own, other, lines[line_to(due.to)]);
        if (count <= 0) continue;
        of_group_[g].flow.promised(due.to, count);
        out.push_back(Ship{++ticket_, due.to, {{group, count}}});
        out.push_back(Decide{"dealt", self_, due.to, {{group, count}}, ready_.load(weights_), 0});
        shipping_[ticket_] = {due.to, 0, false, {{group, count}}, true};
      }
    }
  }
  // It asked before it had what another policy has sent it from here.
  bool sent_lately(Rank thief) const {
    const auto sent = sent_until_.find(thief);
    return sent != sent_until_.end() && now_ < sent->second && !growth_.may_grow();
  }
  void refuse(Rank thief, std::uint64_t number, bool thief_idle, Actions& out) {
    out.push_back(Send{thief, StealRefuse{number}});
    thieves_.push_back({thief, thief_idle});
  }
  // wake_thieves wakes sleepers in the order they came, one per fragment that could be given.
  void wake_thieves(Actions& out) {
    if (thieves_.empty() || ready_.total() == 0 || needs_work()) return;
    std::int64_t budget = 0;
    for (std::size_t g = 0; g < ready_.size(); ++g) budget += std::max<std::int64_t>(movable(g), 0);
    std::vector<Thief> asleep;
    for (const Thief& t : thieves_) {
      if (budget > 0 && !share(t.rank, t.idle, 0).empty()) {
        out.push_back(Send{t.rank, StealWake{}});
        --budget;
      } else {
        asleep.push_back(t);
      }
    }
    thieves_ = std::move(asleep);
  }

  // call_others calls ranks 1, 2, 4, ... further on, once, where fragments are found to make others: they may not have
  // heard of anything yet, and each calls others as soon as it has work.
  void call_others(Actions& out) {
    if (called_ || !growth_.grows() || needs_work()) return;
    call(ranks_, out);
  }
  // Who is patient asks nobody until called. It passes the call on at once, to the ranks between it and the next that
  // was called: all ranks hear of it in the time of log2(ranks) messages, not after as many halves of the work.
  void called(Rank by, Actions& out) {
    growth_.heard();
    if (patience_ > 0 && !called_) call((index(self_) + ranks_ - index(by)) % ranks_, out);
  }
  // call calls the ranks 1, 2, 4, ... further on that are less than `below` away.
  void call(std::int32_t below, Actions& out) {
    called_ = true;
    for (std::int32_t d = 1; d < below; d *= 2) {
      const Rank r{(index(self_) + d) % ranks_};
      if (present(r)) out.push_back(Send{r, StealWake{true}});
    }
  }

  struct Request {
    Rank victim;
    std::uint64_t number;
    Time at;
    bool idle;
  };
  struct Shipment {
    Rank thief;
    std::uint64_t number;
    bool idle;
    std::vector<GroupCount> asked;
    bool dealt;  // not asked for
  };

  const Rank self_;
  const std::int32_t ranks_;
  const std::int32_t workers_;
  const Time ship_cost_;
  std::vector<bool> never_moved_;
  Weights weights_;
  ReadyView ready_;
  Growth growth_;
  Links links_;
  std::vector<double> powers_;
  double powers_in_all_ = 0;
  Victims victims_;
  std::vector<OfGroup> of_group_;
  Carried carried_;
  std::vector<Moments> produced_;   // by group: bytes, by one fragment
  std::array<LineClock, 2> lines_;  // out of this host, and inside it
  Time now_ = 0;
  bool priced_ = true;
  double margin_ = 2;
  Time max_transfer_ = 0;
  Time patience_ = 0;
  bool idle_ = true;  // until told otherwise; rank 0 is, at once
  Time idle_since_ = 0;
  bool timer_set_ = false;
  bool called_ = false;
  bool fresh_ = true;   // nothing has run here yet
  bool early_ = false;  // asks only to be known

  std::optional<Request> asked_;
  bool call_heard_ = false;  // and not followed yet
  std::uint64_t number_ = 0;
  Time steal_time_ = 0;  // from a request to the work
  bool steal_measured_ = false;

  std::vector<Thief> thieves_;  // refused, asleep or busy; woken in this order
  std::uint64_t ticket_ = 0;
  std::map<std::uint64_t, Shipment> shipping_;
  std::map<Rank, Time> sent_until_;  // by another policy: when it has come, and what was asked before then has, too
};

}  // namespace

std::unique_ptr<Policy> make_stealer(const Setup& setup) { return std::make_unique<Stealer>(setup); }

}  // namespace tessera::balancer
