// LoopRank: what the policies that deal out loops share. The rank where fragments become ready is
// their master: it deals what was born there, and nothing that came from a deal is dealt again.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "balancer/links.hpp"
#include "balancer/loops/births.hpp"
#include "balancer/loops/team.hpp"
#include "balancer/settings.hpp"
#include "balancer/weights.hpp"

namespace tessera::balancer {

// Parameters in common; LoopRank reads the last two from the policy's own list.
inline constexpr Parameter kPowersParameter{
    .name = "powers",
    .default_value = "auto",
    .help =
        "relative speeds of the ranks, like 3,3,2 (ranks not named: 1); auto: from the cluster "
        "file, else all 1",
    .kind = Parameter::Kind::numbers,
    .min = 0.001,
    .max = 1e6,
    .may_be_auto = true};
inline constexpr Parameter kMarginParameter{
    .name = "transfer_margin",
    .default_value = "1",
    .help =
        "fragments are dealt when their weight, once known, is at least this many times the "
        "transfer of their inputs and outputs; 0: always, as in the source",
    .max = 1e6};
inline constexpr Parameter kMaxTransferParameter{
    .name = "max_transfer",
    .default_value = "0.02",
    .help = "seconds of transfer that one shipment may take, so that the receiver can start soon",
    .min = 1e-6,
    .max = 3600};

// A rank that is leaving gives all it has away, in equal parts; the derived policy is not asked.
// Otherwise the common state is brought up to date first, then react decides.
class LoopRank : public Policy {
 public:
  void step(Time now, const Event&, Actions& out) final;

 protected:
  LoopRank(const Setup&, const PolicyInfo&, const std::vector<double>& powers = {});

  virtual void react(Time now, const Event&, Actions& out) = 0;

  // One destination's part of a deal.
  struct Portion {
    Rank to;
    std::vector<GroupCount> fragments;
  };
  // ship sends each its portion, cut so that no shipment takes longer than max_transfer, and into
  // `pieces` at least; all first pieces first. The tickets, by the position of the portion.
  std::vector<std::vector<std::uint64_t>> ship(const std::vector<Portion>&, const char* why, Actions& out,
                                               std::int64_t pieces = 1);

  // Fresh fragments of the group that are worth a transfer. 0 for loops without calls of their own
  // (their iterations make loops, which are dealt), and for what a profile says never to move. With inputs of over 4 kB
  // and while nobody knows what they weigh, one for each thread of all, once.
  std::int64_t dealable(std::size_t g) const;
  // `n` of a group repay a message to somebody; true while nothing is known of their weight.
  bool pays(std::size_t g, std::int64_t n) const;
  // All that is ready is about to be taken by this rank's own idle threads.
  bool just_born() const { return idle_ && births_.total() <= threads_; }
  Time load() const;
  bool leaving() const { return !team_.here(self_); }
  Link usual_link() const { return links_.between(self_, Rank{-1}); }

  const Rank self_;
  const std::int32_t ranks_;
  const std::int32_t threads_;
  const Time ship_cost_;
  const std::vector<GroupInfo> groups_;
  Births births_;
  Weights weights_;
  Links links_;
  Team team_;
  bool idle_ = true;         // until told otherwise
  bool tries_first_ = true;  // see dealable

 private:
  void absorb(const Event&, Actions& out);
  void evacuate(Actions& out);

  double margin_ = 1;
  Time max_transfer_ = 0;
  LinkDigest digest_;
  std::uint64_t ticket_ = 0;
  std::map<std::uint64_t, std::vector<GroupCount>> asked_;  // by ticket
  std::set<std::size_t> tried_;                             // groups of which some went while nobody knew their weight
};

}  // namespace tessera::balancer
