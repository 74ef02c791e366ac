#include "runtime/journal/known.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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
      Name& n = *names_.put(v.id).first;
      if (n.value != kNone) return;
      n.value = static_cast<std::uint32_t>(places_.size());
      places_.push_back({number, v.type, false, v.at, v.bytes.size()});
    };
    sink.taken_back = [&](const TakenBack& t) {
      if (taken_back_.put(abi::mix(t.key, t.id.lo ^ t.id.hi)).second) --names_.put(t.id).first->unread;
    };
    sink.read = [&, trusted = header.blocks == blocks](const Read& r) {
      if (trusted) count_uses(*names_.put(r.id).first, r.uses);
    };
    known_.damaged += for_each_record(file, again, sink).damaged;
    known_.files_.push_back({file, open(file.c_str(), O_RDONLY | O_CLOEXEC)});
  }

  void finish() {
    known_.fragments = done_.size();
    for (std::size_t k = 0; k < done_.size(); ++k) look(k);
    while (!again_.empty()) {
      const std::size_t k = again_.back();
      again_.pop_back();
      look(k);
    }
    for (std::size_t k = 0; k < done_.size(); ++k) {
      if (!done_[k].recalled) continue;
      ++known_.recalled;
      known_.recalled_.put(done_[k].key);
      known_.digest ^= done_[k].key.lo + done_[k].key.hi;
      for_outputs(k, [&](const Id& id, const Name& n) {
        if (!needed(n)) {
          if (n.value != kNone) known_.spare_.put(id);
          return;
        }
        Known::Place& p = places_[n.value];
        if (std::exchange(p.needed, true)) return;
        ++known_.values;
        known_.bytes += p.bytes;
        known_.digest ^= abi::fold(id.lo + id.hi, p.bytes + 0x9E3779B97F4A7C15u);
      });
    }
    // What is there but not needed need not be written again.
    known_.values_.reserve(places_.size());
    names_.for_each([&](const Id& id, const Name& n) {
      if (n.value != kNone) known_.values_.put(id, places_[n.value]);
    });
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::int64_t kUnknown = std::int64_t{1} << 40;
  struct Name {
    std::int64_t unread = kUnknown;  // uses that no recalled fragment makes, and that nobody took back
    std::uint32_t value = kNone;     // number of its place
    std::uint32_t maker = kNone;     // number of the fragment that assigns it
    bool counted = false;            // it is known how many read it
  };
  struct One {
    Id key;
    std::size_t names;  // where in ids_: first what it reads, then what it assigns
    std::uint32_t reads, outputs;
    bool recalled = true;
  };

  void add(const Done& d, bool trusted) {
    if (!keys_.put(d.key).second) return;
    const auto number = static_cast<std::uint32_t>(done_.size());
    done_.push_back(
        {d.key, ids_.size(), static_cast<std::uint32_t>(d.reads.size()), static_cast<std::uint32_t>(d.outputs.size())});
    for (const Id& id : d.reads) {
      ids_.push_back(id);
      --names_.put(id).first->unread;
    }
    for (const Output& o : d.outputs) {
      ids_.push_back(o.id);
      Name& n = *names_.put(o.id).first;
      n.maker = number;
      if (trusted && o.uses >= 0) count_uses(n, o.uses);
    }
  }

  static void count_uses(Name& n, std::int64_t uses) {
    if (!std::exchange(n.counted, true)) n.unread += uses - kUnknown;
  }
  static bool needed(const Name& n) { return n.unread != 0; }

  template <class F>
  void for_outputs(std::size_t k, F f) const {
    const One& one = done_[k];
    for (std::size_t at = one.names + one.reads; at < one.names + one.reads + one.outputs; ++at)
      f(ids_[at], *names_.find(ids_[at]));
  }

  void look(std::size_t k) {
    One& one = done_[k];
    if (!one.recalled) return;
    bool lost = false;
    for_outputs(k, [&](const Id&, const Name& n) { lost = lost || (needed(n) && n.value == kNone); });
    if (!lost) return;
    one.recalled = false;
    for (std::size_t at = one.names; at < one.names + one.reads; ++at) {
      Name& n = *names_.find(ids_[at]);
      ++n.unread;
      if (n.maker != kNone && done_[n.maker].recalled) again_.push_back(n.maker);
    }
  }

  Known& known_;
  IdMap<Name> names_;
  IdMap<Known::Nothing> keys_, taken_back_;
  std::vector<Known::Place> places_;
  std::vector<One> done_;
  std::vector<Id> ids_;
  std::vector<std::size_t> again_;  // to be looked at again
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
  const Place* p = values_.find(name);
  if (p == nullptr || !p->needed) return abi::value_memo();
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
