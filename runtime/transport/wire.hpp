// How parcels travel between processes, without MPI: a stream of records per pair of ranks, and
// pieces beside it.
//
// The stream is cut into envelopes (fixed size buffers, one message each) wherever it happens to be
// full; a record may begin in one envelope and end in another, so there is no limit on its size.
//   record  = head, `values` descriptors, [bytes of the parcel], [small values]
// Parcel bytes above kLargestBytes and values above the sender's Limits do not enter the stream: each is a
// piece, sent as messages of its own straight from and into its final place, in record order. Both
// sides know from the head and the descriptors which pieces follow. Empty ones need no message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "runtime/transport/control.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime::wire {

// Small messages are eager (buffered) on every network MPI knows; shared memory's limit is 4096
// with MPI's own header.
inline constexpr std::size_t kEnvelopeBytes = 4000;
inline constexpr std::uint64_t kLargestBytes = std::uint64_t{16} * 1024;
// Limits: values up to `value` bytes enter the stream, as long as those of a parcel add up to no more than `values`.
struct Limits {
  std::uint64_t value = 1024;
  std::uint64_t values = std::uint64_t{16} * 1024;
};

struct Head {
  std::uint64_t record_bytes;  // of the record in the stream, head included
  std::uint64_t parcel_bytes;  // size of Parcel::bytes, here or beside
  std::uint32_t values;
  Control control;
  std::uint8_t bytes_beside;
  std::uint16_t unused;
};
static_assert(sizeof(Head) == 24);

// Outgoing is what waits for being written.
struct Outgoing {
  Rank to{0};
  Control control = Control::parcel;
  Parcel parcel;
};

// A piece to send; `value` or `bytes` keeps it alive.
struct OutPiece {
  const std::byte* data = nullptr;
  std::uint64_t size = 0;
  ValueRef value;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

// Plan of one record: what goes where. Made first, since the head needs the record's size.
class RecordWriter {
 public:
  RecordWriter(Outgoing& out, const Limits& limits);
  // write calls put(const void*, size) for consecutive parts of the record.
  template <class Put>
  void write(Put put) const {
    put(&head_, sizeof head_);
    if (!descriptors_.empty()) put(descriptors_.data(), descriptors_.size() * sizeof(std::uint64_t));
    if (head_.bytes_beside == 0 && !out_.parcel.bytes.empty()) {
      put(out_.parcel.bytes.data(), out_.parcel.bytes.size());
    }
    for (const ValueRef& v : out_.parcel.values) {
      if (v && !is_beside(v)) put(v.get()->data, v.get()->size);
    }
  }
  // Calls piece(OutPiece&&) for each piece, in order, and takes them out of the parcel; so after
  // write().
  template <class Piece>
  void pieces(Piece piece) {
    if (head_.bytes_beside != 0) {
      auto kept = std::make_shared<const std::vector<std::byte>>(std::move(out_.parcel.bytes));
      piece(OutPiece{kept->data(), kept->size(), {}, kept});
    }
    for (std::size_t i = 0; i < descriptors_.size(); ++i) {
      if ((descriptors_[i] & kBeside) == 0) continue;
      ValueRef& v = out_.parcel.values[i];
      const auto* data = static_cast<const std::byte*>(v.get()->data);
      const std::uint64_t size = v.get()->size;
      piece(OutPiece{data, size, std::move(v), nullptr});
    }
  }

  static constexpr std::uint64_t kBeside = 0x80;  // descriptor: size << 8 | beside | type

 private:
  bool is_beside(const ValueRef& v) const {
    return (descriptors_[static_cast<std::size_t>(&v - out_.parcel.values.data())] & kBeside) != 0;
  }

  Outgoing& out_;
  Head head_{};
  std::vector<std::uint64_t> descriptors_;
};

// Incoming is a record being completed: whole once `missing` pieces have come and finish() ran.
struct Incoming {
  Control control = Control::parcel;
  Parcel parcel;
  std::uint64_t missing = 0;  // messages under way; the transport counts
  // Strings are made from their text, which therefore arrives in a place of its own.
  struct Text {
    std::size_t value;
    std::vector<std::byte> text;
  };
  std::vector<Text> texts;

  void finish();
};
struct InPiece {
  std::byte* data;
  std::uint64_t size;
};

// The size of the record that begins the stream, 0 when even its head is not complete.
std::uint64_t record_size(std::span<const std::byte> stream);
// read parses one whole record into `in` (fresh) and appends the pieces to be received; their
// addresses are stable while `in` lives, also when `in` is moved.
void read_record(std::span<const std::byte> record, Incoming& in, std::vector<InPiece>& pieces);

}  // namespace tessera::runtime::wire
