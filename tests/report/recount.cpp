#include "recount.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

namespace tessera::tests {
namespace {

using Time = std::int64_t;
using Row = std::map<std::string, std::string>;
constexpr Time kNever = -1;
constexpr int kNobody = -1;

std::vector<Row> rows_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    if (names.empty()) {
      names = cells;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = i < cells.size() ? cells[i] : "";
  }
  return rows;
}

Time number(const Row& row, const char* name) {
  const std::string& cell = row.at(name);
  return cell.empty() ? kNever : std::stoll(cell);
}

struct Ran {  // a row of fragments.csv
  Time fragment, rank, worker, start, end, parent;
  bool kernel;
};
struct Could {  // since when it could have run
  Time at = 0, made = 0;
  std::string why = "created";
  Time on = -1;
  int by = kNobody, maker = kNobody;
};
struct Piece {
  Time start, end;
  std::string what;
  int bar;
};

class Recount {
 public:
  explicit Recount(const Tables& t)
      : fragments_(rows_of(t.at("fragments.csv"))),
        inputs_(rows_of(t.at("inputs.csv"))),
        moves_(rows_of(t.at("moves.csv"))),
        workers_(rows_of(t.at("workers.csv"))),
        path_(rows_of(t.at("path.csv"))) {
    for (const Row& f : fragments_) {
      bars_.push_back({number(f, "fragment"), number(f, "rank"), number(f, "worker"), number(f, "start_ns"),
                       number(f, "start_ns") + number(f, "length_ns"), number(f, "parent"), f.at("kind") == "kernel"});
    }
    from_ = number(workers_.front(), "start_ns");
    for (const Row& w : workers_) finished_ = std::max(finished_, number(w, "end_ns"));
  }

  std::string difference() {
    for (std::size_t i = 0; i < bars_.size(); ++i) could_.push_back(could(static_cast<int>(i)));
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      const Could& c = could_[i];
      const Row& f = fragments_[i];
      const std::string by = c.by == kNobody ? "" : std::to_string(bar(c.by).fragment);
      const std::string mine = fmt::format("{} {} {} {} {}", c.at, c.why, c.made, c.on, by);
      const std::string told = fmt::format("{} {} {} {} {}", f.at("ready_ns"), f.at("ready_because"), f.at("made_ns"),
                                           f.at("made_on"), f.at("made_by"));
      if (mine != told) return fmt::format("fragment {}: could run {}, told {}", f.at("fragment"), mine, told);
    }
    std::set<std::pair<Time, Time>> lanes;
    for (const Row& w : workers_) lanes.insert({number(w, "rank"), number(w, "worker")});
    std::string wrong;
    for (const auto& [rank, worker] : lanes) wrong += lane(rank, worker);
    return wrong.empty() ? path() : wrong;
  }

 private:
  const Ran& bar(int i) const { return bars_[static_cast<std::size_t>(i)]; }

  // The bar with which a fragment ended: one that stands for the end of others ends with the last of them.
  int last_of(Time fragment) const {
    int last = kNobody;
    const auto later = [&](int b) {
      if (b != kNobody && (last == kNobody || bar(b).end > bar(last).end)) last = b;
    };
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      if (bars_[i].fragment == fragment) later(static_cast<int>(i));
    }
    if (last != kNobody) return last;
    for (const Row& in : inputs_) {
      if (number(in, "fragment") == fragment) later(last_of(number(in, "made_by")));
    }
    return last;
  }
  const Row* came(Time fragment, Time to, Time until) const {
    const Row* last = nullptr;
    for (const Row& m : moves_) {
      if (number(m, "fragment") == fragment && number(m, "to") == to && number(m, "at_ns") <= until) last = &m;
    }
    return last;
  }
  Could could(int i) const {
    const Ran& b = bar(i);
    Could c;
    const Row* m = came(b.fragment, b.rank, b.start);
    const Time arrived = m == nullptr ? kNever : number(*m, "at_ns");
    const bool moved = m != nullptr && m->at("by") == "balancer";
    const Time born_on = m == nullptr ? b.rank : number(*m, "from");
    int first = kNobody, there = kNobody;
    for (std::size_t k = 0; b.parent != kNever && k < bars_.size(); ++k) {
      if (bars_[k].fragment != b.parent) continue;
      if (first == kNobody) first = static_cast<int>(k);
      if (bars_[k].rank == born_on) there = static_cast<int>(k);
    }
    c.by = there == kNobody ? first : there;
    if (c.by != kNobody) {
      c.at = c.made = std::min(m == nullptr ? b.start : arrived, bar(c.by).end);
      c.on = bar(c.by).rank;
      c.maker = c.by;
    }
    const auto input = [&](Time fragment, Time since, Time until) {
      const int by = last_of(fragment);
      if (by == kNobody) return Could{};
      const Time at = std::min(until, std::max(bar(by).end, since));
      return Could{at, std::min(bar(by).end, at), "input", bar(by).rank, by, by};
    };
    std::vector<const Row*> own;
    for (const Row& in : inputs_) {
      if (number(in, "fragment") == b.fragment && number(in, "rank") == b.rank) own.push_back(&in);
    }
    const auto came_here = [&](const Row& in) {
      return number(in, "arrived_ns") != kNever && (m == nullptr || number(in, "arrived_ns") > arrived);
    };
    // Where a balancer found it.
    const int born = c.by;
    if (moved) {
      for (const Row* in : own) {
        if (came_here(*in)) continue;
        if (const Could x = input(number(*in, "made_by"), kNever, arrived); x.at > c.at) c = x;
      }
      const Time last = number(*m, "last_input");
      for (const Row* in : own) {
        if (last == kNever || number(*in, "input") != last) continue;
        Could x = input(number(*in, "made_by"), number(*m, "since_ns"), arrived);
        lay_until_asked(x, number(*m, "asked_ns"), number(*m, "asked_by"), b.fragment, born_on, born);
        if (x.at > c.at) c = x;
        break;
      }
      Time lay = std::max(c.at, std::min(arrived, number(*m, "since_ns")));
      if (const Row* before = came(b.fragment, number(*m, "from"), arrived))
        lay = std::max(lay, number(*before, "at_ns"));
      c = {arrived, lay, "moved", number(*m, "from"), c.by, c.by};
    } else if (m != nullptr) {
      c.at = std::max(c.at, arrived);
    }
    // Where it ran.
    const int held = c.by;
    for (const Row* in : own) {
      if (moved && !came_here(*in)) continue;
      Could x = input(number(*in, "made_by"), came_here(*in) ? number(*in, "arrived_ns") : kNever, b.start);
      if (came_here(*in) && x.by != kNobody) {
        Time asked = number(*in, "asked_ns");
        const Time by = asked == kNever ? kNever : number(*in, "asked_by");
        if (asked == kNever && moved) asked = arrived;
        lay_until_asked(x, asked, by, b.fragment, b.rank, held);
      }
      if (x.at > c.at) c = x;
    }
    if (c.by != kNobody || from_ == 0) return c;
    if (c.why == "moved") {
      c.made = c.at;
      return c;
    }
    return {b.start, b.start, "unknown", -1, kNobody, kNobody};
  }
  void lay_until_asked(Could& x, Time asked, Time by, Time reader, Time rank, int held) const {
    asked = std::min(asked, x.at);
    if (x.by == kNobody || asked <= x.made) return;
    x.made = asked;
    x.by = by == kNever ? held : who_asked(by, reader, rank, asked, held);
  }
  // The bar of that fragment on the reader's rank that ran then, else what made the fragment before it came there.
  int who_asked(Time fragment, Time reader, Time rank, Time asked, int held) const {
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      if (bars_[i].fragment == fragment && bars_[i].rank == rank && bars_[i].start <= asked && asked <= bars_[i].end)
        return static_cast<int>(i);
    }
    const Row* way = came(fragment, rank, asked);
    if (fragment == reader || way == nullptr) return held;
    Time parent = kNever;
    for (const Ran& r : bars_) {
      if (r.fragment == fragment) parent = r.parent;
    }
    int found = kNobody;
    for (std::size_t k = 0; parent != kNever && k < bars_.size(); ++k) {
      if (bars_[k].fragment == parent && (found == kNobody || bars_[k].rank == number(*way, "from")))
        found = static_cast<int>(k);
    }
    return found;
  }

  // A kernel's fragment lies ready on another rank for 0.1 ms or longer.
  bool elsewhere(Time rank, Time x) const {
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      if (!bars_[i].kernel) continue;
      const Could& c = could_[i];
      const auto lies = [&](Time on, Time from, Time to) {
        return on != rank && to - from >= 100'000 && from <= x && x < to;
      };
      if (lies(bars_[i].rank, c.at, bars_[i].start)) return true;
      if (c.why == "moved" && lies(c.on, c.made, c.at)) return true;
    }
    return false;
  }
  // What a worker does at that time, with the bar that is about.
  std::pair<std::string, int> doing(Time rank, Time worker, Time x) const {
    int inner = kNobody, next = kNobody;
    Time free = from_;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      const Ran& b = bars_[i];
      if (b.rank != rank || b.worker != worker) continue;
      if (b.start <= x && x < b.end) inner = static_cast<int>(i);
      if (b.start <= x) free = std::max(free, b.end);
      if (b.start > x && next == kNobody) next = static_cast<int>(i);
    }
    if (inner != kNobody) return {bar(inner).kernel ? "kernels" : "making fragments", inner};
    const bool lay = elsewhere(rank, x);
    if (next == kNobody)
      return {lay ? "idle: work was ready on another rank" : "idle: nothing was ready anywhere", next};
    const Could& c = could_[static_cast<std::size_t>(next)];
    const char* late = "idle: the balancer moved work there late";
    if (bar(next).start - free < 2'000 || x >= c.at) return {"overhead", next};
    if (lay) return {c.why == "moved" ? late : "idle: work was ready on another rank", next};
    const bool made_elsewhere = c.why == "input" && c.on != rank && c.by == c.maker;
    if (x < c.made && made_elsewhere) {
      const Could& maker = could_[static_cast<std::size_t>(c.by)];
      if (maker.why == "input" && maker.made <= x && x < maker.at) return {"idle: a transfer was under way", next};
    }
    if (x < c.made)
      return {made_elsewhere ? "idle: a value was being made on another rank" : "idle: nothing was ready anywhere",
              next};
    return {c.why == "moved" ? late : "idle: a transfer was under way", next};
  }
  std::string lane(Time rank, Time worker) {
    // It does one thing between two of these.
    std::set<Time> changes{from_, finished_};
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      for (const Time t : {bars_[i].start, bars_[i].end, could_[i].at, could_[i].made}) {
        if (t > from_ && t < finished_) changes.insert(t);
      }
    }
    std::vector<Piece>& pieces = lanes_[{rank, worker}];
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
      const auto [what, about] = doing(rank, worker, *at);
      if (!pieces.empty() && pieces.back().what == what && pieces.back().bar == about) {
        pieces.back().end = *std::next(at);
      } else {
        pieces.push_back({*at, *std::next(at), what, about});
      }
    }
    std::size_t k = 0;
    for (const Row& w : workers_) {
      if (number(w, "rank") != rank || number(w, "worker") != worker) continue;
      const std::string told =
          fmt::format("{} to {} {} ({})", w.at("start_ns"), w.at("end_ns"), w.at("doing"), w.at("fragment"));
      const Piece p = k < pieces.size() ? pieces[k++] : Piece{0, 0, "nothing", kNobody};
      const std::string mine = fmt::format("{} to {} {} ({})", p.start, p.end, p.what,
                                           p.bar == kNobody ? "" : std::to_string(bar(p.bar).fragment));
      if (mine != told) return fmt::format("worker {} of rank {}: {}, told {}\n", worker, rank, mine, told);
    }
    return k == pieces.size() ? "" : fmt::format("worker {} of rank {} is told only in part\n", worker, rank);
  }

  // Back from the end: before a fragment stands what it had to wait for.
  std::string path() {
    std::vector<Piece> steps;
    Time now = finished_;
    const auto to = [&](Time at, const std::string& what, int about) {
      at = std::max(at, from_);
      if (at < now) steps.push_back({at, now, what, about}), now = at;
    };
    const auto running = [](const Piece& p) { return p.what == "kernels" || p.what == "making fragments"; };
    const std::vector<Piece>* lane = nullptr;
    int k = kNobody;
    // The last that ran on that worker and began before then.
    const auto before = [&](const std::vector<Piece>& pieces, Time then) {
      int found = kNobody;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (running(pieces[i]) && pieces[i].start < then) found = static_cast<int>(i);
      }
      return found;
    };
    const auto piece = [&] { return (*lane)[static_cast<std::size_t>(k)]; };
    Time end = kNever;
    for (const auto& [who, pieces] : lanes_) {
      const int last = before(pieces, finished_);
      if (last == kNobody || pieces[static_cast<std::size_t>(last)].end <= end) continue;
      lane = &pieces, k = last, end = piece().end;
    }
    if (lane != nullptr) to(end, "overhead", kNobody);
    while (lane != nullptr && k != kNobody && now > from_) {
      const Piece p = piece();
      to(p.start, p.what, p.bar);
      const Could& c = could_[static_cast<std::size_t>(p.bar)];
      const int was = before(*lane, p.start);
      const Time free = was == kNobody ? 0 : (*lane)[static_cast<std::size_t>(was)].end;
      if (bar(p.bar).start != p.start || c.by == kNobody || free >= c.at) {
        to(free, "overhead", p.bar);
        k = was;
        continue;
      }
      to(c.at, "overhead", p.bar);
      if (c.why == "moved") {
        to(std::max(free, c.made), "waits for a move", p.bar);
        if (free >= c.made) {
          k = was;
          continue;
        }
      } else {
        to(c.made, "transfer", p.bar);
      }
      to(bar(c.by).end, "transfer", p.bar);
      lane = &lanes_.at({bar(c.by).rank, bar(c.by).worker});
      k = before(*lane, now);
      if (k != kNobody) to(piece().end, "overhead", p.bar);
    }
    to(from_, "overhead", kNobody);
    if (steps.size() != path_.size()) return fmt::format("the path has {} steps, told {}", steps.size(), path_.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Piece& s = steps[steps.size() - 1 - i];
      const Row& t = path_[i];
      const std::string told =
          fmt::format("{} to {} {} ({})", t.at("start_ns"), t.at("end_ns"), t.at("what"), t.at("fragment"));
      const std::string mine = fmt::format("{} to {} {} ({})", s.start, s.end, s.what,
                                           s.bar == kNobody ? "" : std::to_string(bar(s.bar).fragment));
      if (mine != told) return fmt::format("the path: {}, told {}", mine, told);
    }
    return "";
  }

  std::vector<Row> fragments_, inputs_, moves_, workers_, path_;
  std::vector<Ran> bars_;
  std::vector<Could> could_;
  Time from_ = 0, finished_ = 0;
  std::map<std::pair<Time, Time>, std::vector<Piece>> lanes_;
};

}  // namespace

std::string recount(const Tables& tables) { return Recount(tables).difference(); }

std::string moved_too_early(const Tables& tables) {
  const std::vector<Row> bars = rows_of(tables.at("fragments.csv")), inputs = rows_of(tables.at("inputs.csv"));
  std::map<Time, std::vector<const Row*>> ran, reads;
  for (const Row& b : bars) ran[number(b, "fragment")].push_back(&b);
  for (const Row& in : inputs) reads[number(in, "fragment")].push_back(&in);
  for (const Row& m : rows_of(tables.at("moves.csv"))) {
    const auto there = ran.find(number(m, "fragment"));
    if (m.at("by") != "balancer" || there == ran.end() || there->second.front()->at("kind") != "kernel") continue;
    Time least = kNever;
    for (const Row* in : reads[number(m, "fragment")]) {
      const auto maker = ran.find(number(*in, "made_by"));
      if (maker == ran.end() || maker->second.size() != 1 || maker->second.front()->at("rank") != m.at("from"))
        continue;
      const Row& b = *maker->second.front();
      least = std::max(least, std::min(number(m, "at_ns"), number(b, "start_ns") + number(b, "length_ns")));
    }
    if (number(m, "since_ns") < least || number(m, "since_ns") > number(m, "at_ns"))
      return fmt::format("fragment {} moved at {}: its inputs were there since {}, told {}", m.at("fragment"),
                         m.at("at_ns"), least, m.at("since_ns"));
  }
  return "";
}

}  // namespace tessera::tests
