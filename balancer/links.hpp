// What moving fragments costs: links and the comparison of a transfer with the work it moves.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// Link is one direction between two ranks. The defaults stand in until a link is measured: rather
// slow, for what was moved too early can't be taken back.
struct Link {
  Time latency = 50'000;   // ns, one way
  double bandwidth = 2e8;  // bytes per second
  bool measured = true;
  friend bool operator==(const Link&, const Link&) = default;
};
inline constexpr Link kNotMeasured{.measured = false};

// Over a link that is not measured nothing travels that has more bytes than this: it may be slow.
inline constexpr std::int64_t kSmallBytes = 4096;
inline bool may_travel(const Link& link, std::int64_t bytes_each) { return link.measured || bytes_each <= kSmallBytes; }

// transfer_time is how long `bytes` take over the link, latency included, in ns.
Time transfer_time(const Link&, std::int64_t bytes);
// wire_time is the same without the latency: what the link is occupied for.
Time wire_time(const Link&, std::int64_t bytes);

// What a shipment, and each fragment in it, has on the wire without its inputs, in bytes.
inline constexpr std::int64_t kShipmentBytes = 100, kFragmentBytes = 100;
// crossing_time is until nothing more comes back that was sent before the shipment arrived: who sent that did not know.
Time crossing_time(const Link&, std::int64_t bytes, std::int64_t fragments);

// worth_moving tells whether a fragment of this weight repays moving its inputs and `ship_cost`, what each of the two
// ranks does for it besides. `margin` is how many times that the weight must be: results travel too.
// Over a link that is not measured: only if it may travel.
bool worth_moving(Time weight, std::int64_t bytes_each, const Link&, double margin, Time ship_cost);

// Hosts: which ranks share a host. Empty: not known, or all or none do, which says nothing.
class Hosts {
 public:
  Hosts() = default;
  explicit Hosts(const std::vector<std::int32_t>& by_rank);
  bool known() const { return !by_rank_.empty(); }
  std::int32_t of(Rank r) const { return by_rank_[static_cast<std::size_t>(index(r))]; }
  bool same(Rank a, Rank b) const { return known() && has(a) && has(b) && of(a) == of(b); }
  bool has(Rank r) const { return index(r) >= 0 && static_cast<std::size_t>(index(r)) < by_rank_.size(); }

 private:
  std::vector<std::int32_t> by_rank_;
};

// Links is what one rank knows of links: a default, and per pair where it was told otherwise. A link that nobody has
// measured is taken for the way back, if somebody has measured that. Where hosts are known, else for one between the
// same two hosts, or for the worst that leads from that host to others, never for one inside a host.
class Links {
 public:
  Links() = default;
  explicit Links(Hosts hosts) : hosts_(std::move(hosts)) {}
  void set_default(const Link& l) { default_ = l; }
  // What `from` sees towards anybody.
  void set(Rank from, const Link& l) { of_rank_[from] = l; }
  void set(Rank from, Rank to, const Link& l);
  // The same for a rank that measures some of its links: for the others stand the defaults, or the worst of these.
  void measured(Rank from, Rank to, const Link& l);
  const Link& between(Rank from, Rank to) const;
  const Hosts& hosts() const { return hosts_; }

 private:
  const Link* between_hosts(Rank from, Rank to) const;

  Hosts hosts_;
  Link default_ = kNotMeasured;
  std::map<Rank, Link> of_rank_;
  std::map<std::pair<Rank, Rank>, Link> of_pair_;
  std::map<std::pair<std::int32_t, std::int32_t>, Link> of_hosts_;  // the latest of a pair of their ranks
  std::map<std::int32_t, Link> leaving_;                            // the worst from a host to others
};

// LinkDigest decides which measured links of a rank are worth telling others: the first, as what
// this rank sees towards anybody, and again when a link turns out better, by a quarter in bandwidth or twice in
// latency (measured on busy cores, or with little, links look bad, never good); then those that differ by more than a
// factor of 2 from what was told of them.
class LinkDigest {
 public:
  enum class News { nothing, anybody, this_peer };
  News measured(Rank peer, const Link&);
  // What was told as "towards anybody".
  const Link& usual() const { return usual_; }

 private:
  bool known_ = false;
  Link usual_;
  std::map<Rank, Link> told_;
};

}  // namespace tessera::balancer
