// Simulation: one run of the simulator. The queue of happenings drives ranks; each rank has its
// ready items, what runs on its threads, and the host of its policy.
//
// Running ahead: a rank with one thread does not plan the end of each item. Nothing that another
// rank does now can reach it before now + the least latency, and what is already on its way to it
// is in `touches`; until the earlier of the two it runs item after item by itself.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "balancer/host.hpp"
#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/event_queue.hpp"
#include "balancer/simulator/network.hpp"
#include "balancer/simulator/ready_items.hpp"
#include "balancer/simulator/utilisation.hpp"

namespace tessera::balancer::simulator {

class Simulation final : public Effects {
 public:
  Simulation(Program&, const Options&);
  Outcome run();

  // Effects
  void ready(Rank here, const Item&) override;
  void send(Rank from, Rank to, std::int64_t bytes, const Note&) override;

 private:
  using Kind = Happening::Kind;

  struct Running {
    Item item;
    bool active = false;
    Time began = 0;
    double left = 0;  // ns of work at speed 1, as of `since`
    Time since = 0;
    Time end = 0;  // at the present rate
    std::uint64_t generation = 0;
    std::vector<Item> spot;  // to run next, the last one first: see Program::runs_on_the_spot
  };
  struct GroupState {
    std::int64_t outputs = 0, output_bytes = 0;
    GroupDone done{Group{0}, 0, 0, 0};  // since the host looked
    int votes = 0;                      // of the latest items, for being tiny; as runtime/work/group_stats.hpp
  };
  // Something for the policy, in the order it came.
  struct Told {
    enum class Kind { event, pump, shipment } kind;
    Event event;
    std::uint32_t parcel = 0;
  };
  struct Node final : HostedRank {
    Simulation& simulation;
    Rank rank{0};
    std::optional<Host> host;
    ReadyItems items;
    std::vector<Running> threads;
    std::vector<GroupState> groups;
    std::vector<SeriesWork> series_ran;  // since the host looked
    double speed = 1, cores = 1, tasks = 0;
    double rate = 1;      // work done per ns by each running thread
    bool shared = false;  // it may change with the number of running threads
    std::int32_t running = 0;
    bool executes = true;     // it is no dedicated coordinator
    bool here = true;         // it has not left
    bool settled = false;     // it has left and its grace is over
    Time starved = 0;         // for how long, with Options::watch
    bool dirty = false;       // something has changed since the host's last report
    bool urgent = false;      // a thread found nothing more when its item ended
    Time pump_at = -1;        // planned, or told and not taken in yet; -1: neither
    std::vector<Told> inbox;  // from `inbox_head` on
    std::size_t inbox_head = 0;
    bool serving = false;  // a `serve` is planned
    std::set<Rank> heard;  // it has had messages from; kept when planning costs time
    Time host_free = 0;
    std::deque<std::pair<Time, Time>> host_late;  // when the host worked, from the latest end of an item on
    std::vector<bool> knows_left;                 // by rank; empty: nobody has left
    std::vector<Time> touches;                    // a heap, earliest first: when others' happenings reach it

    Node(Simulation& s, const std::vector<ReadyItems::Kind>* kinds, std::int64_t plenty)
        : simulation(s), items(kinds, plenty) {}

    // HostedRank
    Time now() const override { return simulation.now_ + simulation.host_delay_; }
    bool idle() const override { return running == 0 && items.count() == 0; }
    void look(std::vector<GroupLoad>& ready, std::vector<GroupDone>& finished) override;
    void look(std::vector<SeriesWork>& ran) override { ran.swap(series_ran); }
    void settle(const SettleSeries& s) override {
      for (const SeriesPlace& p : s.places) simulation.program_.settle(p.series, p.to);
    }
    void answered(Time, const Event& event, const Actions& actions) override {
      simulation.charge(*this, event, actions);
    }
    void send(Rank to, const Message& message) override { simulation.send_message(*this, to, message); }
    Shipped ship(const Ship& s) override { return simulation.ship(*this, s); }
    void timer_set(const Timer& t) override {
      simulation.plan(t.at + simulation.processing(*this).timer, Kind::timer, rank, t.number, t.setting);
    }
    void decide(const Decide& d) override {
      ++simulation.out_.decisions[d.why];
      if (Times* t = simulation.options_.record; t != nullptr) {
        t->decisions.push_back({now(), rank, d.from, d.to, d.load_from, d.load_to, d.fragments, d.why});
      }
    }
  };
  struct Parcel {
    enum class Kind { message, shipment, note } kind = Kind::message;
    Rank from{0};
    std::int64_t bytes = 0;
    Note note;
    Message message;
    std::vector<Item> items;
    std::vector<GroupCount> fragments;
    std::uint64_t ticket = 0;
    bool by_policy = true;  // else the host's own: what a leaving rank had left
  };

  Node& node(Rank r) { return nodes_[static_cast<std::size_t>(index(r))]; }
  Node& node(std::int32_t r) { return nodes_[static_cast<std::size_t>(r)]; }
  void plan(Time at, Kind kind, Rank rank, std::uint32_t a = 0, std::uint64_t b = 0);
  void happen(const Happening&);
  void fault(std::string text);

  // execute.cpp
  void start(Node&, bool planned);
  void on_finish(Node&, std::uint32_t thread, std::uint64_t generation);
  void complete(Node&, Running&);
  void plan_finish(Node&, std::uint32_t thread);
  void set_rate(Node&);

  // host.cpp
  // ran_dry is called when an item has ended, before the next one is taken.
  void ran_dry(Node& n) { n.urgent = n.urgent || n.items.count() < static_cast<std::int64_t>(n.threads.size()); }
  void changed(Node& n) {
    n.dirty = true;
    const Time due = n.host->report_due(n.urgent);
    const Time at = due > now_ ? due + processing(n).timer : now_ + processing(n).wake;
    if (n.pump_at < 0 || n.pump_at > at) plan_pump(n, at);
  }
  void plan_pump(Node&, Time at);
  void pump(Node&);
  void tell(Node&, Told);
  void tell(Node& n, Event e) { tell(n, Told{Told::Kind::event, std::move(e), 0}); }
  void serve(Node&);
  void worked(Node&, Time from, Time to);  // its host
  void settle_host(Node&);
  void take_in(Node&, Told&);
  // The host takes time over an event and what the policy answered.
  void charge(Node&, const Event&, const Actions&);
  void send_message(Node&, Rank to, const Message&);
  const Processing& processing(const Node& n) const { return n.executes ? options_.processing : options_.coordinator; }

  // moving.cpp
  std::uint32_t new_parcel(Rank from, Parcel::Kind);
  void post(std::uint32_t parcel, Rank to, Time depart);
  void deliver(Node&, std::uint32_t parcel);
  Time ship_time(const Node&, const std::vector<GroupCount>& fragments) const;  // of its host
  Shipped ship(Node&, const Ship&);
  void ship_items(Node&, Rank to, std::vector<Item> items, std::vector<GroupCount> fragments, std::uint64_t ticket,
                  bool by_policy, std::int64_t& bytes);
  void unload(Node&, std::uint32_t parcel);
  void queue(Node&, Item);
  bool on_the_spot(const Node&, const Item&) const;

  void watch();

  // churn.cpp
  void change(const Change&);
  void leave(Node&, Time grace);
  void settle(Node&);
  void notice(Node&, Rank who, bool joins);
  Rank neighbour(Rank) const;

  Program& program_;
  const Options& options_;
  const bool has_data_;
  const bool spot_;          // Program::runs_on_the_spot
  const bool settles_;       // the policy wants to hear of series
  const bool expand_first_;  // there is a balancer that wants to see what there is
  const bool homeward_;      // what it has shipped goes home: sends_home
  Network network_;
  Time lookahead_;
  std::vector<ReadyItems::Kind> kinds_;
  std::vector<Births> births_;
  std::vector<Node> nodes_;
  EventQueue queue_;
  Node* completing_at_ = nullptr;  // while the program makes what follows an item:
  Item completing_;                // the item
  std::vector<Item> made_;         // what of it is run on the spot
  Time now_ = 0;
  Time host_delay_ = 0;  // of the step whose actions are carried out: the host works that long
  std::vector<Parcel> parcels_;
  std::vector<std::uint32_t> free_parcels_;
  std::int64_t created_ = 0;
  Utilisation utilisation_;
  Outcome out_;
};

}  // namespace tessera::balancer::simulator
