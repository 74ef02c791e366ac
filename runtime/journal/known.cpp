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

// Finds out what is recalled: begins with all fragments that have a record, and takes out those of whose outputs one is
// neither there nor unneeded. What such a one reads is needed.
class Loading {
 public:
  explicit Loading(Known& known) : known_(known) {}

  void read(const std::filesystem::path& file, const Header& header, std::uint64_t blocks) {
    const auto number = static_cast<std::uint32_t>(known_.files_.size());
    Header again;
    Sink sink;
    sink.done = [&, trusted = header.blocks == blocks](const Done& d) { add(d, trusted); };
    sink.value = [&](const ValueOf& v) {
      if (known_.values_.put(v.id).second)
        known_.places_.push_back({number, v.type, false, false, v.at, v.bytes.size()});
    };
    sink.taken_back = [&](const TakenBack& t) {
      if (taken_back_.put(abi::mix(t.key, t.id.lo ^ t.id.hi)).second) --name(t.id).unread;
    };
    sink.read = [&, trusted = header.blocks == blocks](const Read& r) {
      if (trusted) count_uses(name(r.id), r.uses);
    };
    sink.learned = [&](const Learned& groups) { learned_[{header.attempt, header.rank}] = groups; };
    known_.damaged += for_each_record(file, again, sink).damaged;
    add_batch();
    known_.files_.push_back({file, open(file.c_str(), O_RDONLY | O_CLOEXEC)});
  }

  void finish() {
    known_.fragments = fragments_.size();
    known_.recalled_.assign(fragments_.size(), true);
    for (std::uint32_t k = 0; k < known_.values_.size(); ++k) {
      if (const std::uint32_t n = numbers_.find(known_.values_[k]); n != Ids::kNone) names_[n].value = k;
    }
    for (std::uint32_t k = 0; k < fragments_.size(); ++k) look(k);
    while (!again_.empty()) {
      const std::uint32_t k = again_.back();
      again_.pop_back();
      look(k);
    }
    for (std::uint32_t k = 0; k < fragments_.size(); ++k) {
      if (known_.recalled_[k]) note_recalled(k);
    }
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
      const auto [number, fresh] = known_.done_.put(b.key);
      if (fresh) fragments_.push_back({uses_.size(), b.reads, b.outputs});
      for (; fresh && o != outputs; ++o) --names_[use(o->id)].unread;
      for (; fresh && o != end; ++o) {
        Name& n = names_[use(o->id)];
        n.maker = number;
        if (o->uses >= 0) count_uses(n, o->uses);
      }
      o = end;
    }
    batch_.clear();
    batch_ids_.clear();
  }
  std::uint32_t use(const Id& id) {
    uses_.push_back(number_of(id));
    return uses_.back();
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
    if (!known_.recalled_[k]) return;
    bool lost = false;
    for_outputs(k, [&](const Name& n) { lost = lost || (needed(n) && n.value == Ids::kNone); });
    if (!lost) return;
    known_.recalled_[k] = false;
    const Fragment& one = fragments_[k];
    for (std::size_t at = one.names; at < one.names + one.reads; ++at) {
      Name& n = names_[uses_[at]];
      ++n.unread;
      if (n.maker != Ids::kNone && known_.recalled_[n.maker]) again_.push_back(n.maker);
    }
  }

  void note_recalled(std::uint32_t k) {
    const Id& key = known_.done_[k];
    ++known_.recalled;
    known_.digest ^= key.lo + key.hi;
    for_outputs(k, [&](const Name& n) {
      if (n.value == Ids::kNone) return;
      Known::Place& p = known_.places_[n.value];
      if (!needed(n)) p.spare = true;
      if (!needed(n) || std::exchange(p.needed, true)) return;
      ++known_.values;
      known_.bytes += p.bytes;
      const Id& id = known_.values_[n.value];
      known_.digest ^= abi::fold(id.lo + id.hi, p.bytes + 0x9E3779B97F4A7C15u);
    });
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
  Ids numbers_;
  std::vector<Name> names_;  // by these
  Ids taken_back_;
  std::vector<Fragment> fragments_;  // as known_.done_ numbers them
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

Known::Known(const std::filesystem::path& folder, std::uint64_t attempt, std::uint64_t blocks) {
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
}

Known::~Known() {
  for (const Open& f : files_) {
    if (f.file >= 0) close(f.file);
  }
}

abi::Value* Known::output(const Id& name) const {
  const std::uint32_t number = values_.find(name);
  if (number == Ids::kNone || !places_[number].needed) return abi::value_memo();
  const Place* const p = &places_[number];
  std::int32_t i = 0;
  std::int64_t l = 0;
  double r = 0;
  abi::Value* v = nullptr;
  void* to = p->type == abi::Type::integer   ? static_cast<void*>(&i)
             : p->type == abi::Type::longint ? static_cast<void*>(&l)
                                             : &r;
  if (p->type == abi::Type::string || p->type == abi::Type::bytes) {
    v = p->type == abi::Type::string ? abi::value_string(nullptr, p->bytes) : value_to_fill(p->bytes);
    to = v->data;
  }
  const std::string why = read(*p, to);
  if (!why.empty()) {
    abi::release(v);
    throw std::runtime_error("the journal's file " + files_[p->file].path.string() + " can't be read any more: " + why);
  }
  if (v != nullptr) return v;
  if (p->type == abi::Type::longint) return abi::value_long(l);
  return p->type == abi::Type::integer ? abi::value_int(i) : abi::value_real(r);
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
