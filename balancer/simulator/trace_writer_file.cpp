// Writing traces.
#include <algorithm>
#include <charconv>
#include <ostream>

#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/trace_lines.hpp"
#include "files/whole_file.hpp"

namespace tessera::balancer::simulator {
namespace {

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

// One line after the other.
class FragmentLines {
 public:
  explicit FragmentLines(std::ostream& out) : out_(out) {}
  void put(const Fragment& f, std::size_t parent, Rank born) {
    const bool made = parent != TracePieces::kNoParent;
    const Rank rank = made ? f.home : born;
    line_ = "f ";
    add(count_++);
    line_ += ' ';
    add(index(f.group));
    add_or_none(index(rank) >= 0, index(rank));
    add_or_none(made, parent);
    line_ += ' ';
    add(f.weight);
    line_ += ' ';
    add(f.output);
    if (f.bytes > 0) {
      line_ += " -:";
      add(f.bytes);
    }
    for (const Input& input : f.inputs) {
      line_ += ' ';
      add(input.fragment);
      line_ += ':';
      add(input.bytes);
    }
    if (f.series > 0) {
      line_ += " series=";
      add(f.series);
    }
    line_ += '\n';
    out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
  }
  std::size_t count() const { return count_; }

 private:
  template <class Number>
  void add(Number n) {
    char digits[24];
    line_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
  }
  template <class Number>
  void add_or_none(bool known, Number n) {
    line_ += ' ';
    if (known) {
      add(n);
    } else {
      line_ += '-';
    }
  }
  std::ostream& out_;
  std::string line_;
  std::size_t count_ = 0;
};

void put_fragments(const Workload& w, const TracePieces::PutFragment& put) {
  std::vector<std::size_t> parent(w.fragments.size(), TracePieces::kNoParent);
  for (std::size_t f = 0; f < w.fragments.size(); ++f) {
    for (const std::size_t c : w.fragments[f].children) parent[c] = f;
  }
  std::vector<Rank> born(w.fragments.size(), Rank{-1});
  for (const Birth& b : w.births) born[b.fragment] = b.rank;
  for (std::size_t i = 0; i < w.fragments.size(); ++i) put(w.fragments[i], parent[i], born[i]);
}

// Passes on what is written, and adds it up.
class Summed final : public std::streambuf {
 public:
  explicit Summed(std::streambuf& to) : to_(to) {}
  std::string sum() const { return sum_.text(); }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize n) override {
    sum_.add({bytes, static_cast<std::size_t>(n)});
    return to_.sputn(bytes, n);
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    sum_.add({&byte, 1});
    return to_.sputc(byte);
  }
  std::streambuf& to_;
  TraceSum sum_;
};

}  // namespace

void write_trace(const std::string& path, const Trace& about, const TracePieces& pieces) {
  const std::string wrong = files::write_whole(path, [&](std::ostream& file) {
    Summed summed(*file.rdbuf());
    std::ostream out(&summed);
    out << "tessera-trace " << kTraceVersion << '\n'
        << "program " << (about.hash.empty() ? "-" : about.hash) << ' ' << about.program << '\n';
    write_groups(out, about.work);
    out << "# f ID GROUP RANK PARENT WEIGHT_NS OUTPUT_BYTES [INPUT:BYTES ...] [series=N]\n";
    FragmentLines lines(out);
    pieces.fragments([&](const Fragment& f, std::size_t parent, Rank born) { lines.put(f, parent, born); });
    if (about.times.finished > 0) write_times(out, about.times, pieces);
    file << "end " << lines.count() << ' ' << summed.sum() << '\n';
    if (!out) file.setstate(std::ios::failbit);
  });
  if (!wrong.empty()) throw TraceError("trace " + path + " cannot be written: " + wrong);
}

void write_trace(const std::string& path, const Trace& trace) {
  const Times& t = trace.times;
  write_trace(path, trace,
              {.fragments = [&](const TracePieces::PutFragment& put) { put_fragments(trace.work, put); },
               .bars =
                   [&](const TracePieces::PutBar& put) {
                     for (const Bar& b : t.bars) put(b, t.numbers_of(b), t.arrivals_of(b));
                   }});
}

}  // namespace tessera::balancer::simulator
