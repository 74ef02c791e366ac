// Tables, for pandas, R and spreadsheets (RFC 4180), and the graph for Graphviz.
#include <fmt/format.h>

#include <map>
#include <ostream>

#include "cli/export/export.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::index;

constexpr std::size_t kMostNodes = 2000;

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? "\"\"" : std::string(1, c);
  return all + "\"";
}
std::string csv_list(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& s : all) text += (text.empty() ? "" : " ") + s;
  return csv_cell(text);
}

// Of the fragment that ran then; empty: of none.
std::string bar_number(const RunRecord& r, std::size_t bar) {
  return bar == kNobody ? "" : std::to_string(r.times().bars[bar].fragment);
}

const char* why_text(Ready::Why why) {
  switch (why) {
    case Ready::Why::created:
      return "created";
    case Ready::Why::input:
      return "input";
    case Ready::Why::moved:
      return "moved";
    case Ready::Why::unknown:
      return "unknown";
  }
  return "?";
}

void write_fragments(const RunRecord& r, std::ostream& out) {
  out << "fragment,kind,group,file,line,rank,worker,start_ns,length_ns,own_ns,ready_ns,ready_because,made_ns,made_on,"
         "made_by,parent,output_bytes,variables,reads,assigns\n";
  std::vector<std::size_t> parent(r.trace.work.fragments.size(), kNobody);
  for (std::size_t f = 0; f < parent.size(); ++f) {
    for (const std::size_t c : r.trace.work.fragments[f].children) parent[c] = f;
  }
  for (std::size_t i = 0; i < r.times().bars.size(); ++i) {
    const sim::Bar& b = r.times().bars[i];
    const sim::BlockText& block = r.block_of(b);
    const Ready& ready = r.ready[i];
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", b.fragment,
                       r.is_kernel(i) ? "kernel" : "making",
                       csv_cell(group_name(r.trace.work.groups[block.group].label)), csv_cell(block.file), block.line,
                       b.rank, b.worker, b.start, b.length, r.own[i], ready.at, why_text(ready.why), ready.made,
                       ready.from, bar_number(r, ready.by),
                       parent[b.fragment] == kNobody ? "" : std::to_string(parent[b.fragment]),
                       r.trace.work.fragments[b.fragment].output, csv_list(bar_variables(r, i)),
                       csv_list(bar_slots(r, i, false)), csv_list(bar_slots(r, i, true)));
  }
}

void write_inputs(const RunRecord& r, std::ostream& out) {
  out << "fragment,rank,input,made_by,bytes,arrived_ns,asked_ns,asked_by\n";
  for (const sim::Bar& b : r.times().bars) {
    const auto& inputs = r.trace.work.fragments[b.fragment].inputs;
    std::map<std::uint32_t, sim::Arrival> came;
    for (const sim::Arrival& a : r.times().arrivals_of(b)) came[a.input] = a;
    for (std::uint32_t k = 0; k < inputs.size(); ++k) {
      const auto at = came.find(k);
      const bool asked = at != came.end() && at->second.asked >= 0;
      const bool by = asked && at->second.by != sim::Arrival::kNobody;
      out << fmt::format("{},{},{},{},{},{},{},{}\n", b.fragment, b.rank, k, inputs[k].fragment, inputs[k].bytes,
                         at == came.end() ? "" : std::to_string(at->second.at),
                         asked ? std::to_string(at->second.asked) : "", by ? std::to_string(at->second.by) : "");
    }
  }
  // What stands for the end of others ran nowhere.
  for (std::size_t f = 0; f < r.bars_of.size(); ++f) {
    const auto& inputs = r.trace.work.fragments[f].inputs;
    for (std::size_t k = 0; r.bars_of[f].empty() && k < inputs.size(); ++k) {
      out << fmt::format("{},,{},{},{},,,\n", f, k, inputs[k].fragment, inputs[k].bytes);
    }
  }
}

void write_workers(const RunRecord& r, std::ostream& out) {
  out << "rank,worker,start_ns,end_ns,doing,fragment,for_rank,for_fragment\n";
  for (const Lane& l : r.lanes) {
    for (const Segment& s : l.segments) {
      const Cause cause = cause_of(r, s);
      out << fmt::format("{},{},{},{},{},{},{},{}\n", l.rank, l.worker, s.start, s.end, name_of(s.doing),
                         bar_number(r, s.bar), cause.rank < 0 ? "" : std::to_string(cause.rank),
                         bar_number(r, cause.bar));
    }
  }
}

const char* step_text(const RunRecord& r, const Step& s) {
  switch (s.kind) {
    case Step::Kind::run:
      return name_of(r.is_kernel(s.bar) ? Doing::kernel : Doing::making);
    case Step::Kind::overhead:
      return "overhead";
    case Step::Kind::transfer:
      return "transfer";
    case Step::Kind::move:
      return "waits for a move";
  }
  return "?";
}

// The critical path, from the start on.
void write_path(const RunRecord& r, std::ostream& out) {
  out << "start_ns,end_ns,what,fragment,rank,worker\n";
  for (auto s = r.path.rbegin(); s != r.path.rend(); ++s) {
    out << fmt::format("{},{},{},{},", s->start, s->end, step_text(r, *s), bar_number(r, s->bar));
    if (s->bar == kNobody) {
      out << ",\n";
    } else {
      out << fmt::format("{},{}\n", r.times().bars[s->bar].rank, r.times().bars[s->bar].worker);
    }
  }
}

void write_messages(const RunRecord& r, std::ostream& out) {
  out << "at_ns,from,to,message,bytes,fragments\n";
  for (const sim::Sent& m : r.times().messages) {
    out << fmt::format("{},{},{},{},{},{}\n", m.at, index(m.from), index(m.to), csv_cell(m.kind), m.bytes, m.fragments);
  }
}

void write_moves(const RunRecord& r, std::ostream& out) {
  out << "at_ns,fragment,from,to,by,since_ns,last_input,asked_ns,asked_by\n";
  for (const sim::Moved& m : r.times().moves) {
    out << fmt::format("{},{},{},{},{},{},{},{},{}\n", m.at, m.fragment, index(m.from), index(m.to),
                       m.by_policy ? "balancer" : "locator", m.since < 0 ? "" : std::to_string(m.since),
                       m.last < 0 ? "" : std::to_string(m.last), m.asked < 0 ? "" : std::to_string(m.asked),
                       m.asked_by == sim::Arrival::kNobody ? "" : std::to_string(m.asked_by));
  }
}

void write_decisions(const RunRecord& r, std::ostream& out) {
  out << "at_ns,rank,from,to,load_from_ns,load_to_ns,fragments,why\n";
  for (const sim::Decided& d : r.times().decisions) {
    std::vector<std::string> what;
    for (const auto& g : d.fragments) {
      what.push_back(fmt::format("{}:{}", group_name(r.trace.work.groups[index(g.group)].label), g.count));
    }
    out << fmt::format("{},{},{},{},{},{},{},{}\n", d.at, index(d.rank), index(d.from), index(d.to), d.load_from,
                       d.load_to, csv_list(what), csv_cell(d.why));
  }
}

void write_memory(const RunRecord& r, std::ostream& out) {
  out << "at_ns,rank,process_bytes,data_bytes\n";
  for (const sim::Memory& m : r.times().memory) {
    out << fmt::format("{},{},{},{}\n", m.at, index(m.rank), m.process, m.data);
  }
}

std::string dot_text(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return all + "\"";
}

}  // namespace

const std::vector<CsvFile>& csv_files() {
  static const std::vector<CsvFile> all = {{"fragments.csv", write_fragments}, {"inputs.csv", write_inputs},
                                           {"workers.csv", write_workers},     {"path.csv", write_path},
                                           {"messages.csv", write_messages},   {"moves.csv", write_moves},
                                           {"decisions.csv", write_decisions}, {"memory.csv", write_memory}};
  return all;
}

void write_dot(const RunRecord& r, std::ostream& out) {
  static constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                             "#56b4e9", "#d55e00", "#f0e442"};
  const auto& fragments = r.trace.work.fragments;
  // Kernels, and what stands for the end of others.
  std::vector<bool> shown(fragments.size());
  std::size_t count = 0;
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    shown[f] = r.bars_of[f].empty() || r.is_kernel(r.bars_of[f].front());
    count += shown[f] ? 1 : 0;
  }
  if (count > kMostNodes) {
    throw usage_error(fmt::format(
        "{}: a drawing of {} fragments shows nobody anything (more than {}): take a part of the run (--from, "
        "--to), or `tessera report`",
        r.name, count, kMostNodes));
  }
  out << "digraph run {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n";
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    if (!shown[f]) continue;
    if (r.bars_of[f].empty()) {
      out << fmt::format("  f{} [shape=point];\n", f);
      continue;
    }
    const std::size_t bar = r.bars_of[f].front();
    const sim::Bar& b = r.times().bars[bar];
    const char* colour = kColours[r.block_of(b).group % std::size(kColours)];
    out << fmt::format(
        "  f{} [label={}, fillcolor=\"{}55\", color=\"{}\"];\n", f,
        dot_text(fmt::format("{}\nrank {}, {:.1f} us", bar_name(r, bar), b.rank, static_cast<double>(b.length) / 1000)),
        colour, colour);
  }
  for (std::size_t f = 0; f < fragments.size(); ++f) {
    if (!shown[f]) continue;
    for (const sim::Input& i : fragments[f].inputs) {
      if (shown[i.fragment]) out << fmt::format("  f{} -> f{};\n", i.fragment, f);
    }
  }
  out << "}\n";
}

}  // namespace tessera::cli
