#include "cli/report/run_record.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "cli/failure.hpp"

namespace tessera::cli {

namespace sim = balancer::simulator;

const char* name_of(Doing d) {
  switch (d) {
    case Doing::kernel:
      return "kernels";
    case Doing::making:
      return "making fragments";
    case Doing::overhead:
      return "overhead";
    case Doing::transfer:
      return "idle: a transfer was under way";
    case Doing::value:
      return "idle: a value was being made on another rank";
    case Doing::late:
      return "idle: the balancer moved work there late";
    case Doing::elsewhere:
      return "idle: work was ready on another rank";
    case Doing::nothing:
      return "idle: nothing was ready anywhere";
  }
  return "?";
}

namespace {

// When each fragment had ended, and the bar that did: of what stands for the end of others, the last of these.
class Ends {
 public:
  explicit Ends(const RunRecord& r) : r_(r), bar_(r.trace.work.fragments.size(), kNobody), known_(bar_.size()) {}
  // Ends of ends may be many deep: no recursion. They are in no circle, read_trace has seen to that.
  std::size_t of(std::size_t fragment) {
    std::vector<std::size_t> todo{fragment};
    while (!todo.empty()) {
      const std::size_t f = todo.back();
      const auto& inputs = r_.trace.work.fragments[f].inputs;
      if (!known_[f] && r_.bars_of[f].empty()) {
        const std::size_t before = todo.size();
        for (const sim::Input& i : inputs) {
          if (!known_[i.fragment]) todo.push_back(i.fragment);
        }
        if (todo.size() > before) continue;
      }
      todo.pop_back();
      if (known_[f]) continue;
      known_[f] = true;
      for (const std::size_t b : r_.bars_of[f]) later(f, b);
      if (!r_.bars_of[f].empty()) continue;
      for (const sim::Input& i : inputs) later(f, bar_[i.fragment]);
    }
    return bar_[fragment];
  }

 private:
  void later(std::size_t fragment, std::size_t b) {
    if (b != kNobody && (bar_[fragment] == kNobody || r_.end_of(b) > r_.end_of(bar_[fragment]))) bar_[fragment] = b;
  }
  const RunRecord& r_;
  std::vector<std::size_t> bar_;
  std::vector<bool> known_;
};

// What a worker does is told in the order in which it did it, and nothing before the start or after the end: clocks of
// hosts differ a little, and a file may have been written by anybody.
void put_in_order(sim::Times& t) {
  for (sim::Bar& b : t.bars) {
    const Time end = std::max(t.from, b.start + b.length);
    b.start = std::max(t.from, b.start);
    b.length = end - b.start;
    t.finished = std::max(t.finished, end);
  }
  std::stable_sort(t.bars.begin(), t.bars.end(), [](const sim::Bar& a, const sim::Bar& b) {
    return std::tie(a.rank, a.worker, a.start) < std::tie(b.rank, b.worker, b.start);
  });
  const auto by_time = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::stable_sort(t.moves.begin(), t.moves.end(), by_time);
  std::stable_sort(t.decisions.begin(), t.decisions.end(), by_time);
}

}  // namespace

namespace {

// How each fragment came to the ranks where it ran.
class Ways {
 public:
  explicit Ways(const sim::Times& t) {
    for (const sim::Moved& m : t.moves) moves_.push_back(&m);
    std::stable_sort(moves_.begin(), moves_.end(),
                     [](const auto* a, const auto* b) { return a->fragment < b->fragment; });
  }
  // The last time that it came there up to then; null: it did not.
  const sim::Moved* last(std::size_t fragment, balancer::Rank to, Time until) const {
    const auto less = [](const sim::Moved* m, std::size_t f) { return m->fragment < f; };
    const sim::Moved* found = nullptr;
    for (auto m = std::lower_bound(moves_.begin(), moves_.end(), fragment, less);
         m != moves_.end() && (*m)->fragment == fragment && (*m)->at <= until; ++m) {
      if ((*m)->to == to) found = *m;
    }
    return found;
  }

 private:
  std::vector<const sim::Moved*> moves_;  // by fragment, then by time
};

// Finds out since when each bar could have run where it did.
class Readiness {
 public:
  explicit Readiness(RunRecord& r) : r_(r), ways_(r.times()), ends_(r), parent_(r.bars_of.size(), kNobody) {
    const auto& fragments = r.trace.work.fragments;
    for (std::size_t f = 0; f < fragments.size(); ++f) {
      for (const std::size_t c : fragments[f].children) parent_[c] = f;
    }
  }

  Ready of(const sim::Bar& b) {
    const auto& inputs = r_.trace.work.fragments[b.fragment].inputs;
    const sim::Moved* const m = ways_.last(b.fragment, balancer::Rank{b.rank}, b.start);
    std::vector<const sim::Arrival*> came(inputs.size(), nullptr);
    for (const sim::Arrival& a : r_.times().arrivals_of(b)) {
      // What was there before it, or came with it, is nothing that it waited for there.
      if (m == nullptr || a.at > m->at) came[a.input] = &a;
    }
    Ready ready = created(b.fragment, m == nullptr ? b.rank : index(m->from), m == nullptr ? b.start : m->at);
    const auto later = [&](const Ready& x) {
      if (x.at > ready.at) ready = x;
    };
    if (m != nullptr && m->by_policy) {
      const Ready ready_there = ready;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (came[k] == nullptr) later(input(inputs[k].fragment, -1, m->at));
      }
      if (m->last >= 0 && static_cast<std::size_t>(m->last) < inputs.size()) {
        const sim::Arrival last{static_cast<std::uint32_t>(m->last), m->since, m->asked, m->asked_by};
        const Ready lay = input(inputs[last.input].fragment, m->since, m->at);
        later(held_up(lay, last, b.fragment, m->from, nullptr, ready_there));
      }
      ready = moved(*m, ready);
    } else if (m != nullptr) {
      ready.at = std::max(ready.at, m->at);  // its locator had it go there: until then it was on its way
    }
    const Ready here = ready;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (came[k] != nullptr) {
        later(held_up(input(inputs[k].fragment, came[k]->at, b.start), *came[k], b.fragment, balancer::Rank{b.rank}, m,
                      here));
      } else if (m == nullptr || !m->by_policy) {
        later(input(inputs[k].fragment, -1, b.start));
      }
    }
    if (ready.by != kNobody || r_.from() == 0) return ready;
    if (ready.why == Ready::Why::moved) return ready.made = ready.at, ready;
    return {b.start, Ready::Why::unknown, kNobody, b.start, -1};
  }

 private:
  // It was created while what made it ran, on that rank, and before then; when, is not written down.
  Ready created(std::size_t fragment, std::int32_t rank, Time until) const {
    Ready ready;
    if (parent_[fragment] == kNobody) return ready;
    for (const std::size_t p : r_.bars_of[parent_[fragment]]) {
      if (ready.by != kNobody && r_.times().bars[p].rank != rank) continue;
      const Time at = std::min(until, r_.end_of(p));
      ready = {at, Ready::Why::created, p, at, r_.times().bars[p].rank, p};
    }
    return ready;
  }
  // What that fragment made was there since then, and before `until`.
  Ready input(std::size_t fragment, Time since, Time until) {
    const std::size_t by = ends_.of(fragment);
    if (by == kNobody) return {};
    const Time at = std::min(until, std::max(r_.end_of(by), since));
    return {at, Ready::Why::input, by, std::min(r_.end_of(by), at), r_.times().bars[by].rank, by};
  }
  // A policy had it go, and it had been ready there.
  Ready moved(const sim::Moved& m, const Ready& there) const {
    const sim::Moved* before = ways_.last(m.fragment, m.from, m.at);  // it may have come there from elsewhere
    const Time lay = std::max({there.at, std::min(m.at, m.since), before == nullptr ? 0 : before->at});
    return {m.at, Ready::Why::moved, there.by, lay, index(m.from), there.by};
  }
  // A value that was asked for lay where it was until then: that is no transfer. What held the question up is what ran
  // and asked, also for others that read it; or how what asked had come there. So is what a policy's move had sent
  // after it.
  Ready held_up(Ready x, const sim::Arrival& came, std::size_t fragment, balancer::Rank rank, const sim::Moved* m,
                const Ready& here) const {
    const bool after = came.asked < 0 && m != nullptr && m->by_policy;
    const Time asked = std::min(x.at, after ? m->at : came.asked);
    if (x.by == kNobody || asked <= x.made) return x;
    x.made = asked;
    x.by = here.by;
    if (after || came.by == sim::Arrival::kNobody) return x;
    for (const std::size_t i : r_.bars_of[came.by]) {
      const sim::Bar& a = r_.times().bars[i];
      if (a.rank == index(rank) && a.start <= asked && asked <= r_.end_of(i)) return x.by = i, x;
    }
    if (const sim::Moved* by = ways_.last(came.by, rank, asked); by != nullptr && came.by != fragment)
      x.by = created(came.by, index(by->from), by->at).by;
    return x;
  }

  RunRecord& r_;
  const Ways ways_;
  Ends ends_;
  std::vector<std::size_t> parent_;
};

}  // namespace

void find_ready(RunRecord& r) {
  Readiness all(r);
  r.ready.clear();
  r.ready.reserve(r.times().bars.size());
  for (const sim::Bar& b : r.times().bars) r.ready.push_back(all.of(b));
}

RunRecord read_run(const std::string& path, const Part& part) {
  sim::Trace trace;
  try {
    trace = sim::read_trace(path);
  } catch (const sim::TraceError& e) {
    throw usage_error(e.what());
  }
  RunRecord whole = run_of(std::move(trace), path);
  if (part.from.empty() && part.to.empty()) return whole;
  return run_of(part_of(whole.trace, part, path), path, &whole);
}

RunRecord run_of(sim::Trace trace, const std::string& path, const RunRecord* whole) {
  RunRecord r;
  r.name = std::filesystem::path(path).filename().string();
  r.trace = std::move(trace);
  if (r.times().finished == 0 || r.times().bars.empty()) {
    throw usage_error(path + ": this trace does not tell when its fragments ran (an older tessera, or --save-trace): " +
                      "record the run again, with `tessera run --record` or `tessera simulate --record`");
  }
  put_in_order(r.trace.times);
  r.bars_of.resize(r.trace.work.fragments.size());
  for (std::size_t i = 0; i < r.times().bars.size(); ++i) r.bars_of[r.times().bars[i].fragment].push_back(i);
  find_ready(r);
  if (whole != nullptr) know_as(*whole, r);
  find_lanes(r);
  find_path(r);
  return r;
}

}  // namespace tessera::cli
