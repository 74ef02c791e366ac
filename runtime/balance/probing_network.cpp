// Probes for ranks that are reached over a network.
#include <algorithm>

#include "runtime/balance/probing.hpp"

namespace tessera::runtime {
namespace {

constexpr int kTrips = 5;
constexpr std::int64_t kTripsTake = 2'000'000;  // ns, no more after that
// The first train: what TCP sends at once when it knows nothing of the way.
constexpr std::uint64_t kFirst = 14 << 10;
constexpr std::uint64_t kGrows = 4;
constexpr std::uint64_t kLargest = kFirst * kGrows * kGrows * kGrows * kGrows;  // 3.5 MB
constexpr std::uint64_t kSmallestPart = 1400;                                   // a packet
constexpr std::uint64_t kLargestPart = 32 << 10;  // larger ones are not sent before the receiver asks for them
constexpr std::uint64_t kParts = 16;
// A train that would occupy the link for so long (s), and longer than three round trips, keeps it from its work.
constexpr double kLongPath = 0.02;
constexpr std::uint64_t kUnseen =
    kFirst * kGrows * kGrows;  // larger ones are sent where a train was seen to come fast enough
constexpr double kAgrees = 1.2;
// A train of so many times what the way holds is not slowed by a slow start any more.
constexpr double kPastSlowStart = 4;
constexpr int kInVain = 2;  // trains that may not grow and are not sure, in a round

class OverNetwork final : public Probing {
 public:
  void begin_round(int) override {
    trips_ = in_vain_ = 0;
    tripped_ = 0;
    over_ = left_out_ = false;
    before_ = 0;
    // What one round has found the right size is checked once by the next ones.
    size_ = std::max(size_, kFirst);
  }

  std::optional<Probe> next(std::uint64_t largest) override {
    if (trips_ == 0 || (trips_ < kTrips && tripped_ < kTripsTake)) return Probe{1, 0};
    if (over_) return std::nullopt;
    if (!wanted(size_, largest)) {
      left_out_ = true;
      settle();
      return std::nullopt;
    }
    const std::uint64_t part = std::clamp(size_ / kParts, kSmallestPart, kLargestPart);
    return Probe{static_cast<std::uint32_t>(size_ / part), part};
  }

  bool answered(const Probe& p, std::int64_t took, const TrainSpeed& speed) override {
    round_trip_ = std::min(round_trip_, took);
    if (p.bytes == 0) {
      ++trips_;
      tripped_ += took;
      return false;
    }
    // All of it was under way no longer than this: a figure that needs no good receiver, but is low on long ways.
    const double sent = static_cast<double>(p.bytes) * p.parts;
    const auto transfer = static_cast<double>(std::max(took - round_trip_, took / 4));
    const double least = sent / transfer * 1e9;
    fastest_ = std::max(speed.fastest, least);
    sure_ = speed.sure && speed.bandwidth >= least;
    now_ = std::max(speed.bandwidth, least);
    const double trip = static_cast<double>(round_trip_) / 1e9;
    const double may_take = std::max(kLongPath, 3 * trip);
    // A receiver that was busy has seen no more than that it was not slower; but that it did not see it is its own
    // fault as well.
    const double by = size_ <= kUnseen ? std::max(fastest_, speed.most) : fastest_;
    const bool may_grow = size_ < kLargest && static_cast<double>(size_ * kGrows) < may_take * by;
    const bool enough = sure_ && (sent > kPastSlowStart * now_ * trip || now_ < kAgrees * before_);
    before_ = sure_ ? now_ : 0;
    if (enough || (!may_grow && (sure_ || ++in_vain_ == kInVain))) {
      over_ = true;
      settle();
      return true;
    }
    if (!sure_ && !may_grow) rough_.push_back(now_);
    if (may_grow) {
      size_ *= kGrows;
      rough_.clear();  // a longer one knows better
    }
    if (!settled_.empty()) return false;
    bandwidth_ = sure_ ? now_ : now_ / 2;
    return true;
  }

  bool wants_more(std::uint64_t largest) const override { return left_out_ && wanted(size_, largest); }

 private:
  static bool wanted(std::uint64_t size, std::uint64_t largest) { return size <= kFirst || largest >= size / 4; }

  void settle() {
    if (now_ == 0) return;
    (sure_ ? settled_ : rough_).push_back(now_);
    bandwidth_ = middle(settled_.empty() ? rough_ : settled_);
  }
  // Of two the better, for others use the link, too.
  static double middle(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  int trips_ = 0, in_vain_ = 0;  // in this round
  std::int64_t tripped_ = 0;
  bool over_ = false, left_out_ = false;
  std::uint64_t size_ = 0;
  double before_ = 0;             // of the train before, if it was sure
  double now_ = 0, fastest_ = 0;  // what the latest train says
  bool sure_ = false;
  std::vector<double> settled_;  // a figure for each round that is sure of it
  std::vector<double> rough_;    // until there is one: of each train of the size that was reached
};

}  // namespace

std::unique_ptr<Probing> probing_over_network() { return std::make_unique<OverNetwork>(); }

}  // namespace tessera::runtime
