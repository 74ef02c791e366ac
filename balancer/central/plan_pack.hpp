// Packing below a ceiling.
//
// Nobody is to finish after the ceiling. Who would gives the fewest fragments that bring it below (no heavier than the
// widest gap; the heaviest, and at last the lightest that suffices). Who has a gap below the ceiling takes them,
// heaviest first, each into the gap that it fills best. What fits nowhere stays, and its rank gives lighter ones in the
// next round. When nothing fits any more, who is stuck gives a fragment to the widest gap all the same, and the
// receiver makes room for it by lighter ones.
#pragma once

#include <array>

#include "balancer/central/plan_gaps.hpp"
#include "balancer/central/plan_queue.hpp"

namespace tessera::balancer {

class Packer {
 public:
  // `level`: where all would finish if fragments were water; `latest`: when the last finishes if nothing moves.
  Packer(const std::vector<Load>&, const std::vector<double>& finish, Queues&, const PlanCosts&, double level,
         double latest);

  // pack tries to have all finish by the ceiling, and keeps what it packed if that is the best so far.
  void pack(double ceiling);
  // When all finish with the best packing.
  double reached() const { return reached_; }
  // plan is the best packing: one move per pair of workers, one count per group.
  Plan plan();
  // How many pieces it has tried to place, in all packings: its cost.
  std::size_t effort() const { return effort_; }

 private:
  struct Step {
    std::uint32_t from, to;
    Group group;
    std::int64_t count;
    double work;
  };
  // Who finishes after the ceiling.
  struct Donor {
    std::size_t worker;
    double to_place = 0;  // work chosen in this round
    // To whom it gives already, the latest: more for them costs no message.
    std::array<std::int32_t, 8> open{};
    std::uint32_t opened = 0;
  };
  // Fragments of one kind that a donor is to give.
  struct Piece {
    double order;  // of placing, the largest first
    std::uint32_t donor;
    Queues::Item* item;
    std::int64_t count;
    bool together(const Piece& other) const { return order == other.order && donor == other.donor; }
  };

  double gain_needed(std::size_t worker) const;
  double excess(std::size_t worker) const;
  double room(std::size_t worker, double begin) const;
  double start(std::size_t from, std::size_t to, std::int64_t bytes) const;
  std::int64_t fits(std::size_t from, std::int32_t to, const Queues::Item&, double by) const;

  void begin(double ceiling);
  bool round();
  void choose(std::size_t donor, double heaviest);
  void take(std::size_t donor, Queues::Item&, std::int64_t count, double order);
  void place_all();
  void place(std::span<Piece> alike);
  std::pair<std::int32_t, std::int64_t> receiver(Donor&, const Piece&);
  void move(std::size_t from, std::size_t to, const Queues::Item&, std::int64_t count);
  void push_all();
  void push(std::size_t from, std::size_t to);
  void retire();

  const std::vector<Load>& loads_;
  const std::vector<double>& initial_;  // finish
  Queues& queues_;
  const PlanCosts& costs_;
  const double level_;
  double ceiling_ = 0, reached_;
  std::vector<double> finish_;
  Gaps gaps_;
  std::vector<Donor> donors_;
  std::vector<Piece> pool_;
  std::vector<bool> pushed_;  // has been given more than it had room for
  std::vector<Step> steps_, packed_;
  std::size_t effort_ = 0;
};

}  // namespace tessera::balancer
