// Membership: ranks leave the run and join it. Communication thread.
//
// Whoever wants a change asks rank 0 (AskChange): the rank itself after a signal, `tessera drain`
// and `tessera join` through rank 0's control socket, or the plan of `--leave` and `--join`. Rank 0
// decides, one request after the other, so that somebody always stays; it tells all ranks
// (MemberChange), in the same order. A rank that leaves gives away what it has (evacuation.hpp) and
// reports to rank 0 (Left).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/run.hpp"

namespace tessera::runtime {

class ControlPoint;
class Node;

class Membership {
 public:
  explicit Membership(Node& node);
  ~Membership();

  // What to tell whoever asked; `done` is false when more follows.
  using Answer = std::function<void(const std::string& text, bool accepted, bool done)>;
  // Rank 0: decides on a request. `to` is told at once if it was accepted, and again when a leaving
  // rank has given everything away.
  void request(Rank rank, bool joins, const Answer& to);

  void on(Rank from, AskChange&&);
  void on(Rank from, MemberChange&&);
  void on(Rank from, Left&&);

  // Does what is due: signals to this rank, the plan of rank 0.
  void turn(Clock::time_point now);
  // Rank 0 of several: listens for `tessera drain` and `tessera join` from now to the end of the
  // run.
  void listen();
  void stop_listening();
  Clock::time_point next(Clock::time_point now) const;

 private:
  std::string refusal(Rank rank, bool joins) const;
  void change(Rank rank, bool joins);
  void answer_all(Rank rank, const std::string& text, bool accepted);
  void announce(const std::string& text) const;

  Node& node_;
  const Clock::time_point start_;
  std::unique_ptr<ControlPoint> control_;  // rank 0
  std::vector<MemberPlan> plan_;           // rank 0, latest first
  std::multimap<Rank, Answer> waiting_;    // rank 0: who wants to know when this rank has left
};

// SIGUSR1: this process's rank wants to leave; SIGUSR2: to join. For one rank per process.
void catch_member_signals(Transport& transport);
// From here on they mean nothing: the transport may go.
void ignore_member_signals();

}  // namespace tessera::runtime
