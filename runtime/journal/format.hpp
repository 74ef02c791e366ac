// The format of a journal's files (docs/recovery.md). A file is a row of frames, each with a checksum: first the
// header, then frames of records, and one for each large value. What can't be read is passed over: any subset of the
// frames leads to the right result.
//
// The frames of one sweep have its number, and its last one says how many they are: so it is known whether a sweep is
// whole. What a whole sweep says is done is done, and what of it anybody may still need is in it.
//
// The records: a fragment is done, with the names it read and assigned, or with nothing more; so is what a statement of
// a loop makes in some iterations; the value of a name; nobody needs that of an earlier sweep any more; a counted use
// that was taken back; what a rank has learned of groups of fragments; what was printed. This file knows nothing of
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/profile.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/journal/ranges.hpp"

namespace tessera::runtime::journal {

using abi::Id;

inline constexpr std::uint32_t kFormat = 5;

// What a journal belongs to.
struct Origin {
  std::uint64_t hash[2] = {0, 0};     // of the program
  std::uint64_t kernels[2] = {0, 0};  // of its kernels as they were compiled
  std::string program;                // its name
  std::vector<std::string> arguments;
};

struct Header {
  std::uint32_t format = kFormat;
  Origin origin;
  std::uint64_t blocks = 0;   // a digest of what the program was translated to: passes may differ
  std::uint64_t attempt = 0;  // which run with this folder has written the file
  std::int32_t rank = 0;
  std::int32_t ranks = 1;   // of that run
  std::int32_t placed = 1;  // what `ranks` says in the program
  std::int64_t began = 0;   // that run: seconds since 1970
  std::uint64_t based = 0;  // a digest of what could be read of the runs before, when it began (Known::read)
};

// An output of a fragment; so many fragments will read it, -1: not known.
struct Output {
  Id id;
  std::int64_t uses = -1;
};

// A fragment's kernel has returned. `reads` has a name for each input that the fragment waited for.
struct Done {
  Id key;
  std::span<const Id> reads;
  std::span<const Output> outputs;
};

// Fragments whose kernels have returned, of which no more is said: it counts only if the sweep is whole.
struct Ran {
  std::span<const Id> keys;
};

// The bytes are those of the value: 4 of an int, 8 of a long or real, else its payload. `maker`: the fragment that
// assigned it.
struct ValueOf {
  Id id;
  Id maker;
  abi::Type type = abi::Type::none;
  std::span<const std::byte> bytes;
  std::uint64_t at = 0;  // where in the file these are; set by for_each_record
};

// `key` is the same for the same decision in every run.
struct TakenBack {
  Id id;
  Id key;
};

// Whoever reads this value has done so, and is in this sweep or in an earlier one of the rank and the run, as the
// value.
struct Gone {
  Id id;
};

// What the process of the rank has printed, from this byte on (runtime/journal/printed.hpp).
struct Text {
  std::uint64_t stream = 0, from = 0;
  std::string_view text;
};

// What follows in the frame, and the sweep, are of fragments that have printed no further than that.
struct NeedsText {
  std::uint64_t stream = 0, upto = 0;
};

// What the rank that writes the file has learned of groups since its run began: the last one counts.
using Learned = std::vector<balancer::ProfileGroup>;

// Series of fragments that belong to a rank, of so many, and that the balancer has run elsewhere: the last one counts.
struct SeriesPlaces {
  std::int32_t rank = 0, ranks = 0;
  std::vector<std::uint64_t> series;
  std::vector<std::int32_t> lives;  // where each of them does
  friend bool operator==(const SeriesPlaces&, const SeriesPlaces&) = default;
};

// A link as a rank on the host `from` has measured it to one on `to`: the last one counts.
struct HostLink {
  std::string from, to;
  balancer::Time latency = 0;  // ns
  double bandwidth = 0;        // bytes per second
  friend bool operator==(const HostLink&, const HostLink&) = default;
};
using HostLinks = std::vector<HostLink>;

// Rows of records as they stand in a frame.
void append(std::vector<std::byte>& to, const Done&);
void append(std::vector<std::byte>& to, const ValueOf&);
void append(std::vector<std::byte>& to, const TakenBack&);
void append(std::vector<std::byte>& to, const Gone&);
void append(std::vector<std::byte>& to, const Ran&);
void append(std::vector<std::byte>& to, const Range&);
void append(std::vector<std::byte>& to, const Learned&);
void append(std::vector<std::byte>& to, const SeriesPlaces&);
void append(std::vector<std::byte>& to, const HostLinks&);
void append(std::vector<std::byte>& to, const Text&);
void append(std::vector<std::byte>& to, const NeedsText&);

// Values of more bytes have a frame of their own.
inline constexpr std::size_t kSmallValue = 512;
// A frame of records has about so many bytes: one that is damaged takes no more along.
inline constexpr std::size_t kFrame = 64 << 10, kBuffer = 256 << 10;

// An open file to be written. All throw std::system_error.
class File {
 public:
  File(const std::filesystem::path& path, const Header&);  // a new one
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  // What is written from here on belongs to this sweep. Before the first one, and after the last, it stands for itself.
  void begin_sweep(std::uint64_t number);
  // Each frame of records begins with this from now on.
  void needs(std::vector<NeedsText>);
  void end_sweep();  // it is whole
  void records(std::span<const std::byte> rows);
  void value(const ValueOf&);
  // What is there goes to the system, and with sync() to the disk. Before that some of it is kept here: many small
  // frames are one write.
  void flush();
  void sync();
  std::uint64_t size() const { return size_; }

 private:
  void frame(std::uint32_t kind, std::span<const std::byte> head, std::span<const std::byte> rest);
  void write(std::span<const std::byte>);
  void write_out(std::span<const std::byte>);
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t size_ = 0, sweep_ = 0, frames_ = 0;
  std::vector<std::byte> needs_, buffer_;
};

// RowWriter puts records into frames of about kFrame bytes; large values into their own.
class RowWriter {
 public:
  explicit RowWriter(File& file) : file_(file) {}
  void put(const auto& record) {
    append(rows_, record);
    if (rows_.size() >= kFrame) flush();
  }
  void put(const ValueOf& v) {
    if (v.bytes.size() > kSmallValue) return file_.value(v);
    append(rows_, v);
    if (rows_.size() >= kFrame) flush();
  }
  void flush() {
    if (!rows_.empty()) file_.records(rows_);
    rows_.clear();
  }

 private:
  File& file_;
  std::vector<std::byte> rows_;
};

struct Sink {
  std::function<void(const Done&)> done;
  std::function<void(const ValueOf&)> value;
  std::function<void(const TakenBack&)> taken_back;
  std::function<void(const Gone&)> gone;
  std::function<void(const Learned&)> learned;
  std::function<void(const Ran&)> ran;
  std::function<void(const Range&)> range;
  std::function<void(const Text&)> text;
  // False: nothing that follows in the frame counts, but text and values.
  std::function<bool(const NeedsText&)> has_text;
  // What follows belongs to this sweep (0: to none); what came since then is all of it.
  std::function<void(std::uint64_t sweep)> begins;
  std::function<void(std::uint64_t sweep)> whole;
  std::function<void(const SeriesPlaces&)> places;
  std::function<void(const HostLinks&)> links;
};

// What was found while reading a file.
struct Found {
  bool header = false;        // there is one: else nothing else counts
  std::uint64_t damaged = 0;  // bytes that could not be read
  std::uint64_t digest = 0;   // of those that could
};

// read_header reads no more than that; false: there is none that can be understood. Of another format only the number
// is read.
bool read_header(const std::filesystem::path& path, Header& out);

// for_each_record reads a whole file, or what can be read of it.
Found for_each_record(const std::filesystem::path& path, Header& header, const Sink& sink);

}  // namespace tessera::runtime::journal
