// What `tessera export` writes of a recorded run, for other programs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "cli/report/run_record.hpp"

namespace tessera::cli {

// The protobuf that Perfetto's UI and trace processor read: TrackEvents.
void write_perfetto(const RunRecord&, std::ostream&);
// JSON of chrome://tracing, which many viewers read.
void write_chrome(const RunRecord&, std::ostream&);
// The graph of the kernels' fragments, for Graphviz. A usage error when nobody could look at so many.
void write_dot(const RunRecord&, std::ostream&);
// Tables. CsvFile names one of them, and writes it.
struct CsvFile {
  const char* name;
  void (*write)(const RunRecord&, std::ostream&);
};
const std::vector<CsvFile>& csv_files();

// How people name what ran: `multiply`; `i=2`; `C[2][3]` of what it assigns or reads.
std::string group_name(const std::string& label);
std::string bar_name(const RunRecord&, std::size_t bar);
std::vector<std::string> bar_variables(const RunRecord&, std::size_t bar);
std::vector<std::string> bar_slots(const RunRecord&, std::size_t bar, bool output);

// A value that came by a message, from the bar that made it to one that read it.
struct Flow {
  std::size_t from, to;
};
std::vector<Flow> flows(const RunRecord&);

// Calls begin(bar), end(bar, when) and other(segment) of a worker in the order of time; what is inside another bar ends
// no later than that. `first` is the worker's first bar; returns the one after its last.
template <class Begin, class End, class Other>
std::size_t walk_lane(const RunRecord& r, const Lane& lane, std::size_t first, Begin begin, End end, Other other) {
  const auto& bars = r.times().bars;
  std::vector<std::pair<std::size_t, Time>> open;
  std::size_t segment = 0;
  const auto until = [&](Time at) {
    while (!open.empty() && open.back().second <= at) {
      end(open.back().first, open.back().second);
      open.pop_back();
    }
    for (; segment < lane.segments.size() && lane.segments[segment].start < at; ++segment) {
      const Segment& s = lane.segments[segment];
      if (s.doing != Doing::kernel && s.doing != Doing::making) other(s);
    }
  };
  std::size_t i = first;
  for (; i < bars.size() && bars[i].rank == lane.rank && bars[i].worker == lane.worker; ++i) {
    until(bars[i].start);
    begin(i);
    open.emplace_back(i, open.empty() ? r.end_of(i) : std::min(r.end_of(i), open.back().second));
  }
  until(r.finished() + 1);
  return i;
}

}  // namespace tessera::cli
