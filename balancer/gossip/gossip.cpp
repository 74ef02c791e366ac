// One rank of `gossip`.
//
// Inform: a rank without anything ready tells `fanout` others, drawn by lot; whoever learns something from a message
// tells as many, until it has gone on `rounds` times. It says so again while nothing comes, ever later, `attempts`
// times.
//
// Transfer: a rank that has more than it is about to run sends fragments to those it has heard of. Who gets one is
// drawn with a probability that falls with the load he is taken to have, and only who stays below the giver gets one
// (TemperedLB's relaxed criterion: the larger of the two loads becomes smaller). A rumour serves once, and not at all
// who has got something since he heard it.
//
// Beyond the sources, where all ranks stop, gossip and move together: a rank with something to give that knows of
// nobody offers it to `fanout` others now and then, so that nobody sleeps for ever for a rumour that was lost.
#include "balancer/gossip/gossip.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "balancer/gossip/rumours.hpp"
#include "balancer/settings.hpp"
#include "balancer/stock.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kGossipParameters[] = {
    {.name = "fanout",
     .default_value = "2",
     .help = "ranks, drawn by lot, that a rank tells of those who have little to do",
     .kind = Kind::integer,
     .min = 1,
     .max = 1000},
    {.name = "rounds",
     .default_value = "auto",
     .help = "how often a rumour is passed on; auto: as often as it takes to reach about all, and once more",
     .kind = Kind::integer,
     .min = 0,
     .max = 64,
     .may_be_auto = true},
    {.name = "period",
     .default_value = "auto",
     .help = "seconds until a rank that has got nothing says again that it has none, doubled each time up to 16 times "
             "this; auto: what a rumour takes to reach all",
     .min = 1e-6,
     .max = 3600,
     .may_be_auto = true},
    {.name = "attempts",
     .default_value = "8",
     .help = "how often it says so before it waits for an offer",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e6},
    {.name = "transfer_margin",
     .default_value = "2",
     .help = "a fragment moves when its weight is at least this many times the transfer of its inputs and outputs",
     .max = 1e6},
    {.name = "max_transfer",
     .default_value = "0.02",
     .help = "seconds of transfer that one shipment may take, so that the receiver can start soon",
     .min = 1e-6,
     .max = 3600},
};

constexpr std::uint32_t kSayTimer = 1, kPassTimer = 2, kOfferTimer = 3;
constexpr Time kByRounds = -1;
constexpr Time kPassAfter = 100'000;  // what comes within this time is passed on together
constexpr std::int64_t kMostDraws = 4096;

class Gossip : public Policy {
 public:
  explicit Gossip(const Setup& setup)
      : self_(setup.rank),
        ranks_(setup.ranks),
        workers_(std::max(1, setup.workers)),
        random_(setup.seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(index(setup.rank))),
        present_(static_cast<std::size_t>(setup.ranks), true),
        stock_(setup, {true, reader(setup).number("transfer_margin"), reader(setup).duration("max_transfer")}) {
    const SettingsReader read = reader(setup);
    fanout_ = read.integer("fanout");
    for (std::int64_t reached = 1; reached < ranks_; reached *= 1 + fanout_) ++rounds_;
    if (!read.is_auto("rounds")) rounds_ = static_cast<std::uint32_t>(read.integer("rounds"));
    if (!read.is_auto("period")) period_ = read.duration("period");
    attempts_ = read.integer("attempts");
  }

  void step(Time now, const Event& event, Actions& out) override {
    if (ranks_ < 2) return;
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    if (!present(self_)) return stock_.send_everything(others(), out);
    transfer(now, out);
    say(now, out);
    offer(now, out);
  }

 private:
  static SettingsReader reader(const Setup& setup) { return {gossip_info(), setup.settings}; }

  void handle(Time, const LoadChanged& e, Actions&) { stock_.heard(e); }
  void handle(Time, const WentIdle& e, Actions&) { stock_.heard(e); }
  void handle(Time, const WentBusy& e, Actions&) { stock_.heard(e); }
  void handle(Time, const LinkMeasured& e, Actions&) { stock_.heard(e); }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad&, Actions&) {}  // shows in how fast the load falls
  void handle(Time, const Arrived& e, Actions&) {
    stock_.heard(e);
    said_ = 0;
    fed_ = true;
    // Else all that was sent here would go on at once to those that the giver has served as well.
    rumours_.use_up_all();
  }
  // Nothing went: he is taken for loaded until he says something new.
  void handle(Time, const Shipped& e, Actions&) { stock_.heard(e); }
  void handle(Time, const TimerFired& e, Actions& out) {
    if (e.timer == kSayTimer) say_waits_ = false;
    if (e.timer == kOfferTimer) offer_waits_ = false;
    if (e.timer != kPassTimer) return;
    pass_waits_ = false;
    if (!present(self_)) return;
    tell(std::exchange(pass_on_, {}), std::exchange(pass_rounds_, 0), out);
  }
  void handle(Time now, const Received& r, Actions& out) {
    if (const auto* news = std::get_if<GossipNews>(&r.message)) {
      for (const GossipLoad& word : news->loads) {
        const bool had_little = rumours_.has_little(word.rank);
        if (word.rank == self_ || !present(word.rank) || !rumours_.hear(now, word)) continue;
        const bool has_little = word.load < std::max<Time>(1, stock_.typical_weight());
        if (!has_little) rumours_.use_up(word.rank);
        // That somebody has got something is for all who think otherwise.
        if (news->rounds > 0 && (has_little || had_little)) pass_on_.push_back(word);
      }
      if (news->rounds > 0) pass_rounds_ = std::max(pass_rounds_, news->rounds - 1);
      if (!pass_on_.empty() && !pass_waits_) {
        pass_waits_ = true;
        out.push_back(SetTimer{kPassTimer, now + kPassAfter});
      }
    } else if (std::holds_alternative<GossipOffer>(r.message) && stock_.ready() == 0 && present(r.from)) {
      said_ = std::min(said_, attempts_ - 1);  // once more, to all
      out.push_back(Send{r.from, GossipNews{0, {own_word()}}});
    }
  }
  void handle(Time, const RankLeaving& e, Actions&) {
    if (!known(e.rank)) return;
    present_[static_cast<std::size_t>(index(e.rank))] = false;
    rumours_.forget(e.rank);
  }
  void handle(Time, const RankJoined& e, Actions&) {
    if (known(e.rank)) present_[static_cast<std::size_t>(index(e.rank))] = true;
  }

  bool known(Rank r) const { return index(r) >= 0 && index(r) < ranks_; }
  bool present(Rank r) const { return known(r) && present_[static_cast<std::size_t>(index(r))]; }
  std::vector<Rank> others() const {
    std::vector<Rank> all;
    for (std::int32_t r = 0; r < ranks_; ++r) {
      if (present_[static_cast<std::size_t>(r)]) all.push_back(Rank{r});
    }
    return all;
  }
  // What waits, and half of one for what runs: who runs one and has one waiting gives that to who has none, but not to
  // who is as busy, or it would be handed to and fro.
  Time load() const { return stock_.load() / workers_ + (stock_.idle() ? 0 : stock_.typical_weight() / 2); }
  GossipLoad own_word() { return {self_, ++version_, load()}; }
  Time period() const {
    if (period_ != kByRounds) return period_;
    return std::max<Time>(kMillisecond, static_cast<Time>(rounds_ + 2) * (stock_.longest_latency() + kPassAfter));
  }

  // Tells `fanout_` others, none twice.
  template <class M>
  void tell_some(const M& message, Actions& out) {
    std::vector<Rank> told;
    for (std::int64_t draws = 8 * fanout_; draws > 0 && std::ssize(told) < fanout_; --draws) {
      const auto further = 1 + static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(ranks_ - 1)));
      const Rank to{(index(self_) + further) % ranks_};
      if (!present(to) || std::find(told.begin(), told.end(), to) != told.end()) continue;
      told.push_back(to);
      out.push_back(Send{to, message});
    }
  }
  void tell(std::vector<GossipLoad> loads, std::uint32_t rounds, Actions& out) {
    if (loads.empty()) return;
    // Many little ones together say no more than some of them.
    while (loads.size() > kMostTold) {
      std::swap(loads[random_.below(loads.size())], loads.back());
      loads.pop_back();
    }
    // Who passes on says what he has himself: so all know about how much there is for each.
    if (std::none_of(loads.begin(), loads.end(), [this](const GossipLoad& l) { return l.rank == self_; })) {
      loads.push_back(own_word());
    }
    tell_some(GossipNews{rounds, std::move(loads)}, out);
  }

  void say(Time now, Actions& out) {
    if (say_waits_ || (stock_.ready() > 0 ? !fed_ : said_ >= attempts_)) return;
    fed_ = false;
    tell({own_word()}, rounds_, out);
    say_waits_ = true;
    out.push_back(SetTimer{kSayTimer, now + (period() << std::min<std::int64_t>(said_, 4))});
    if (stock_.ready() == 0) ++said_;
  }

  void offer(Time now, Actions& out) {
    if (stock_.surplus() == 0 || !rumours_.nobody()) {
      offered_ = 0;
      return;
    }
    if (offer_waits_) return;
    offer_waits_ = true;
    tell_some(GossipOffer{}, out);
    out.push_back(SetTimer{kOfferTimer, now + (period() << std::min(offered_++, 4))});
  }

  // transfer draws a receiver for one fragment after the other; each gets his in one shipment.
  // What is above the mean goes, not more: others who have heard of the same ranks give as well.
  void transfer(Time now, Actions& out) {
    if (rumours_.nobody() || stock_.surplus() == 0) return;
    const Time mean = rumours_.mean(now, load());
    std::vector<GossipLoad> to = rumours_.below(load(), random_);
    if (to.empty()) return;
    const Time one = std::max<Time>(1, stock_.load() / std::max<std::int64_t>(1, stock_.ready()) / workers_);
    Time own = load();
    Time largest = own;
    for (const GossipLoad& word : to) largest = std::max(largest, word.load);
    std::map<Rank, Time> given;
    for (std::int64_t left = std::min(stock_.surplus(), kMostDraws); left > 0 && own > mean; --left) {
      std::erase_if(to, [&](const GossipLoad& w) { return w.load + one >= own; });
      if (to.empty()) break;
      GossipLoad& drawn = to[draw(to, largest)];
      drawn.load += one;
      own -= one;
      given[drawn.rank] += one * workers_;
    }
    for (const auto& [rank, weight] : given) ship(rank, weight, out);
  }
  // The cumulative distribution of the source: the less he has, the more likely.
  std::size_t draw(const std::vector<GossipLoad>& to, Time largest) {
    double all = 0;
    const auto chance = [&](const GossipLoad& w) {
      return 1 - static_cast<double>(w.load) / static_cast<double>(largest + 1);
    };
    for (const GossipLoad& w : to) all += chance(w);
    double at = random_.unit() * all;
    for (std::size_t i = 0; i < to.size(); ++i) {
      at -= chance(to[i]);
      if (at < 0) return i;
    }
    return to.size() - 1;
  }
  void ship(Rank to, Time weight, Actions& out) {
    std::vector<GroupCount> parts = stock_.pick_weight(to, weight, true);
    if (parts.empty()) {
      // Nothing that is worth the way to him; until he says something new.
      out.push_back(Decide{"transfer costs more than it saves", self_, to, {}, load(), 0});
      return rumours_.use_up(to);
    }
    out.push_back(Decide{"given", self_, to, parts, load(), 0});
    stock_.send(to, std::move(parts), out);
    rumours_.gave(to, weight / workers_);
  }

  static constexpr std::size_t kMostTold = 64;

  const Rank self_;
  const std::int32_t ranks_;
  const std::int64_t workers_;
  std::int64_t fanout_ = 2;
  std::uint32_t rounds_ = 1;
  Time period_ = kByRounds;
  std::int64_t attempts_ = 8;
  Random random_;
  std::vector<bool> present_;
  Stock stock_;
  Rumours rumours_;

  // as one with little to do
  std::uint64_t version_ = 0;
  std::int64_t said_ = 0;  // since something came
  bool say_waits_ = false;
  bool fed_ = false;  // and nobody knows yet
  // as one who passes on
  std::vector<GossipLoad> pass_on_;
  std::uint32_t pass_rounds_ = 0;
  bool pass_waits_ = false;
  // as one with much
  int offered_ = 0;
  bool offer_waits_ = false;
};

}  // namespace

const PolicyInfo& gossip_info() {
  static const PolicyInfo info{
      .name = "gossip",
      .summary = "rumours say who has little; who has much sends some to those he has heard of",
      .parameters = kGossipParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> { return std::make_unique<Gossip>(setup); },
  };
  return info;
}

}  // namespace tessera::balancer
