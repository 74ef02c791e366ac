// `demand`: the rank where a loop was born hands it out. First each other worker gets a run by its
// power, then each request gets the next block.
//
// Master: what is fresh here is the pool; its own threads take from it one by one, like a worker
// whose requests cost nothing. A worker that asks when the pool is dry is told so and sleeps; one
// sleeper is woken (LoopOpened) for each fragment born later.
// Worker: remembers the masters that may have something, and asks the first of them when what is
// ready lasts less than a request takes. At most one request is out.
//
// So each request brings a block or puts a worker to sleep, and each wake-up is paid for by a
// birth: with nothing born no message is sent.
#include <algorithm>
#include <optional>

#include "balancer/loops/loop_rank.hpp"
#include "balancer/loops/loops.hpp"
#include "balancer/loops/runs.hpp"

namespace tessera::balancer {
namespace {

class Demand : public LoopRank {
 public:
  explicit Demand(const Setup& setup)
      : LoopRank(setup, demand_info(), SettingsReader(demand_info(), setup.settings).numbers("powers")),
        asleep_(team_.workers().begin() + 1, team_.workers().end()) {
    const SettingsReader read(demand_info(), setup.settings);
    percent_ = read.number("first_percent");
    block_ = read.integer("block");
  }

 private:
  void react(Time now, const Event& event, Actions& out) override {
    if (const auto* load = std::get_if<LoadChanged>(&event)) {
      ran_some_ = ran_some_ || !load->finished.empty();
      births(out);
    } else if (const auto* came = std::get_if<Arrived>(&event)) {
      if (asked_ && asked_->master == came->from) {
        request_time_ += (now - asked_->at - request_time_) / (request_time_ == 0 ? 1 : 4);
        asked_.reset();
        ran_some_ = false;
      }
      knows_work(came->from);
    } else if (const auto* went = std::get_if<Shipped>(&event)) {
      shipped(*went, out);
    } else if (const auto* received = std::get_if<Received>(&event)) {
      if (const auto* request = std::get_if<BlockRequest>(&received->message)) {
        serve(received->from, request->number, out);
      } else if (const auto* drained = std::get_if<LoopDrained>(&received->message)) {
        if (asked_ && asked_->master == received->from && asked_->number == drained->number) {
          std::erase(masters_, asked_->master);
          asked_.reset();
        }
      } else if (std::holds_alternative<LoopOpened>(received->message)) {
        knows_work(received->from);
      }
    } else if (const auto* gone = std::get_if<RankLeaving>(&event)) {
      std::erase(masters_, gone->rank);
      std::erase(asleep_, gone->rank);
      if (asked_ && asked_->master == gone->rank) asked_.reset();
    } else if (const auto* joined = std::get_if<RankJoined>(&event)) {
      std::erase(asleep_, joined->rank);
      if (joined->rank != self_) asleep_.push_back(joined->rank);
      wake(pool(), out);
    }
    ask(now, out);
  }

  // ---- worker

  void knows_work(Rank master) {
    if (team_.here(master) && std::find(masters_.begin(), masters_.end(), master) == masters_.end()) {
      masters_.push_back(master);
    }
  }
  bool needs_work() const {
    if (idle_ && births_.total() == 0) return true;
    // Who has run nothing of the last block knows too little of it: after light ones it may be a heavy one that runs,
    // and block after block would wait here for it.
    if (!ran_some_) return false;
    const Time soon = request_time_ > 0 ? request_time_ : 3 * Link{}.latency;
    return load() / threads_ < soon;
  }
  void ask(Time now, Actions& out) {
    if (asked_ || masters_.empty() || !needs_work()) return;
    asked_ = Request{masters_.front(), ++number_, now};
    out.push_back(Send{asked_->master, BlockRequest{number_}});
  }

  // ---- master

  // A loop is open from the first fragment of a group until none is fresh.
  struct Loop {
    std::int64_t fragments = 0;
    std::vector<std::int64_t> given;  // first runs, by rank
    Blocks blocks;
  };

  Loop no_loop() const { return Loop{0, {}, Blocks{block_}}; }

  std::int64_t pool() const {
    std::int64_t n = 0;
    for (std::size_t g = 0; g < births_.groups(); ++g) n += dealable(g);
    return n;
  }

  void births(Actions& out) {
    if (loops_.size() < births_.groups()) loops_.resize(births_.groups(), no_loop());
    std::vector<Portion> portions;
    std::int64_t born = 0;
    for (std::size_t g = 0; g < births_.groups(); ++g) {
      Loop& loop = loops_[g];
      const std::int64_t fresh = dealable(g);
      if (fresh == 0) loop = no_loop();
      if (fresh == 0 || (births_.born(g) == 0 && loop.fragments > 0)) continue;
      const std::int64_t before = loop.fragments;
      loop.fragments = std::max(before + births_.born(g), fresh);
      born += loop.fragments - before;
      if (!just_born()) first_runs_of(g, fresh, portions);
    }
    if (!portions.empty()) ship(portions, "first runs", out);
    if (!just_born()) wake(std::min(born, pool()), out);
  }

  void first_runs_of(std::size_t g, std::int64_t fresh, std::vector<Portion>& portions) {
    const std::vector<Rank>& workers = team_.workers();
    Loop& loop = loops_[g];
    loop.given.resize(static_cast<std::size_t>(ranks_));
    const auto runs = first_runs(team_.powers(), loop.fragments, percent_);
    if (portions.empty()) {
      for (const Rank r : workers) portions.push_back({r, {}});
    }
    for (std::size_t j = 1; j < workers.size(); ++j) {  // workers[0] is this rank
      std::int64_t& given = loop.given[static_cast<std::size_t>(index(workers[j]))];
      const std::int64_t n = std::min(runs[j] - given, fresh);
      if (n <= 0 || !pays(g, n)) continue;
      given += n;
      fresh -= n;
      portions[j].fragments.push_back({Group{static_cast<std::uint32_t>(g)}, n});
      std::erase(asleep_, workers[j]);  // what arrives tells it of this master
    }
  }

  void wake(std::int64_t budget, Actions& out) {
    while (budget-- > 0 && !asleep_.empty()) {
      out.push_back(Send{asleep_.front(), LoopOpened{}});
      asleep_.erase(asleep_.begin());
    }
  }

  // The group with the most work in it gives the block. Where the weight is known, a block is
  // large enough to repay its message.
  void serve(Rank worker, std::uint64_t number, Actions& out) {
    std::size_t best = births_.groups();
    double most = 0;
    for (std::size_t g = 0; g < births_.groups(); ++g) {
      const double work =
          static_cast<double>(dealable(g)) * static_cast<double>(weights_.weight(Group{static_cast<std::uint32_t>(g)}));
      if (work > most) {
        most = work;
        best = g;
      }
    }
    if (best == births_.groups() || just_born()) return refuse(worker, number, out);
    if (loops_.size() < births_.groups()) loops_.resize(births_.groups(), no_loop());
    const std::int64_t left = dealable(best);
    std::int64_t n = loops_[best].blocks.next(left);
    while (n < left && !pays(best, n)) n = std::min(2 * n, left);
    if (!pays(best, n)) return refuse(worker, number, out);
    std::erase(asleep_, worker);
    const auto tickets = ship({{worker, {{Group{static_cast<std::uint32_t>(best)}, n}}}}, "block", out);
    for (const std::uint64_t t : tickets[0]) serving_[t] = {worker, number};
  }
  void refuse(Rank worker, std::uint64_t number, Actions& out) {
    out.push_back(Send{worker, LoopDrained{number}});
    if (team_.here(worker) && std::find(asleep_.begin(), asleep_.end(), worker) == asleep_.end()) {
      asleep_.push_back(worker);
    }
  }
  void shipped(const Shipped& e, Actions& out) {
    const auto block = serving_.find(e.ticket);
    if (block == serving_.end()) return;
    const Serving s = block->second;
    serving_.erase(block);
    // Taken by this rank's own threads meanwhile. (A later piece of a block whose first piece went
    // is refused in vain: the worker has stopped waiting.)
    if (e.fragments.empty()) refuse(s.worker, s.number, out);
  }

  struct Request {
    Rank master;
    std::uint64_t number;
    Time at;
  };
  struct Serving {
    Rank worker;
    std::uint64_t number;
  };

  double percent_ = 0;
  std::int64_t block_ = 1;

  std::vector<Rank> masters_;  // may have something to give; asked in this order
  std::optional<Request> asked_;
  std::uint64_t number_ = 0;
  bool ran_some_ = true;   // since the last block came
  Time request_time_ = 0;  // from a request to the block, smoothed

  std::vector<Loop> loops_;                   // by group
  std::vector<Rank> asleep_;                  // do not know that there is something here; woken in this order
  std::map<std::uint64_t, Serving> serving_;  // by ticket
};

constexpr Parameter kDemandParameters[] = {
    {.name = "first_percent",
     .default_value = "12",
     .help = "Li: percent of a loop that is handed out at once, by the power of the ranks; 0: all "
             "of it on request",
     .max = 100},
    {.name = "block",
     .default_value = "5",
     .help = "Cb: fragments that the first request gets; each later one gets one less, down to 1",
     .kind = Parameter::Kind::integer,
     .min = 1,
     .max = 1e9},
    kPowersParameter,
    kMarginParameter,
    kMaxTransferParameter,
};

}  // namespace

const PolicyInfo& demand_info() {
  static const PolicyInfo info{
      .name = "demand",
      .summary = "the rank where a loop was born hands out blocks of it on request",
      .parameters = kDemandParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> { return std::make_unique<Demand>(setup); },
  };
  return info;
}

}  // namespace tessera::balancer
