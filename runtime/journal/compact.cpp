#include "runtime/journal/compact.hpp"

#include <algorithm>
#include <memory>
#include <system_error>

#include "runtime/journal/folder.hpp"
#include "runtime/journal/ids.hpp"
#include "runtime/journal/known.hpp"

namespace tessera::runtime::journal {
namespace fs = std::filesystem;

Contents contents_of(const fs::path& folder) {
  Contents c;
  Ids values;
  std::uint64_t attempt = 0;
  for (const fs::path& file : files_of(folder)) {
    Header h;
    Sink sink;
    sink.value = [&](const ValueOf& v) {
      if (!values.put(v.id).second) return;
      ++c.values;
      c.value_bytes += v.bytes.size();
    };
    std::error_code ignored;
    const Found found = for_each_record(file, h, sink);
    c.files.emplace_back(file, found.damaged);
    c.damaged += found.damaged;
    c.file_bytes += fs::file_size(file, ignored);
    c.written = std::max(c.written, written_at(file));
    if (!found.header) continue;
    if (h.attempt != attempt) ++c.attempts;
    attempt = h.attempt;
    if (h.attempt >= c.last.attempt) c.last = h;
  }
  c.not_files = not_files_of(folder);
  c.finished = fs::exists(folder / kFinished);
  const Known known(folder, c.last.attempt + 1, c.last.blocks);
  c.done = known.fragments;
  c.recalled = known.recalled;
  for (const PrintedText::Again& a : known.printed.again()) c.text += a.text.size();
  for (const auto& [of, places] : known.places) c.series += of.first == c.last.ranks ? places.series.size() : 0;
  c.links = known.links.size();
  c.needed = known.values;
  c.needed_bytes = known.bytes;
  return c;
}

namespace {

// What whole sweeps have becomes one; what else there is stands for itself.
class Compacting {
 public:
  Compacting(const Contents& c, const Known& known, File& file) : contents_(c), known_(known), file_(file) {}

  void write() {
    const std::vector<NeedsText> needs = write_text();
    file_.needs(needs);
    write_part(false);
    file_.begin_sweep(1);
    file_.needs(needs);
    write_part(true);
    RowWriter rows(file_);
    known_.skips().for_each([&](const Range& r) { rows.put(r); });
    known_.for_each_in_sweep([&](const Id& key) { rows.put(Ran{std::span(&key, 1)}); });
    if (!known_.learned.empty()) rows.put(known_.learned);
    for (const auto& [of, places] : known_.places) rows.put(places);
    HostLinks links;
    for (const auto& [hosts, l] : known_.links) links.push_back(l);
    if (!links.empty()) rows.put(links);
    rows.flush();
    file_.end_sweep();
    file_.sync();
  }

 private:
  // What is to be printed again.
  std::vector<NeedsText> write_text() {
    RowWriter rows(file_);
    std::vector<NeedsText> needs;
    for (const PrintedText::Again& a : known_.printed.again()) {
      rows.put(Text{a.stream, a.upto - a.text.size(), a.text});
      needs.push_back({a.stream, a.upto});
    }
    rows.flush();
    return needs;
  }
  void write_part(bool sweep) {
    Ids done, values, taken_back;
    RowWriter rows(file_);
    for (const auto& [path, damaged] : contents_.files) {
      Header h;
      if (!read_header(path, h) || h.format != kFormat) continue;
      // Of another translation it is not relied on who reads what: here it would be.
      const bool trusted = h.blocks == contents_.last.blocks;
      Sink sink;
      sink.done = [&](const Done& d) {
        if (known_.in_sweep(d.key) != sweep || !done.put(d.key).second) return;
        if (trusted) return rows.put(d);
        std::vector<Output> outputs(d.outputs.begin(), d.outputs.end());
        for (Output& o : outputs) o.uses = -1;
        rows.put(Done{d.key, d.reads, outputs});
      };
      // Each of them with what it was made by.
      sink.value = [&](const ValueOf& v) {
        if (known_.needs(v.id) && known_.in_sweep(v.maker) == sweep && values.put(v.id).second) rows.put(v);
      };
      sink.taken_back = [&](const TakenBack& t) {
        if (!sweep && taken_back.put(abi::mix(t.key, t.id.lo ^ t.id.hi)).second) rows.put(t);
      };
      for_each_record(path, h, sink);
    }
    rows.flush();
  }

  const Contents& contents_;
  const Known& known_;
  File& file_;
};

}  // namespace

std::string compact(const fs::path& folder, const Contents& c) try {
  const Folder mine(folder, c.last.origin, Folder::Finished::stays);
  if (!mine.wrong.empty()) return mine.wrong;
  const fs::path draft = folder / "compacted";
  fs::remove(draft);
  {
    const Known known(folder, mine.attempt, c.last.blocks);
    Header header = c.last;
    header.attempt = mine.attempt;
    header.based = 0;  // it will be alone
    File file(draft, header);
    Compacting(c, known, file).write();
  }
  fs::rename(draft, file_name(folder, mine.attempt, 0, 0));
  for (const auto& [path, damaged] : c.files) fs::remove(path);
  return "";
} catch (const std::system_error& e) {
  return std::string("the journal stays as it is: ") + e.what();
}

}  // namespace tessera::runtime::journal
