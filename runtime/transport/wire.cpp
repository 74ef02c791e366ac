#include "runtime/transport/wire.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/memory/value.hpp"

namespace tessera::runtime::wire {

RecordWriter::RecordWriter(Outgoing& out, const Limits& limits) : out_(out) {
  const Parcel& parcel = out.parcel;
  head_.control = out.control;
  head_.parcel_bytes = parcel.bytes.size();
  head_.bytes_beside = parcel.bytes.size() > kLargestBytes;
  head_.values = static_cast<std::uint32_t>(parcel.values.size());
  head_.record_bytes =
      sizeof(Head) + parcel.values.size() * sizeof(std::uint64_t) + (head_.bytes_beside ? 0 : parcel.bytes.size());
  descriptors_.reserve(parcel.values.size());
  std::uint64_t inside = 0;
  for (const ValueRef& v : parcel.values) {
    if (!v || (v.get()->type != abi::Type::bytes && v.get()->type != abi::Type::string)) {
      throw std::logic_error("transport: a parcel's values are of type bytes or string");
    }
    const std::uint64_t size = v.get()->size;
    const bool beside = size > limits.value || inside + size > limits.values;
    if (!beside) inside += size;
    descriptors_.push_back((size << 8) | (beside ? kBeside : 0) | static_cast<std::uint64_t>(v.get()->type));
  }
  head_.record_bytes += inside;
}

std::uint64_t record_size(std::span<const std::byte> stream) {
  if (stream.size() < sizeof(Head)) return 0;
  Head head;
  std::memcpy(&head, stream.data(), sizeof head);
  return head.record_bytes;
}

void read_record(std::span<const std::byte> record, Incoming& in, std::vector<InPiece>& pieces) {
  Head head;
  std::memcpy(&head, record.data(), sizeof head);
  const std::byte* descriptors = record.data() + sizeof head;
  const std::byte* at = descriptors + std::size_t{head.values} * sizeof(std::uint64_t);

  in.control = head.control;
  if (head.bytes_beside != 0) {
    in.parcel.bytes.resize(head.parcel_bytes);
    pieces.push_back({in.parcel.bytes.data(), head.parcel_bytes});
  } else {
    in.parcel.bytes.assign(at, at + head.parcel_bytes);
    at += head.parcel_bytes;
  }
  in.parcel.values.reserve(head.values);
  for (std::size_t i = 0; i < head.values; ++i) {
    std::uint64_t descriptor;
    std::memcpy(&descriptor, descriptors + i * sizeof descriptor, sizeof descriptor);
    const std::uint64_t size = descriptor >> 8;
    const bool beside = (descriptor & RecordWriter::kBeside) != 0;
    const auto type = static_cast<abi::Type>(descriptor & 0x7F);
    if (type == abi::Type::string) {
      if (beside) {
        in.texts.push_back({i, std::vector<std::byte>(size)});
        pieces.push_back({in.texts.back().text.data(), size});
        in.parcel.values.emplace_back();
      } else {
        in.parcel.values.emplace_back(abi::value_string(reinterpret_cast<const char*>(at), size));
      }
    } else {
      ValueRef value(value_to_fill(size));
      auto* data = static_cast<std::byte*>(value.get()->data);
      if (beside) {
        pieces.push_back({data, size});
      } else if (size > 0) {
        std::memcpy(data, at, size);
      }
      in.parcel.values.push_back(std::move(value));
    }
    if (!beside) at += size;
  }
}

void Incoming::finish() {
  for (Text& t : texts) {
    parcel.values[t.value] = ValueRef(abi::value_string(reinterpret_cast<const char*>(t.text.data()), t.text.size()));
  }
  texts.clear();
}

}  // namespace tessera::runtime::wire
