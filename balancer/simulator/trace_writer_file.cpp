// Writing traces.
#include <algorithm>
#include <charconv>
#include <ostream>

#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/trace_lines.hpp"
#include "files/whole_file.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

void write_groups(std::ostream& out, const Workload& w) {
  for (std::size_t g = 0; g < w.groups.size(); ++g) {
    out << "group " << g;
    if (w.groups[g].stealable) out << " stealable";
    if (w.groups[g].range) out << " range";
    if (w.groups[g].bulk) out << " bulk";
    const Group self{static_cast<std::uint32_t>(g)};
    if (std::find(w.stacks.begin(), w.stacks.end(), self) != w.stacks.end()) out << " stack";
    for (const Group b : w.groups[g].body) out << " body=" << index(b);
    out << " : " << w.groups[g].label << '\n';
  }
}

void write_fragments(std::ostream& out, const Workload& w) {
  std::vector<std::size_t> parent(w.fragments.size(), kNobody);
  for (std::size_t f = 0; f < w.fragments.size(); ++f) {
    for (const std::size_t c : w.fragments[f].children) parent[c] = f;
  }
  std::vector<Rank> born(w.fragments.size(), Rank{-1});
  for (const Birth& b : w.births) born[b.fragment] = b.rank;
  std::string line;
  const auto add = [&](auto n) {
    char digits[24];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
  };
  const auto add_or_none = [&](bool known, auto n) {
    line += ' ';
    if (known) {
      add(n);
    } else {
      line += '-';
    }
  };
  for (std::size_t i = 0; i < w.fragments.size(); ++i) {
    const Fragment& f = w.fragments[i];
    const Rank rank = parent[i] == kNobody ? born[i] : f.home;
    line = "f ";
    add(i);
    line += ' ';
    add(index(f.group));
    add_or_none(index(rank) >= 0, index(rank));
    add_or_none(parent[i] != kNobody, parent[i]);
    line += ' ';
    add(f.weight);
    line += ' ';
    add(f.output);
    if (f.bytes > 0) {
      line += " -:";
      add(f.bytes);
    }
    for (const Input& input : f.inputs) {
      line += ' ';
      add(input.fragment);
      line += ':';
      add(input.bytes);
    }
    if (f.series > 0) {
      line += " series=";
      add(f.series);
    }
    line += '\n';
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
  }
}

}  // namespace

void write_trace(const std::string& path, const Trace& trace) {
  const std::string wrong = files::write_whole(path, [&](std::ostream& out) {
    out << "tessera-trace " << kTraceVersion << '\n'
        << "program " << (trace.hash.empty() ? "-" : trace.hash) << ' ' << trace.program << '\n';
    write_groups(out, trace.work);
    out << "# f ID GROUP RANK PARENT WEIGHT_NS OUTPUT_BYTES [INPUT:BYTES ...] [series=N]\n";
    write_fragments(out, trace.work);
    if (trace.times.finished > 0) write_times(out, trace.times);
    out << "end " << trace.work.fragments.size() << '\n';
  });
  if (!wrong.empty()) throw TraceError("trace " + path + " cannot be written: " + wrong);
}

}  // namespace tessera::balancer::simulator
