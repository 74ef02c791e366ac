// Chrome's JSON: an array of events, times in microseconds.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/export/export.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::index;
using ChromeJson = nlohmann::ordered_json;

class Chrome {
 public:
  Chrome(const RunRecord& r, std::ostream& out) : r_(r), t_(r.times()), out_(out) {}

  void write() {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
    for (std::size_t k = 0; k < t_.ranks.size(); ++k) {
      put({{"name", "process_name"}, {"ph", "M"}, {"pid", k}, {"args", {{"name", fmt::format("rank {}", k)}}}});
      for (std::int32_t w = 0; w < t_.ranks[k].workers; ++w) {
        put({{"name", "thread_name"},
             {"ph", "M"},
             {"pid", k},
             {"tid", w},
             {"args", {{"name", fmt::format("worker {}", w)}}}});
      }
    }
    std::size_t bar = 0;
    for (const Lane& lane : r_.lanes) {
      bar = walk_lane(
          r_, lane, bar, [](std::size_t) {}, [&](std::size_t i, Time end) { ran(i, end); },
          [&](const Segment& s) {
            put({{"name", name_of(s.doing)},
                 {"cat", s.doing == Doing::overhead ? "overhead" : "idle"},
                 {"ph", "X"},
                 {"ts", us(s.start)},
                 {"dur", us(s.end - s.start)},
                 {"pid", lane.rank},
                 {"tid", lane.worker},
                 {"args", why_idle(s)}});
          });
    }
    std::size_t id = 0;
    for (const Flow& f : flows(r_)) {
      flow(f.from, "s", ++id);
      flow(f.to, "f", id);
    }
    for (const sim::Memory& m : t_.memory) {
      put({{"name", "memory"},
           {"ph", "C"},
           {"ts", us(m.at)},
           {"pid", index(m.rank)},
           {"args", {{"process", m.process}, {"data", m.data}}}});
    }
    for (const sim::Decided& d : t_.decisions) {
      ChromeJson args{
          {"from", index(d.from)}, {"to", index(d.to)}, {"load_from_ns", d.load_from}, {"load_to_ns", d.load_to}};
      for (const auto& g : d.fragments) args[group_name(r_.trace.work.groups[index(g.group)].label)] = g.count;
      put({{"name", d.why},
           {"cat", "decision"},
           {"ph", "i"},
           {"s", "p"},
           {"ts", us(d.at)},
           {"pid", index(d.rank)},
           {"tid", 0},
           {"args", std::move(args)}});
    }
    out_ << "\n]}\n";
  }

 private:
  static double us(Time t) { return static_cast<double>(t) / 1000; }
  void put(const ChromeJson& j) {
    if (!first_) out_ << ",\n";
    first_ = false;
    out_ << j.dump(-1, ' ', false, ChromeJson::error_handler_t::replace);
  }
  ChromeJson why_idle(const Segment& s) const {
    ChromeJson j = ChromeJson::object();
    const Cause cause = cause_of(r_, s);
    if (cause.rank >= 0) j["rank"] = cause.rank;
    if (cause.bar != kNobody) j["for"] = bar_name(r_, cause.bar);
    return j;
  }
  void ran(std::size_t i, Time end) {
    const sim::Bar& b = t_.bars[i];
    ChromeJson args{{"fragment", b.fragment}, {"at", fmt::format("{}:{}", r_.block_of(b).file, r_.block_of(b).line)}};
    if (r_.is_kernel(i)) args["reads"] = bar_slots(r_, i, false), args["assigns"] = bar_slots(r_, i, true);
    put({{"name", bar_name(r_, i)},
         {"cat", r_.is_kernel(i) ? "kernel" : "making"},
         {"ph", "X"},
         {"ts", us(b.start)},
         {"dur", us(end - b.start)},
         {"pid", b.rank},
         {"tid", b.worker},
         {"args", std::move(args)}});
  }
  void flow(std::size_t i, const char* phase, std::size_t id) {
    const sim::Bar& b = t_.bars[i];
    put({{"name", "value"},
         {"cat", "value"},
         {"ph", phase},
         {"bp", "e"},
         {"id", id},
         {"ts", us(b.start)},
         {"pid", b.rank},
         {"tid", b.worker}});
  }

  const RunRecord& r_;
  const sim::Times& t_;
  std::ostream& out_;
  bool first_ = true;
};

}  // namespace

void write_chrome(const RunRecord& r, std::ostream& out) { Chrome(r, out).write(); }

}  // namespace tessera::cli
