#include "runtime/journal/format.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY  // a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "runtime/comm/profile_wire.hpp"
#include "runtime/comm/wire.hpp"

namespace tessera::runtime::journal {

template <class Archive>
void serialize(Archive& a, SeriesPlaces& p) {
  a(p.rank, p.ranks, p.series, p.lives);
}
template <class Archive>
void serialize(Archive& a, HostLink& l) {
  a(l.from, l.to, l.latency, l.bandwidth);
}

namespace {

enum class Frame : std::uint32_t { header = 1, records = 2, value = 3, end = 4 };
enum class Row : std::uint8_t {
  done = 1,
  value = 2,
  taken_back = 3,
  gone = 4,
  learned = 5,
  ran = 6,
  range = 7,
  text = 8,
  needs = 9,
  places = 10,
  links = 11
};

constexpr std::uint32_t kMark = 0x4A535354;  // TSSJ
struct Head {
  std::uint32_t mark = kMark;
  std::uint32_t kind = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sweep = 0;
  std::uint64_t sum = 0;
};

// Of a row of records.
struct TextRow {
  std::uint64_t stream, from, bytes;
};
struct DoneRow {
  Id key;
  std::uint32_t reads, outputs;
};
struct ValueRow {
  Id id, maker;
  std::uint64_t bytes;
  std::uint64_t type;
};

template <class T>
void put(std::vector<std::byte>& to, const T& x) {
  const auto* p = reinterpret_cast<const std::byte*>(&x);
  to.insert(to.end(), p, p + sizeof x);
}
template <class T>
void put_all(std::vector<std::byte>& to, std::span<const T> list) {
  const auto bytes = std::as_bytes(list);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void serialize_header(auto& a, auto& h) {
  a(h.format, h.origin.hash[0], h.origin.hash[1], h.origin.kernels[0], h.origin.kernels[1], h.origin.program,
    h.origin.arguments, h.blocks, h.attempt, h.rank, h.ranks, h.placed, h.began, h.based);
}

// Takes things off the front; false: there is not so much.
class Rows {
 public:
  explicit Rows(std::span<const std::byte> bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }
  template <class T>
  bool take(T& x) {
    if (left_.size() < sizeof x) return false;
    std::memcpy(&x, left_.data(), sizeof x);
    left_ = left_.subspan(sizeof x);
    return true;
  }
  template <class T>
  bool take(std::vector<T>& list, std::size_t count) {
    list.resize(count);
    if (left_.size() < count * sizeof(T)) return false;
    if (count > 0) std::memcpy(list.data(), left_.data(), count * sizeof(T));
    left_ = left_.subspan(count * sizeof(T));
    return true;
  }
  bool take(std::span<const std::byte>& bytes, std::uint64_t count) {
    if (left_.size() < count) return false;
    bytes = left_.subspan(0, count);
    left_ = left_.subspan(count);
    return true;
  }

 private:
  std::span<const std::byte> left_;
};

// What stands in rows as it travels between ranks.
template <class T>
bool take_packed(Rows& rows, const std::function<void(const T&)>& sink) {
  std::uint32_t size = 0;
  std::span<const std::byte> bytes;
  if (!rows.take(size) || !rows.take(bytes, size)) return false;
  T x;
  WireReader(bytes.data(), bytes.size())(x);
  if (sink) sink(x);
  return true;
}
template <class T>
void append_packed(std::vector<std::byte>& to, Row row, const T& x) {
  std::vector<std::byte> bytes;
  WireWriter out(bytes);
  out(x);
  put(to, row);
  put(to, static_cast<std::uint32_t>(bytes.size()));
  put_all(to, std::span<const std::byte>(bytes));
}

// `at`: of the rows in the file.
void read_rows(std::span<const std::byte> bytes, std::uint64_t at, const Sink& sink) {
  std::vector<Id> reads;
  std::vector<Output> outputs;
  bool has_text = true;
  for (Rows rows(bytes); !rows.empty();) {
    Row row{};
    rows.take(row);
    if (row == Row::needs) {
      NeedsText n;
      if (!rows.take(n)) return;
      if (sink.has_text && !sink.has_text(n)) has_text = false;
    } else if (row == Row::text) {
      TextRow t;
      std::span<const std::byte> text;
      if (!rows.take(t) || !rows.take(text, t.bytes)) return;
      if (sink.text) sink.text({t.stream, t.from, {reinterpret_cast<const char*>(text.data()), text.size()}});
    } else if (row == Row::done) {
      DoneRow d;
      if (!rows.take(d) || !rows.take(reads, d.reads) || !rows.take(outputs, d.outputs)) return;
      if (has_text && sink.done) sink.done({d.key, reads, outputs});
    } else if (row == Row::ran) {
      std::uint32_t count = 0;
      if (!rows.take(count) || !rows.take(reads, count)) return;
      if (sink.ran) sink.ran({reads});
    } else if (row == Row::range) {
      Range r;
      if (!rows.take(r)) return;
      if (sink.range) sink.range(r);
    } else if (row == Row::value) {
      ValueRow v;
      ValueOf out;
      if (!rows.take(v)) return;
      out = {v.id, v.maker, static_cast<abi::Type>(v.type), {}, at + (bytes.size() - rows.left())};
      if (!rows.take(out.bytes, v.bytes)) return;
      if (sink.value) sink.value(out);
    } else if (row == Row::taken_back) {
      TakenBack t;
      if (!rows.take(t)) return;
      if (sink.taken_back) sink.taken_back(t);
    } else if (row == Row::gone) {
      Gone g;
      if (!rows.take(g)) return;
      if (sink.gone) sink.gone(g);
    } else if (row == Row::learned) {
      if (!take_packed(rows, sink.learned)) return;
    } else if (row == Row::places) {
      if (!take_packed(rows, sink.places)) return;
    } else if (row == Row::links) {
      if (!take_packed(rows, sink.links)) return;
    } else {
      return;
    }
  }
}

[[noreturn]] void fail_writing(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

class Reading {
 public:
  explicit Reading(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat s {};
    if (file_ >= 0 && fstat(file_, &s) == 0) size_ = static_cast<std::uint64_t>(s.st_size);
  }
  ~Reading() {
    if (file_ >= 0) close(file_);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  std::uint64_t size() const { return size_; }
  bool read(std::uint64_t at, void* to, std::uint64_t bytes) const {
    for (auto* p = static_cast<char*>(to); bytes > 0;) {
      const ssize_t n = pread(file_, p, bytes, static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n, at += static_cast<std::uint64_t>(n), bytes -= static_cast<std::uint64_t>(n);
    }
    return true;
  }

 private:
  int file_;
  std::uint64_t size_ = 0;
};

std::uint64_t sum_of(std::uint32_t kind, std::uint64_t sweep, std::span<const std::byte> a,
                     std::span<const std::byte> b) {
  XXH3_state_t state;
  // Without it what an earlier call has left on the stack can pass for a state with this seed whose secret is there:
  // the sum would be wrong.
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, abi::fold(sweep + 1, kind * 0x9E3779B97F4A7C15u) + a.size() + b.size());
  XXH3_64bits_update(&state, a.data(), a.size());
  XXH3_64bits_update(&state, b.data(), b.size());
  return XXH3_64bits_digest(&state);
}

// The frame that begins at `at`: its kind and bytes. False: there is none.
enum class Got : std::uint8_t { frame, damaged, none };
Got next_frame(const Reading& file, std::uint64_t& at, Head& head, std::vector<std::byte>& bytes) {
  if (at + sizeof head > file.size() || !file.read(at, &head, sizeof head) || head.mark != kMark) return Got::none;
  if (head.bytes > file.size() - at - sizeof head) return Got::none;
  bytes.resize(head.bytes);
  if (!file.read(at + sizeof head, bytes.data(), head.bytes)) return Got::none;
  at += sizeof head + head.bytes;
  return sum_of(head.kind, head.sweep, bytes, {}) == head.sum ? Got::frame : Got::damaged;
}

bool parse_header(const Head& head, std::span<const std::byte> bytes, Header& out) {
  if (head.kind != static_cast<std::uint32_t>(Frame::header)) return false;
  try {
    WireReader number(bytes.data(), bytes.size());
    number(out.format);
    if (out.format != kFormat) return true;
    WireReader in(bytes.data(), bytes.size());
    serialize_header(in, out);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

// In one piece: there is one for each fragment.
void append(std::vector<std::byte>& to, const Done& d) {
  const DoneRow row{d.key, static_cast<std::uint32_t>(d.reads.size()), static_cast<std::uint32_t>(d.outputs.size())};
  const std::size_t from = to.size();
  to.resize(from + sizeof(Row) + sizeof row + d.reads.size_bytes() + d.outputs.size_bytes());
  std::byte* p = to.data() + from;
  *p++ = static_cast<std::byte>(Row::done);
  const auto copy = [&p](const void* what, std::size_t bytes) {
    if (bytes > 0) std::memcpy(p, what, bytes);
    p += bytes;
  };
  copy(&row, sizeof row);
  copy(d.reads.data(), d.reads.size_bytes());
  copy(d.outputs.data(), d.outputs.size_bytes());
}
void append(std::vector<std::byte>& to, const ValueOf& v) {
  put(to, Row::value);
  put(to, ValueRow{v.id, v.maker, v.bytes.size(), static_cast<std::uint64_t>(v.type)});
  put_all(to, v.bytes);
}
void append(std::vector<std::byte>& to, const TakenBack& t) {
  put(to, Row::taken_back);
  put(to, t);
}
void append(std::vector<std::byte>& to, const Gone& g) {
  put(to, Row::gone);
  put(to, g);
}
void append(std::vector<std::byte>& to, const Ran& r) {
  put(to, Row::ran);
  put(to, static_cast<std::uint32_t>(r.keys.size()));
  put_all(to, r.keys);
}
void append(std::vector<std::byte>& to, const Range& r) {
  put(to, Row::range);
  put(to, r);
}
void append(std::vector<std::byte>& to, const Learned& groups) { append_packed(to, Row::learned, groups); }
void append(std::vector<std::byte>& to, const SeriesPlaces& places) { append_packed(to, Row::places, places); }
void append(std::vector<std::byte>& to, const HostLinks& links) { append_packed(to, Row::links, links); }

void append(std::vector<std::byte>& to, const Text& t) {
  put(to, Row::text);
  put(to, TextRow{t.stream, t.from, t.text.size()});
  put_all(to, std::span(t.text));
}
void append(std::vector<std::byte>& to, const NeedsText& n) {
  put(to, Row::needs);
  put(to, n);
}

File::File(const std::filesystem::path& path, const Header& header)
    : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (file_ < 0) fail_writing(path_);
  std::vector<std::byte> bytes;
  WireWriter out(bytes);
  serialize_header(out, header);
  try {
    frame(static_cast<std::uint32_t>(Frame::header), bytes, {});
    flush();
  } catch (...) {
    close(file_);
    throw;
  }
}
File::~File() {
  try {
    flush();
  } catch (const std::exception&) {  // a file that is cut off
  }
  close(file_);
}

void File::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() > kBuffer) return write_out(bytes);
  put_all(buffer_, bytes);
}

void File::flush() {
  const std::vector<std::byte> bytes = std::exchange(buffer_, {});
  write_out(bytes);
}

void File::write_out(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_writing(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void File::frame(std::uint32_t kind, std::span<const std::byte> head, std::span<const std::byte> rest) {
  const Head h{kMark, kind, head.size() + rest.size(), sweep_, sum_of(kind, sweep_, head, rest)};
  ++frames_;
  write(std::as_bytes(std::span(&h, 1)));
  write(head);
  write(rest);
}

void File::begin_sweep(std::uint64_t number) {
  sweep_ = number;
  frames_ = 0;
  needs_.clear();
}

void File::end_sweep() {
  const std::uint64_t frames = frames_;
  frame(static_cast<std::uint32_t>(Frame::end), std::as_bytes(std::span(&frames, 1)), {});
  sweep_ = 0;
}

void File::needs(std::vector<NeedsText> all) {
  needs_.clear();
  for (const NeedsText& n : all) append(needs_, n);
}

void File::records(std::span<const std::byte> rows) { frame(static_cast<std::uint32_t>(Frame::records), needs_, rows); }

void File::value(const ValueOf& v) {
  std::vector<std::byte> head;
  append(head, ValueOf{v.id, v.maker, v.type, {}, 0});
  // The row says how many bytes follow.
  const std::uint64_t bytes = v.bytes.size();
  std::memcpy(head.data() + sizeof(Row) + offsetof(ValueRow, bytes), &bytes, sizeof bytes);
  frame(static_cast<std::uint32_t>(Frame::value), head, v.bytes);
}

void File::sync() {
  flush();
  if (fdatasync(file_) != 0) fail_writing(path_);
}

bool read_header(const std::filesystem::path& path, Header& out) {
  const Reading file(path);
  std::uint64_t at = 0;
  Head head;
  std::vector<std::byte> bytes;
  return next_frame(file, at, head, bytes) == Got::frame && parse_header(head, bytes, out);
}

Found for_each_record(const std::filesystem::path& path, Header& header, const Sink& sink) {
  const Reading file(path);
  Found found;
  std::uint64_t at = 0, sweep = 0, frames = 0;
  std::vector<std::byte> bytes;
  for (;;) {
    const std::uint64_t from = at;
    Head head;
    const Got got = next_frame(file, at, head, bytes);
    if (got == Got::none) break;
    if (!found.header) {
      found.header = got == Got::frame && parse_header(head, bytes, header) && header.format == kFormat;
      if (!found.header) break;
      continue;
    }
    if (got == Got::damaged) {
      found.damaged += at - from;
      continue;
    }
    found.digest = abi::fold(found.digest + head.sum, 0x9E3779B97F4A7C15u);
    if (std::exchange(sweep, head.sweep) != head.sweep) {
      frames = 0;
      if (sink.begins) sink.begins(sweep);
    }
    if (head.kind == static_cast<std::uint32_t>(Frame::end)) {
      std::uint64_t all = 0;
      if (Rows(bytes).take(all) && all == frames && sink.whole) sink.whole(sweep);
    } else {
      ++frames;
      read_rows(bytes, from + sizeof head, sink);
    }
  }
  found.damaged += file.size() - at;
  return found;
}

}  // namespace tessera::runtime::journal
