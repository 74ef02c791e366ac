// One rank of `auction`, `torus` or `tree`: a seeker, a giver, and who the neighbours are.
#include <algorithm>
#include <vector>

#include "balancer/auction/auction.hpp"
#include "balancer/auction/giver.hpp"
#include "balancer/auction/seeker.hpp"
#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

struct Rules {
  bool faithful;
  Stock::Rules stock;
  Seeker::Rules seeker;
  Giver::Rules giver;
};

Rules read_rules(const Settings& settings) {
  // The three policies have the same parameters.
  const SettingsReader read(auction_info(), settings);
  const bool faithful = read.boolean("faithful");
  const Time backoff = read.is_auto("backoff") ? -1 : read.duration("backoff");
  Rules r{faithful, {}, {}, {}};
  r.stock = {!faithful, read.number("transfer_margin"), read.duration("max_transfer")};
  r.seeker = {read.integer("attempts"), backoff};
  r.giver.divisor = read.integer("divisor");
  r.giver.collect = read.is_auto("collect") ? -1 : read.duration("collect");
  r.giver.wake_gap = backoff;
  r.giver.wake_all = faithful;
  r.giver.plain = faithful;
  return r;
}

class Auctioneer : public Policy {
 public:
  Auctioneer(Shape shape, const Setup& setup, const Rules& rules)
      : self_(setup.rank),
        shape_(shape),
        faithful_(rules.faithful),
        present_(static_cast<std::size_t>(setup.ranks), true),
        stock_(setup, rules.stock),
        seeker_(rules.seeker),
        giver_(setup.rank, rules.giver, stock_) {
    meet_neighbours();
  }

  void step(Time now, const Event& event, Actions& out) override {
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    if (!present(self_)) {
      giver_.refuse_all(out);
      stock_.send_everything(heirs(), out);
      return;
    }
    giver_.serve(now, out);
    giver_.wake(now, out);
    seeker_.consider(now, hungry(), stock_.longest_latency(), out);
  }

 private:
  void handle(Time, const LoadChanged& e, Actions&) { stock_.heard(e); }
  void handle(Time, const WentIdle& e, Actions&) { stock_.heard(e); }
  void handle(Time, const WentBusy& e, Actions&) { stock_.heard(e); }
  void handle(Time, const LinkMeasured& e, Actions&) { stock_.heard(e); }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad&, Actions&) {}  // shows in how fast the load falls
  void handle(Time, const Arrived& e, Actions&) {
    stock_.heard(e);
    seeker_.work_came(e.from);
  }
  void handle(Time, const Shipped& e, Actions& out) { giver_.shipped(e, out); }
  void handle(Time, const TimerFired& e, Actions&) {
    if (e.timer == Seeker::kTimer) {
      seeker_.timer_fired();
    } else {
      giver_.timer_fired(e.timer);
    }
  }
  void handle(Time now, const Received& r, Actions& out) {
    if (const auto* question = std::get_if<AuctionQuestion>(&r.message)) {
      if (present(self_)) {
        giver_.asked(now, r.from, *question, out);
      } else {
        out.emplace_back(Send{r.from, AuctionAnswer{question->number, 0}});
      }
    } else if (const auto* answer = std::get_if<AuctionAnswer>(&r.message)) {
      seeker_.answered(r.from, *answer);
    } else if (const auto* request = std::get_if<AuctionRequest>(&r.message)) {
      giver_.requested(now, r.from, *request);
    } else if (const auto* refusal = std::get_if<AuctionRefusal>(&r.message)) {
      seeker_.refused(r.from, *refusal);
    } else if (std::holds_alternative<AuctionUnloaded>(r.message)) {
      if (present(r.from)) giver_.unloaded(r.from);
    } else if (std::holds_alternative<AuctionWake>(r.message)) {
      seeker_.woken(r.from);
    }
  }
  void handle(Time, const RankLeaving& e, Actions&) {
    if (!known(e.rank)) return;
    present_[static_cast<std::size_t>(index(e.rank))] = false;
    seeker_.left(e.rank);
    giver_.left(e.rank);
    if (e.rank != self_) meet_neighbours();
  }
  void handle(Time, const RankJoined& e, Actions&) {
    if (!known(e.rank)) return;
    present_[static_cast<std::size_t>(index(e.rank))] = true;
    meet_neighbours();
  }

  bool known(Rank r) const { return index(r) >= 0 && static_cast<std::size_t>(index(r)) < present_.size(); }
  bool present(Rank r) const { return known(r) && present_[static_cast<std::size_t>(index(r))]; }
  void meet_neighbours() {
    if (!present(self_)) return;  // the old ones get what is here
    neighbours_ = neighbours_among(shape_, self_, present_);
    seeker_.set_neighbours(neighbours_);
  }
  // heirs get what is ready here when this rank leaves: its neighbours, or whoever else is there.
  std::vector<Rank> heirs() const {
    std::vector<Rank> found;
    for (const Rank r : neighbours_) {
      if (present(r)) found.push_back(r);
    }
    for (std::size_t r = 0; r < present_.size() && found.empty(); ++r) {
      if (present_[r]) found.push_back(Rank{static_cast<std::int32_t>(r)});
    }
    return found;
  }
  bool hungry() const { return stock_.ready() == 0 && (stock_.idle() || !faithful_); }

  const Rank self_;
  const Shape shape_;
  const bool faithful_;
  std::vector<bool> present_;
  std::vector<Rank> neighbours_;
  Stock stock_;
  Seeker seeker_;
  Giver giver_;
};

}  // namespace

std::unique_ptr<Policy> make_auctioneer(Shape shape, const Setup& setup) {
  return std::make_unique<Auctioneer>(shape, setup, read_rules(setup.settings));
}

}  // namespace tessera::balancer
