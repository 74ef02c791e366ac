// The master's record of one loop's iterations: who got how many units, how long they took, and so
// how many each should get next.
#pragma once

#include <vector>

#include "balancer/loops/team.hpp"
#include "balancer/proportional/shares.hpp"

namespace tessera::balancer {

// Iterations belongs to one group. An iteration is open from its first share until all shares are
// done; then rates are measured from it. Times are absolute, ns.
//
// Rates are left as they were by an iteration that says nothing of them: a short one (a repair, a
// remainder), and for a rank that had no units, handed them over or did not answer.
class Iterations {
 public:
  explicit Iterations(std::size_t ranks) : workers_(ranks) {}

  bool open() const { return open_; }
  std::int64_t units() const { return units_; }                 // of the open iteration so far
  std::int64_t expected() const { return expected_; }           // as many as last time; 0: unknown
  std::int64_t measured() const { return measured_; }           // iterations that measured rates
  const std::vector<Measured>& parts() const { return last_; }  // of the last such, by rank

  // given: `units` of the iteration (opened by it) are `rank`'s, from now on.
  void given(Rank, std::int64_t units, Time now);
  // `units` fewer than thought went to `rank`; the master's own threads had taken them, and they
  // count for nobody.
  void went_short(Rank, std::int64_t units);
  void done(Rank, std::int64_t units, Time now, double percent);
  // `rank` is not waited for any longer.
  void forget(Rank, double percent);
  // What was known of this rank is void: it joined, or answers again.
  void renew(Rank);
  // An event says that the proportions may be wrong, however well the last iteration went.
  void unsettle() { settled_ = false; }

  // What the shares are computed from, by worker of the team. `cost` and `latency` (s) are those of
  // the workers; `factor` is by how much outside load slows each now.
  struct Worker {
    Rank rank;
    UnitCost cost;
    double latency = 0;
    double factor = 1;
  };
  // shares tells how many of `units` each worker gets. A worker without units for `probe_after`
  // iterations gets one, or it would have no rate for ever.
  std::vector<std::int64_t> shares(const std::vector<Worker>&, std::int64_t units, std::int64_t probe_after);

  // The rank's rate in units per second, 0: unknown.
  double rate(Rank r) const { return workers_[at(r)].rate; }
  // When the rank's share should have been done, were it `slack` times slower than measured. 0: no
  // idea, or nothing out.
  Time overdue_at(Rank, double latency, double wire, double slack) const;

 private:
  struct State {
    double rate = 0;           // units per second, when last measured; 0: no history
    double factor = 1;         // outside load when it was
    double proportion = 0;     // as last used
    std::int64_t without = 0;  // iterations since it had units
    // the open iteration
    std::int64_t units = 0;
    std::int64_t left = 0;
    Time since = 0;
    Time until = 0;
    double factor_now = 1;
    bool void_ = false;  // its time says nothing
  };
  static std::size_t at(Rank r) { return static_cast<std::size_t>(index(r)); }
  void close_if_done(double percent);

  std::vector<State> workers_;  // by rank
  bool open_ = false;
  bool settled_ = false;  // the last iteration was balanced: its proportions are used again
  bool guessed_ = true;   // ... but proportions that are not all measured are tried once
  std::int64_t units_ = 0;
  std::int64_t expected_ = 0;
  std::int64_t measured_ = 0;
  double mean_ = 0;
  std::vector<Measured> last_;
  std::vector<Rank> team_;  // as last used
};

}  // namespace tessera::balancer
