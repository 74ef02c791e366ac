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
  Ids done, values;
  std::uint64_t attempt = 0;
  for (const fs::path& file : files_of(folder)) {
    Header h;
    Sink sink;
    sink.done = [&](const Done& d) { c.done += done.put(d.key).second ? 1 : 0; };
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
  c.recalled = known.recalled;
  c.needed = known.values;
  c.needed_bytes = known.bytes;
  return c;
}

std::string compact(const fs::path& folder, const Contents& c) try {
  const Folder mine(folder, c.last.origin, Folder::Finished::stays);
  if (!mine.wrong.empty()) return mine.wrong;
  const Known known(folder, mine.attempt, c.last.blocks);
  Ids done, values, taken_back, read;
  std::unique_ptr<File> out;
  const fs::path draft = folder / "compacted";
  fs::remove(draft);
  {
    Header header = c.last;
    header.attempt = mine.attempt;
    File file(draft, header);
    std::vector<std::byte> rows;
    const auto put = [&](const auto& record) {
      append(rows, record);
      if (rows.size() < kFrame) return;
      file.records(rows);
      rows.clear();
    };
    for (const auto& [path, damaged] : c.files) {
      Header h;
      if (!read_header(path, h) || h.format != kFormat) continue;
      // Of another translation it is not relied on who reads what: here it would be.
      const bool trusted = h.blocks == c.last.blocks;
      Sink sink;
      sink.done = [&](const Done& d) {
        if (!done.put(d.key).second) return;
        if (trusted) return put(d);
        std::vector<Output> outputs(d.outputs.begin(), d.outputs.end());
        for (Output& o : outputs) o.uses = -1;
        put(Done{d.key, d.reads, outputs});
      };
      sink.value = [&](const ValueOf& v) {
        if (known.spare(v.id) || !values.put(v.id).second) return;
        v.bytes.size() > kSmallValue ? file.value(v) : put(v);
      };
      sink.taken_back = [&](const TakenBack& t) {
        if (taken_back.put(abi::mix(t.key, t.id.lo ^ t.id.hi)).second) put(t);
      };
      sink.read = [&](const Read& r) {
        if (trusted && read.put(r.id).second) put(r);
      };
      for_each_record(path, h, sink);
    }
    if (!known.learned.empty()) put(known.learned);
    if (!rows.empty()) file.records(rows);
    file.sync();
  }
  fs::rename(draft, file_name(folder, mine.attempt, 0, 0));
  for (const auto& [path, damaged] : c.files) fs::remove(path);
  return "";
} catch (const std::system_error& e) {
  return std::string("the journal stays as it is: ") + e.what();
}

}  // namespace tessera::runtime::journal
