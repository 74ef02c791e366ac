// One rank of `diffusion`: it tells its neighbours what it has when that has changed, and gives each that has less a
// part of the difference. With d neighbours that is 1/(d+1) of it: what several give to one together then never fills
// him above them (the first order scheme of Cybenko).
#include "balancer/diffusion/diffusion.hpp"

#include <algorithm>
#include <optional>

#include "balancer/auction/neighbourhood.hpp"
#include "balancer/settings.hpp"
#include "balancer/stock.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr std::string_view kShapes[] = {"torus", "tree", "everyone"};
constexpr Parameter kDiffusionParameters[] = {
    {.name = "neighbours",
     .default_value = "torus",
     .help = "who is whose neighbour: a wrapped grid, a binary tree, or everyone everyone's",
     .kind = Kind::choice,
     .choices = kShapes},
    {.name = "share",
     .default_value = "auto",
     .help = "the part of a difference that flows; auto: 1 / (neighbours + 1)",
     .min = 0.001,
     .max = 0.5,
     .may_be_auto = true},
    {.name = "change",
     .default_value = "0.1",
     .help = "neighbours are told of the load when it differs by this part from what they were told last, and when "
             "nothing is left",
     .max = 1},
    {.name = "period",
     .default_value = "auto",
     .help = "seconds between two times that they are told, at least; auto: four times the measured latency, at least "
             "half a millisecond",
     .max = 3600,
     .may_be_auto = true},
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

constexpr std::uint32_t kTellTimer = 1;
constexpr Time kByLatency = -1;

Shape shape_of(const std::string& name) {
  return name == "tree" ? Shape::tree : name == "everyone" ? Shape::everyone : Shape::torus;
}

class Diffusion : public Policy {
 public:
  explicit Diffusion(const Setup& setup)
      : self_(setup.rank),
        workers_(std::max(1, setup.workers)),
        shape_(shape_of(reader(setup).text("neighbours"))),
        present_(static_cast<std::size_t>(setup.ranks), true),
        stock_(setup, {true, reader(setup).number("transfer_margin"), reader(setup).duration("max_transfer")}) {
    const SettingsReader read = reader(setup);
    if (!read.is_auto("share")) share_ = read.number("share");
    change_ = read.number("change");
    if (!read.is_auto("period")) period_ = read.duration("period");
    meet_neighbours();
  }

  void step(Time now, const Event& event, Actions& out) override {
    std::visit([&](const auto& e) { handle(e); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    if (!present(self_)) return stock_.send_everything(heirs(), out);
    flow(out);
    tell(now, out);
  }

 private:
  struct Neighbour {
    Rank rank;
    std::optional<DiffusionLoad> has;  // as far as we know: what it said, and what we have sent since
  };

  static SettingsReader reader(const Setup& setup) { return {diffusion_info(), setup.settings}; }

  void handle(const LoadChanged& e) { stock_.heard(e); }
  void handle(const WentIdle& e) { stock_.heard(e); }
  void handle(const WentBusy& e) { stock_.heard(e); }
  void handle(const LinkMeasured& e) { stock_.heard(e); }
  void handle(const SeriesRan&) {}
  void handle(const OutsideLoad&) {}  // shows in how fast the load falls
  // The giver takes us for busy until we say otherwise, be it that all was over before anybody looked.
  void handle(const Arrived& e) {
    stock_.heard(e);
    if (told_) told_->idle = false;
  }
  void handle(const Shipped& e) { stock_.heard(e); }
  void handle(const TimerFired&) { waits_ = false; }
  void handle(const Received& r) {
    const auto* load = std::get_if<DiffusionLoad>(&r.message);
    if (load == nullptr) return;
    for (Neighbour& n : neighbours_) {
      if (n.rank == r.from) n.has = *load;
    }
  }
  void handle(const RankLeaving& e) {
    if (!known(e.rank)) return;
    present_[static_cast<std::size_t>(index(e.rank))] = false;
    if (e.rank != self_) meet_neighbours();
  }
  void handle(const RankJoined& e) {
    if (!known(e.rank)) return;
    present_[static_cast<std::size_t>(index(e.rank))] = true;
    meet_neighbours();
  }

  bool known(Rank r) const { return index(r) >= 0 && static_cast<std::size_t>(index(r)) < present_.size(); }
  bool present(Rank r) const { return known(r) && present_[static_cast<std::size_t>(index(r))]; }
  // New ones are told, and say what they have when they meet us.
  void meet_neighbours() {
    if (!present(self_)) return;  // the old ones get what is here
    std::vector<Neighbour> met;
    for (const Rank r : neighbours_among(shape_, self_, present_)) {
      const auto old = std::find_if(neighbours_.begin(), neighbours_.end(), [r](const auto& n) { return n.rank == r; });
      met.push_back(old == neighbours_.end() ? Neighbour{r, {}} : *old);
    }
    neighbours_ = std::move(met);
    told_.reset();
  }
  std::vector<Rank> heirs() const {
    std::vector<Rank> found;
    for (const Neighbour& n : neighbours_) {
      if (present(n.rank)) found.push_back(n.rank);
    }
    for (std::size_t r = 0; r < present_.size() && found.empty(); ++r) {
      if (present_[r]) found.push_back(Rank{static_cast<std::int32_t>(r)});
    }
    return found;
  }

  Time load() const { return stock_.load() / workers_; }
  Time period() const { return period_ != kByLatency ? period_ : std::max(4 * stock_.latency(), kMillisecond / 2); }
  double share() const { return share_ > 0 ? share_ : 1.0 / (static_cast<double>(neighbours_.size()) + 1); }

  void flow(Actions& out) {
    if (stock_.surplus() == 0) return;
    const Time own = load();
    for (Neighbour& n : neighbours_) {
      if (!n.has || n.has->load >= own) continue;
      auto weight = static_cast<Time>(share() * static_cast<double>((own - n.has->load) * workers_));
      // Parts of a fragment do not flow; but where nothing runs one is better than none.
      const bool hungry = n.has->idle && n.has->load == 0;
      if (hungry) weight = std::max(weight, stock_.load() / std::max<std::int64_t>(1, stock_.ready()));
      std::vector<GroupCount> parts = stock_.pick_weight(n.rank, weight, hungry);
      if (parts.empty()) continue;
      out.push_back(Decide{"given", self_, n.rank, parts, own, n.has->load});
      stock_.send(n.rank, std::move(parts), out);
      n.has->load += std::max<Time>(1, weight / workers_);
      n.has->idle = false;
    }
  }

  void tell(Time now, Actions& out) {
    const DiffusionLoad has{load(), stock_.idle() && stock_.ready() == 0};
    if (told_ && !has.idle) told_->idle = false;  // no news, but the next time will be
    if (told_ && !news(has)) return;
    if (waits_) return;
    waits_ = true;
    out.push_back(SetTimer{kTellTimer, now + period()});
    told_ = has;
    for (const Neighbour& n : neighbours_) out.push_back(Send{n.rank, has});
  }
  bool news(const DiffusionLoad& has) const {
    if (has.idle != told_->idle) return true;
    if ((has.load == 0) != (told_->load == 0)) return true;
    const Time differs = has.load > told_->load ? has.load - told_->load : told_->load - has.load;
    return static_cast<double>(differs) > change_ * static_cast<double>(std::max(has.load, told_->load));
  }

  const Rank self_;
  const std::int64_t workers_;
  const Shape shape_;
  double share_ = 0, change_ = 0;
  Time period_ = kByLatency;
  std::vector<bool> present_;
  std::vector<Neighbour> neighbours_;
  Stock stock_;
  std::optional<DiffusionLoad> told_;
  bool waits_ = false;  // kTellTimer is set
};

}  // namespace

const PolicyInfo& diffusion_info() {
  static const PolicyInfo info{
      .name = "diffusion",
      .summary = "load flows between neighbours, from where there is more to where there is less",
      .parameters = kDiffusionParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> { return std::make_unique<Diffusion>(setup); },
  };
  return info;
}

}  // namespace tessera::balancer
