// One rank of `mirror`: the state table, a receiver that asks for work, a victim that gives some,
// an announcer that keeps the others' tables right.
#include "balancer/mirror/mirror.hpp"

#include <algorithm>
#include <map>

#include "balancer/mirror/announcer.hpp"
#include "balancer/mirror/receiver.hpp"
#include "balancer/mirror/table.hpp"
#include "balancer/settings.hpp"
#include "balancer/stock.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kMirrorParameters[] = {
    {.name = "faithful",
     .default_value = "false",
     .help = "true: as in the source: every rank announces its state every info_period and after "
             "each transfer, ranks without work in the table are asked as well, a rank asks when "
             "nothing runs there, bytes of inputs do not count; false: announcements only where "
             "the others' table is wrong, no hopeless requests, a rank asks when nothing is ready, "
             "what costs more to move than to run stays",
     .kind = Kind::boolean},
    {.name = "info_period",
     .default_value = "auto",
     .help = "seconds between two announcements of a rank's state (source: 10); auto: 20 mean "
             "weights, at least half a millisecond per rank, from 0.01 to 10",
     .min = 1e-4,
     .max = 3600,
     .may_be_auto = true},
    {.name = "min_transfer",
     .default_value = "auto",
     .help = "seconds of work below which nothing is given; auto: eight times the measured latency",
     .max = 3600,
     .may_be_auto = true},
    {.name = "post_processing",
     .default_value = "0",
     .help = "seconds that follow in the end on each second of work (of a rank of power 1) that a rank has run, on any "
             "rank, as sorting what it has found: both are to be finished with that, too, at the same time",
     .max = 1e6},
    {.name = "backoff",
     .default_value = "0.001",
     .help = "seconds from a search that found nobody to the next at least; doubles up to 16 "
             "times this while searches fail",
     .max = 60},
    {.name = "transfer_margin",
     .default_value = "2",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs",
     .max = 1e6},
    {.name = "max_transfer",
     .default_value = "0.02",
     .help = "seconds of transfer that one shipment may take, so that the receiver can start soon",
     .min = 1e-6,
     .max = 3600},
};

constexpr Time kAuto = -1;
constexpr Time kPerRank = 50'000;       // ns between announcements, per rank that hears them
constexpr int kRememberedPeriods = 10;  // of outside load

class Mirror : public Policy {
 public:
  explicit Mirror(const Setup& setup);

  void step(Time now, const Event& event, Actions& out) override {
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    if (!table_.present(self_)) {
      std::vector<Rank> heirs = table_.by_remaining(self_, now);
      stock_.send_everything(heirs, out);
      return;
    }
    const MirrorState own = state();
    announcer_.consider(now, own, worth(), announcing(), ranks_, out);
    receiver_.consider(now, {hungry(), stock_.idle(), worth(), speed_, tasks_, done_}, out);
  }

 private:
  void handle(Time, const LoadChanged& e, Actions&) {
    stock_.heard(e);
    for (const GroupDone& d : e.finished) done_ += units(d.weight);
  }
  void handle(Time, const WentIdle& e, Actions&) {
    stock_.heard(e);
    receiver_.work_announced();  // some refuse less to an idle rank
  }
  void handle(Time, const WentBusy& e, Actions&) { stock_.heard(e); }
  void handle(Time, const LinkMeasured& e, Actions&) {
    stock_.heard(e);
    usual_peer_ = e.peer;
  }
  void handle(Time, const Arrived& e, Actions&) {
    stock_.heard(e);
    receiver_.work_came(e.from);
    announcer_.assignment_changed();
  }
  void handle(Time, const Shipped& e, Actions& out) {
    const bool nothing = stock_.heard(e);
    const auto it = given_.find(e.ticket);
    if (it == given_.end()) return;
    if (nothing) out.emplace_back(Send{e.to, MirrorRefusal{it->second}});
    given_.erase(it);
    announcer_.assignment_changed();
  }
  void handle(Time, const TimerFired& e, Actions&) {
    if (e.timer == Receiver::kTimer) {
      receiver_.timer_fired();
    } else {
      announcer_.timer_fired(e.timer);
    }
  }
  void handle(Time now, const Received& r, Actions& out) {
    if (!table_.known(r.from)) return;
    if (const auto* state = std::get_if<MirrorState>(&r.message)) {
      if (!table_.present(r.from)) return;
      table_.announced(r.from, *state, now);
      if (state->units >= worth()) receiver_.work_announced();
    } else if (const auto* request = std::get_if<MirrorRequest>(&r.message)) {
      give(now, r.from, *request, out);
    } else if (const auto* refusal = std::get_if<MirrorRefusal>(&r.message)) {
      receiver_.refused(r.from, *refusal);
    }
  }
  void handle(Time, const RankLeaving& e, Actions&) {
    if (!table_.known(e.rank)) return;
    table_.left(e.rank);
    receiver_.left(e.rank);
  }
  void handle(Time, const RankJoined& e, Actions&) {
    if (!table_.known(e.rank)) return;
    table_.joined(e.rank);
    announcer_.unheard();
  }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time now, const OutsideLoad& e, Actions&) {
    // T is cut off: a load that comes late in a long run must show.
    Time run_time = load_told_;
    if (!faithful_) run_time = std::min(run_time, kRememberedPeriods * period());
    const double tasks = 1 + std::max(0.0, e.tasks) / workers_;
    tasks_ = smoothed_tasks(tasks_, run_time, tasks, now - load_told_);
    load_told_ = now;
  }

  void give(Time now, Rank to, const MirrorRequest& request, Actions& out);

  bool hungry() const { return stock_.ready() == 0 && (stock_.idle() || !faithful_); }
  double rate() const { return speed_ / tasks_; }
  Side side() const { return {rate(), done_}; }
  // Units in 1 ns of weight measured here, which is one thread's.
  double units_per_ns() const { return rate() / workers_; }
  Time units(Time weight) const { return static_cast<Time>(static_cast<double>(weight) * units_per_ns()); }
  Time weight(Time units) const { return static_cast<Time>(static_cast<double>(units) / units_per_ns()); }
  Time worth() const { return min_transfer_ != kAuto ? min_transfer_ : 8 * stock_.latency(); }
  Time period() const {
    if (info_period_ != kAuto) return info_period_;
    const Time by_weight = std::min(20 * stock_.typical_weight(), 10 * kSecond);
    return std::clamp(std::max(by_weight, (ranks_ - 1) * kMillisecond / 2), 10 * kMillisecond, 10 * kSecond);
  }
  Announcer::Rules announcing() const {
    return {faithful_, period(), faithful_ ? 0 : std::max(4 * stock_.latency(), ranks_ * kPerRank)};
  }
  // What the others should know: work that may move, if a rank like this one would get some.
  MirrorState state() const {
    const Time pending = units(stock_.available_weight(usual_peer_));
    const Time given = share_of_receiver(pending, side(), side(), post_processing_);
    const bool gives = faithful_ || (given >= worth() && !stock_.pick_weight(usual_peer_, weight(given), true).empty());
    return {speed_, tasks_, gives ? pending : 0};
  }

  const Rank self_;
  const std::int32_t ranks_;
  const double workers_;
  double speed_ = 1;
  bool faithful_ = false;
  Time info_period_ = kAuto, min_transfer_ = kAuto;
  double post_processing_ = 0;  // ns per unit
  Rank usual_peer_;
  double tasks_ = 1;
  Time done_ = 0;  // units
  Time load_told_ = 0;

  StateTable table_;
  Stock stock_;
  Receiver receiver_;
  Announcer announcer_;
  std::map<std::uint64_t, std::uint64_t> given_;  // ticket -> number of the request
};

SettingsReader reader(const Setup& setup) { return {mirror_info(), setup.settings}; }

std::vector<double> speeds(const Setup& setup) {
  std::vector<double> all(static_cast<std::size_t>(setup.ranks), 1.0);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (r < setup.powers.size() && setup.powers[r] > 0) all[r] = setup.powers[r];
    all[r] *= std::max(1, setup.workers);
  }
  return all;
}

Mirror::Mirror(const Setup& setup)
    : self_(setup.rank),
      ranks_(setup.ranks),
      workers_(std::max(1, setup.workers)),
      faithful_(reader(setup).boolean("faithful")),
      usual_peer_(setup.rank),
      table_(setup.ranks, speeds(setup)),
      stock_(setup, {!faithful_, reader(setup).number("transfer_margin"), reader(setup).duration("max_transfer")}),
      receiver_(setup.rank, reader(setup).duration("backoff"), faithful_, table_),
      announcer_(setup.rank, table_) {
  const SettingsReader read = reader(setup);
  speed_ = speeds(setup)[static_cast<std::size_t>(index(self_))];
  if (!read.is_auto("info_period")) info_period_ = read.duration("info_period");
  if (!read.is_auto("min_transfer")) min_transfer_ = read.duration("min_transfer");
  post_processing_ = read.number("post_processing");
}

// Both are to finish together. A rank that waits for an answer of its own gives all the same.
void Mirror::give(Time now, Rank to, const MirrorRequest& request, Actions& out) {
  table_.announced(to, {request.speed, request.tasks, 0}, now);
  const Time pending = units(stock_.available_weight(to));
  const Time given = share_of_receiver(pending, {table_.rate(to), request.done}, side(), post_processing_);
  std::vector<GroupCount> parts;
  if (given >= worth() && table_.present(to) && table_.present(self_)) {
    parts = stock_.pick_weight(to, weight(given), request.idle);
  }
  if (parts.empty()) {
    out.emplace_back(Send{to, MirrorRefusal{request.number}});
    announcer_.refused(pending);
    return;
  }
  out.emplace_back(Decide{"given", self_, to, parts, stock_.load(), 0});
  given_[stock_.send(to, std::move(parts), out)] = request.number;
  table_.announced(to, {request.speed, request.tasks, given}, now);
}

}  // namespace

const PolicyInfo& mirror_info() {
  static const PolicyInfo info{
      .name = "mirror",
      .summary = "a rank that runs dry asks the one that stands opposite in a table of all states",
      .parameters = kMirrorParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> { return std::make_unique<Mirror>(setup); },
  };
  return info;
}

}  // namespace tessera::balancer
