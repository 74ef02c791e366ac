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

// A value that somebody had to ask for lay where it was until then: that is no transfer. What held the question up was
// what was there last before it: the fragment itself, `created`, or another input.
void look_at_questions(const Ready& created, const std::vector<const sim::Arrival*>& came, std::vector<Ready>& inputs) {
  const auto asked = [&](std::size_t k) { return came[k] == nullptr ? Time{-1} : came[k]->asked; };
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].by != kNobody && inputs[k].at > inputs[k].made && asked(k) >= 0) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return inputs[a].at < inputs[b].at; });
  for (const std::size_t k : order) {
    Ready before = created;
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (j != k && inputs[j].at <= asked(k) && inputs[j].at < inputs[k].at && inputs[j].at > before.at)
        before = inputs[j];
    }
    if (before.by == kNobody || before.at <= inputs[k].made || before.at > asked(k)) continue;
    inputs[k].by = before.by, inputs[k].made = std::min(before.at, inputs[k].at), inputs[k].from = before.from;
  }
}

}  // namespace

void find_ready(RunRecord& r) {
  const sim::Times& t = r.times();
  const auto& fragments = r.trace.work.fragments;
  std::vector<std::size_t> parent(fragments.size(), kNobody);
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    for (const std::size_t c : fragments[f].children) parent[c] = f;
  }
  const Ways ways(t);
  Ends ends(r);
  r.ready.assign(t.bars.size(), {});
  std::vector<const sim::Arrival*> came;
  std::vector<Ready> there;
  for (std::size_t i = 0; i < t.bars.size(); ++i) {
    const sim::Bar& b = t.bars[i];
    const auto& inputs = fragments[b.fragment].inputs;
    Ready& ready = r.ready[i];
    const sim::Moved* m = ways.last(b.fragment, balancer::Rank{b.rank}, b.start);
    const Time until = m == nullptr ? b.start : m->at;
    // It was created while what made it ran, and before it went away; when, is not written down.
    const std::int32_t on = m == nullptr ? b.rank : balancer::index(m->from);
    if (parent[b.fragment] != kNobody) {
      for (const std::size_t p : r.bars_of[parent[b.fragment]]) {
        if (ready.by != kNobody && t.bars[p].rank != on) continue;
        const Time at = std::min(until, r.end_of(p));
        ready = {at, Ready::Why::created, p, at, t.bars[p].rank};
      }
    }
    const bool moved = m != nullptr && m->by_policy;
    came.assign(inputs.size(), nullptr);
    for (const sim::Arrival& a : t.arrivals_of(b)) {
      // What was there before it was moved there, or came with it, says nothing of when it was ready where it lay.
      if (!moved || a.at > m->at) came[a.input] = &a;
    }
    const auto input = [&](std::size_t k, Time since) {
      const std::size_t by = ends.of(inputs[k].fragment);
      if (by == kNobody) return Ready{};
      const Time made = std::min(b.start, r.end_of(by));
      const Time at = std::min(b.start, std::max(made, since));
      return Ready{at, Ready::Why::input, by, std::min(made, at), t.bars[by].rank};
    };
    there.clear();
    for (std::size_t k = 0; k < inputs.size(); ++k) there.push_back(input(k, came[k] == nullptr ? -1 : came[k]->at));
    look_at_questions(ready, came, there);
    for (const Ready& x : there) {
      if (x.at > ready.at) ready = x;
    }
    if (moved && m->last >= 0 && static_cast<std::size_t>(m->last) < inputs.size()) {
      if (const Ready x = input(static_cast<std::size_t>(m->last), m->since); x.at > ready.at) ready = x;
    }
    const bool known = ready.by != kNobody || t.from == 0;
    if (moved && m->at > ready.at) {
      // It may have come there from elsewhere.
      const sim::Moved* before = ways.last(b.fragment, m->from, m->at);
      const Time lay = std::max({ready.at, std::min(m->at, m->since), before == nullptr ? 0 : before->at});
      ready = {m->at, Ready::Why::moved, ready.by, known ? lay : m->at, balancer::index(m->from)};
    } else if (!known) {
      ready = {b.start, Ready::Why::unknown, kNobody, b.start, -1};
    } else if (m != nullptr) {
      ready.at = std::max(ready.at, m->at);  // its locator had it go there: until then it was on its way
    }
  }
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
