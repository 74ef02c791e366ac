#include "runtime/journal/known.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "runtime/journal/folder.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime::journal {
namespace {

bool is_number(abi::Type t) { return t != abi::Type::string && t != abi::Type::bytes; }

}  // namespace

// Finds out what is recalled. What is in a whole sweep is. Of the others it begins with all fragments that have a
// record, and takes out those of whose outputs one is neither there nor unneeded. What such a one reads is needed.
class Loading {
 public:
  explicit Loading(Known& known) : known_(known) {}

  // Of the runs before that of this header nothing has been lost since it began. Else there may be fragments that it
  // did not run, since they were recalled, and that are not any more: then what nobody needed in it may be needed.
  bool is_based(const Header& header) {
    const auto [at, first] = read_before_.try_emplace(header.attempt, known_.read_digest);
    return header.based == at->second;
  }

  void read(const std::filesystem::path& file, const Header& header, std::uint64_t blocks) {
    const bool based = is_based(header);
    const auto number = static_cast<std::uint32_t>(known_.files_.size());
    const bool trusted = header.blocks == blocks;
    Stream& stream = streams_[{header.attempt, header.rank}];
    sweep_.clear();
    Header again;
    Sink sink;
    sink.done = [&](const Done& d) { add(d, trusted); };
    sink.value = [&](const ValueOf& v) {
      const auto [k, fresh] = values_.put(v.id);
      if (fresh) places_.push_back({number, v.type, v.at, v.bytes.size(), small_of(v)});
      sweep_.values.push_back({k, v.maker});
    };
    sink.taken_back = [&](const TakenBack& t) {
      if (taken_back_.put(abi::mix(t.key, t.id.lo ^ t.id.hi)).second) --name(t.id).unread;
    };
    sink.gone = [&](const Gone& g) { sweep_.gone.push_back(g.id); };
    sink.ran = [&](const Ran& r) { sweep_.ran.insert(sweep_.ran.end(), r.keys.begin(), r.keys.end()); };
    sink.range = [&](const Range& r) { sweep_.ranges.push_back(r); };
    sink.text = [&](const Text& t) { known_.printed.add(t.stream, t.from, t.text); };
    sink.has_text = [&](const NeedsText& n) {
      if (known_.printed.covers(n.stream, n.upto)) return true;
      // Who goes on from here has not relied on it.
      known_.read_digest = abi::fold(known_.read_digest + 1, 0xD6E8FEB86659FD93u);
      return sweep_.has_text = false;
    };
    sink.learned = [&](const Learned& groups) { learned_[{header.attempt, header.rank}] = groups; };
    sink.places = [&](const SeriesPlaces& p) {
      if (p.series.size() == p.lives.size()) known_.places[{p.ranks, p.rank}] = p;
    };
    sink.links = [&](const HostLinks& links) {
      for (const HostLink& l : links) known_.links[{l.from, l.to}] = l;
    };
    sink.begins = [&](std::uint64_t) {
      add_batch();
      sweep_.clear();
    };
    sink.whole = [&](std::uint64_t sweep) {
      add_batch();
      if (trusted && based && sweep_.has_text) take(sweep, header, stream);
      sweep_.clear();
    };
    const Found found = for_each_record(file, again, sink);
    known_.damaged += found.damaged;
    known_.read_digest = abi::fold(known_.read_digest ^ found.digest, 0xD6E8FEB86659FD93u);
    add_batch();
    known_.files_.push_back({file, open(file.c_str(), O_RDONLY | O_CLOEXEC)});
  }

  void finish() {
    known_.fragments = fragments_.size();
    recalled_.assign(fragments_.size(), true);
    for (std::uint32_t k = 0; k < values_.size(); ++k) {
      if (const std::uint32_t n = numbers_.find(values_[k]); n != Ids::kNone) names_[n].value = k;
    }
    for (std::uint32_t k = 0; k < fragments_.size(); ++k) look(k);
    while (!again_.empty()) {
      const std::uint32_t k = again_.back();
      again_.pop_back();
      look(k);
    }
    known_.recalls_.assign(fragments_.size(), Recall::no);
    for (std::uint32_t k = 0; k < fragments_.size(); ++k) {
      if (recalled_[k]) note_recalled(k);
    }
    for (const Given& g : given_) note_given(g);
    known_.skips_.finish();
    known_.fragments += known_.skips_.fragments();
    known_.recalled += known_.skips_.fragments();
    known_.in_sweep_ = std::move(in_sweep_);
    for (const auto& [run_and_rank, groups] : learned_) {
      for (const balancer::ProfileGroup& g : groups) learn(g);
    }
  }

 private:
  static constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
  struct Name {
    std::int64_t unread = kUnknown;    // uses that no recalled fragment makes, and that nobody took back
    std::uint32_t value = Ids::kNone;  // number of its place
    std::uint32_t maker = Ids::kNone;  // number of the fragment that assigns it
  };
  struct Fragment {
    std::size_t names;  // where in uses_: first what it reads, then what it assigns
    std::uint32_t reads, outputs;
  };
  struct Given {
    std::uint32_t value;
    Id maker;
  };
  // What was read of a sweep that may be whole.
  struct Sweep {
    std::vector<std::uint32_t> done;
    std::vector<Id> ran, gone;
    std::vector<Range> ranges;
    std::vector<Given> values;
    bool has_text = true;
    void clear() { done.clear(), ran.clear(), gone.clear(), ranges.clear(), values.clear(), has_text = true; }
  };
  // The sweeps of a rank in one run.
  struct Stream {
    std::uint64_t whole = 0;  // from the first to this one they are
    Ids values;               // that are in these
  };

  std::uint32_t number_of(const Id& id) {
    const auto [number, fresh] = numbers_.put(id);
    if (fresh) names_.emplace_back();
    return number;
  }
  Name& name(const Id& id) { return names_[number_of(id)]; }

  // Puts it off until its places in the tables have come from memory.
  void add(const Done& d, bool trusted) {
    known_.done_.prefetch(d.key);
    batch_.push_back({d.key, static_cast<std::uint32_t>(d.reads.size()), static_cast<std::uint32_t>(d.outputs.size())});
    for (const Id& id : d.reads) batch_ids_.push_back({id, -1});
    for (const Output& o : d.outputs) batch_ids_.push_back({o.id, trusted ? o.uses : -1});
    for (std::size_t k = batch_ids_.size() - d.reads.size() - d.outputs.size(); k < batch_ids_.size(); ++k)
      numbers_.prefetch(batch_ids_[k].id);
    if (batch_.size() == kBatch) add_batch();
  }

  void add_batch() {
    const Output* o = batch_ids_.data();
    for (const Batched& b : batch_) {
      const Output* const outputs = o + b.reads;
      const Output* const end = outputs + b.outputs;
      const auto [number, fresh] = put(b.key, b.reads, b.outputs);
      // Of one that was only said to have run more is known now.
      const bool first = fresh || (fragments_[number].reads + fragments_[number].outputs == 0 && o != end);
      if (first) fragments_[number] = {uses_.size(), b.reads, b.outputs};
      for (; first && o != outputs; ++o) --names_[use(o->id)].unread;
      for (; first && o != end; ++o) {
        Name& n = names_[use(o->id)];
        n.maker = number;
        if (o->uses >= 0) count_uses(n, o->uses);
      }
      o = end;
      sweep_.done.push_back(number);
    }
    batch_.clear();
    batch_ids_.clear();
  }
  std::pair<std::uint32_t, bool> put(const Id& key, std::uint32_t reads, std::uint32_t outputs) {
    const auto [number, fresh] = known_.done_.put(key);
    if (fresh) {
      fragments_.push_back({uses_.size(), reads, outputs});
      in_sweep_.push_back(false);
    }
    return {number, fresh};
  }
  std::uint32_t use(const Id& id) {
    uses_.push_back(number_of(id));
    return uses_.back();
  }

  // A whole sweep.
  void take(std::uint64_t sweep, const Header& header, Stream& stream) {
    known_.digest ^= abi::fold(header.attempt + 1,
                               abi::fold(sweep + 1, 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(header.rank)));
    for (const std::uint32_t k : sweep_.done) in_sweep_[k] = true;
    for (const Id& key : sweep_.ran) in_sweep_[put(key, 0, 0).first] = true;
    for (const Range& r : sweep_.ranges) {
      if (known_.skips_.add(r)) continue;
      for (std::int64_t i = r.first; i <= r.last; ++i)
        in_sweep_[put(fragment_of(r.loop, i, r.statement), 0, 0).first] = true;
    }
    given_.insert(given_.end(), sweep_.values.begin(), sweep_.values.end());
    if (stream.whole + 1 != sweep) return;
    stream.whole = sweep;
    for (const Given& g : sweep_.values) stream.values.put(values_[g.value]);
    for (const Id& id : sweep_.gone) {
      if (stream.values.find(id) != Ids::kNone) gone_.put(id);
    }
  }

  // Once: then it is known how many read it.
  static void count_uses(Name& n, std::int64_t uses) {
    if (n.unread > kUnknown / 2) n.unread += uses - kUnknown;
  }
  static bool needed(const Name& n) { return n.unread != 0; }

  template <class F>
  void for_outputs(std::uint32_t k, F f) {
    const Fragment& one = fragments_[k];
    for (std::size_t at = one.names + one.reads; at < one.names + one.reads + one.outputs; ++at) f(names_[uses_[at]]);
  }

  void look(std::uint32_t k) {
    if (!recalled_[k] || in_sweep_[k]) return;
    bool lost = false;
    for_outputs(k, [&](const Name& n) { lost = lost || (needed(n) && n.value == Ids::kNone); });
    if (!lost) return;
    recalled_[k] = false;
    const Fragment& one = fragments_[k];
    for (std::size_t at = one.names; at < one.names + one.reads; ++at) {
      Name& n = names_[uses_[at]];
      ++n.unread;
      if (n.maker != Ids::kNone && recalled_[n.maker]) again_.push_back(n.maker);
    }
  }

  void note_recalled(std::uint32_t k) {
    const Id& key = known_.done_[k];
    ++known_.recalled;
    known_.digest ^= key.lo + key.hi;
    known_.recalls_[k] = Recall::skipped;
    for_outputs(k, [&](const Name& n) {
      if (n.value != Ids::kNone && needed(n) && gone_.find(values_[n.value]) == Ids::kNone) give(k, n.value);
    });
  }
  // Of a whole sweep. If it is known how many read it, the fragment that assigns it has seen to it.
  void note_given(const Given& g) {
    if (gone_.find(values_[g.value]) != Ids::kNone) return;
    if (const std::uint32_t n = numbers_.find(values_[g.value]); n != Ids::kNone && !needed(names_[n])) return;
    const auto [k, fresh] = known_.done_.put(g.maker);
    if (fresh) {
      known_.recalls_.push_back(Recall::skipped);
      in_sweep_.push_back(true);
    }
    // It may have a record of its own, of an earlier run, and be in a range.
    in_sweep_[k] = true;
    known_.skips_.take_out(g.maker);
    give(k, g.value);
  }
  void give(std::uint32_t k, std::uint32_t value) {
    known_.recalls_[k] = Recall::gives;
    const auto [number, fresh] = known_.values_.put(values_[value]);
    if (!fresh) return;
    const Known::Place& p = places_[value];
    known_.places_.push_back(p);
    ++known_.values;
    known_.bytes += p.bytes;
    const Id& id = values_[value];
    known_.digest ^= abi::fold(id.lo + id.hi, p.bytes + 0x9E3779B97F4A7C15u);
  }
  static std::uint64_t small_of(const ValueOf& v) {
    std::uint64_t word = 0;
    if (is_number(v.type)) std::memcpy(&word, v.bytes.data(), std::min(v.bytes.size(), sizeof word));
    return word;
  }

  // Mean and variance of both together.
  void learn(const balancer::ProfileGroup& more) {
    const auto same = [&](const balancer::ProfileGroup& g) {
      return g.position == more.position && g.label == more.label;
    };
    const auto at = std::find_if(known_.learned.begin(), known_.learned.end(), same);
    if (at == known_.learned.end()) return known_.learned.push_back(more);
    const auto a = static_cast<double>(at->count), b = static_cast<double>(more.count), n = a + b;
    if (b <= 0) return;
    const auto x = static_cast<double>(at->mean), y = static_cast<double>(more.mean);
    at->mean = static_cast<balancer::Time>((a * x + b * y) / n);
    at->variance = (a * at->variance + b * more.variance + a * b / n * (x - y) * (x - y)) / n;
    at->bytes =
        static_cast<std::int64_t>((a * static_cast<double>(at->bytes) + b * static_cast<double>(more.bytes)) / n);
    at->count += more.count;
  }

  Known& known_;
  std::map<std::pair<std::uint64_t, std::int32_t>, Learned> learned_;  // by run and rank
  std::map<std::pair<std::uint64_t, std::int32_t>, Stream> streams_;   // likewise
  std::map<std::uint64_t, std::uint64_t> read_before_;                 // by run
  Sweep sweep_;
  Ids values_;                        // all that are there ...
  std::vector<Known::Place> places_;  // ... and where
  std::vector<Given> given_;          // of whole sweeps
  Ids gone_;
  Ids numbers_;
  std::vector<Name> names_;  // by these
  Ids taken_back_;
  std::vector<Fragment> fragments_;  // as known_.done_ numbers them
  std::vector<bool> recalled_, in_sweep_;
  std::vector<std::uint32_t> uses_;
  std::vector<std::uint32_t> again_;  // to be looked at again
  struct Batched {
    Id key;
    std::uint32_t reads, outputs;
  };
  static constexpr std::size_t kBatch = 32;
  std::vector<Batched> batch_;
  std::vector<Output> batch_ids_;  // of these: first what one reads, then what it assigns
};

Known::Known(const std::filesystem::path& folder, std::uint64_t attempt, std::uint64_t blocks)
    : printed(PrintedFile::read(folder)) {
  Loading loading(*this);
  for (const std::filesystem::path& file : files_of(folder)) {
    Header header;
    if (!read_header(file, header) || header.format != kFormat) {
      std::error_code gone;
      if (const auto bytes = std::filesystem::file_size(file, gone); !gone) damaged += bytes;
      continue;
    }
    if (header.attempt >= attempt) continue;
    loading.read(file, header, blocks);
    if (placed == 0 || header.began >= began) {
      began = header.began;
      ranks = header.ranks;
    }
    placed = header.placed;
    written = std::max(written, written_at(file));
  }
  loading.finish();
  digest ^= read_digest;
}

Known::~Known() {
  for (const Open& f : files_) {
    if (f.file >= 0) close(f.file);
  }
}

bool Known::in_sweep(const Id& key) const {
  const std::uint32_t number = done_.find(key);
  return number != Ids::kNone && number < in_sweep_.size() && in_sweep_[number];
}

abi::Value* Known::output(const Id& name) const {
  const std::uint32_t number = values_.find(name);
  if (number == Ids::kNone) return nullptr;
  const Place& p = places_[number];
  if (is_number(p.type)) {
    std::int32_t i = 0;
    double r = 0;
    std::memcpy(&i, &p.small, sizeof i);
    std::memcpy(&r, &p.small, sizeof r);
    if (p.type == abi::Type::longint) return abi::value_long(static_cast<std::int64_t>(p.small));
    return p.type == abi::Type::integer ? abi::value_int(i) : abi::value_real(r);
  }
  abi::Value* v = p.type == abi::Type::string ? abi::value_string(nullptr, p.bytes) : value_to_fill(p.bytes);
  const std::string why = read(p, v->data);
  if (!why.empty()) {
    abi::release(v);
    throw std::runtime_error("the journal's file " + files_[p.file].path.string() + " can't be read any more: " + why);
  }
  return v;
}

std::string Known::read(const Place& p, void* to) const {
  std::uint64_t at = p.at, left = p.bytes;
  for (auto* t = static_cast<char*>(to); left > 0;) {
    const ssize_t n = pread(files_[p.file].file, t, left, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::strerror(errno);
    if (n == 0) return "it has become shorter";
    t += n, at += static_cast<std::uint64_t>(n), left -= static_cast<std::uint64_t>(n);
  }
  return "";
}

}  // namespace tessera::runtime::journal
