// `equal` and `predictive`: static distribution. The master deals what is born there at once, the
// fragments of each group in the same order of workers on and on, the master itself first.
#include <algorithm>

#include "balancer/loops/deal.hpp"
#include "balancer/loops/loop_rank.hpp"
#include "balancer/loops/loops.hpp"

namespace tessera::balancer {
namespace {

enum class Dealing { equal, predictive };

class Dealer : public LoopRank {
 public:
  Dealer(const Setup& setup, const PolicyInfo& info, Dealing dealing)
      : LoopRank(setup, info,
                 dealing == Dealing::predictive ? SettingsReader(info, setup.settings).numbers("powers")
                                                : std::vector<double>{}),
        dealing_(dealing),
        pieces_(SettingsReader(info, setup.settings).integer("pieces")),
        dealt_(births_.groups()) {}

 private:
  void react(Time, const Event& event, Actions& out) override {
    const bool news = std::holds_alternative<LoadChanged>(event) || std::holds_alternative<RankJoined>(event);
    if (!news || just_born()) return;
    const std::vector<Rank>& workers = team_.workers();
    if (workers.size() < 2) return;
    std::vector<Portion> portions;
    for (std::size_t g = 0; g < births_.groups(); ++g) {
      const std::int64_t n = dealable(g);
      const auto each = n / static_cast<std::int64_t>(workers.size());
      if (n == 0 || !pays(g, std::max<std::int64_t>(1, each))) continue;
      deal(g, n, portions);
    }
    if (!portions.empty()) ship(portions, "dealt", out, pieces_);
  }

  void deal(std::size_t g, std::int64_t n, std::vector<Portion>& portions) {
    const std::vector<Rank>& workers = team_.workers();
    const Group group{static_cast<std::uint32_t>(g)};
    if (dealt_.size() <= g) dealt_.resize(g + 1);
    if (portions.empty()) {
      for (const Rank r : workers) portions.push_back({r, {}});
    }
    const auto counts = deal_counts(order(), workers.size(), dealt_[g], n);
    dealt_[g] += n;
    births_.keep(group, counts[0]);  // workers[0] is this rank
    for (std::size_t j = 1; j < workers.size(); ++j) {
      if (counts[j] > 0) portions[j].fragments.push_back({group, counts[j]});
    }
  }

  // The order changes with the team and its powers; deals are rare beside what they deal.
  DealOrder order() const {
    return dealing_ == Dealing::equal ? equal_order(team_.workers().size())
                                      : predictive_order(deal_ratios(team_.powers()));
  }

  const Dealing dealing_;
  const std::int64_t pieces_;
  std::vector<std::int64_t> dealt_;  // by group: where in the order the next one is
};

constexpr Parameter kPieces{.name = "pieces",
                            .default_value = "1",
                            .help =
                                "shipments that a worker's part of a loop is cut into; with more, neighbours in the "
                                "loop spread over the workers, at the price of more messages",
                            .kind = Parameter::Kind::integer,
                            .min = 1,
                            .max = 1e6};
constexpr Parameter kEqualParameters[] = {kPieces, kMarginParameter, kMaxTransferParameter};
constexpr Parameter kPredictiveParameters[] = {kPieces, kPowersParameter, kMarginParameter, kMaxTransferParameter};

}  // namespace

const PolicyInfo& equal_info() {
  static const PolicyInfo info{
      .name = "equal",
      .summary = "loops are dealt out in equal parts, before anything is known of them",
      .parameters = kEqualParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        return std::make_unique<Dealer>(setup, equal_info(), Dealing::equal);
      },
  };
  return info;
}

const PolicyInfo& predictive_info() {
  static const PolicyInfo info{
      .name = "predictive",
      .summary = "loops are dealt out in parts by the power of the ranks",
      .parameters = kPredictiveParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        return std::make_unique<Dealer>(setup, predictive_info(), Dealing::predictive);
      },
  };
  return info;
}

}  // namespace tessera::balancer
