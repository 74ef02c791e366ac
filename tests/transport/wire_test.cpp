#include "runtime/transport/wire.hpp"

#include <gtest/gtest.h>

#include <string>

#include "test_values.hpp"

namespace tessera::runtime::wire {
namespace {

struct Written {
  std::vector<std::byte> stream;
  std::vector<OutPiece> pieces;
};

Written write(Outgoing out) {
  Written w;
  RecordWriter record(out, {});
  record.write([&](const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    w.stream.insert(w.stream.end(), bytes, bytes + size);
  });
  record.pieces([&](OutPiece&& piece) { w.pieces.push_back(std::move(piece)); });
  return w;
}

Incoming read(const Written& w) {
  EXPECT_EQ(record_size(w.stream), w.stream.size());
  Incoming in;
  std::vector<InPiece> pieces;
  read_record(w.stream, in, pieces);
  EXPECT_EQ(pieces.size(), w.pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].size, w.pieces[i].size);
    std::memcpy(pieces[i].data, w.pieces[i].data, pieces[i].size);
  }
  in.finish();
  return in;
}

std::string text(const abi::Value* v) { return {static_cast<const char*>(v->data), v->size}; }

TEST(Wire, AControlIsJustAHead) {
  const Written w = write({Rank{1}, Control::marker, {}});
  EXPECT_EQ(w.stream.size(), sizeof(Head));
  EXPECT_TRUE(w.pieces.empty());
  EXPECT_EQ(read(w).control, Control::marker);
}

TEST(Wire, SmallThingsTravelInTheRecord) {
  Outgoing out;
  out.parcel.bytes.assign(5, std::byte{42});
  out.parcel.values.emplace_back(abi::value_string("hello", 5));
  out.parcel.values.emplace_back(abi::value_bytes(0));
  out.parcel.values.emplace_back(abi::value_bytes(Limits{}.value));
  const Written w = write(std::move(out));
  EXPECT_EQ(w.stream.size(), sizeof(Head) + 3 * 8 + 5 + 5 + Limits{}.value);
  EXPECT_TRUE(w.pieces.empty());
  const Incoming in = read(w);
  EXPECT_EQ(in.parcel.bytes.size(), 5u);
  EXPECT_EQ(in.parcel.values[0].get()->type, abi::Type::string);
  EXPECT_EQ(text(in.parcel.values[0].get()), "hello");
  EXPECT_EQ(in.parcel.values[1].get()->size, 0u);
  EXPECT_EQ(in.parcel.values[2].get()->size, Limits{}.value);
}

TEST(Wire, LargeThingsTravelBesideItWithoutACopy) {
  Outgoing out;
  out.parcel.bytes.assign(kLargestBytes + 1, std::byte{7});
  out.parcel.values.emplace_back(abi::value_bytes(Limits{}.value + 1));
  out.parcel.values.emplace_back(abi::value_string("in", 2));
  out.parcel.values.emplace_back(abi::value_string(std::string(5000, 'x').c_str(), 5000));
  const void* data = out.parcel.values[0].get()->data;
  const Written w = write(std::move(out));
  ASSERT_EQ(w.pieces.size(), 3u);
  EXPECT_EQ(w.pieces[1].data, data);
  EXPECT_EQ(w.stream.size(), sizeof(Head) + 3 * 8 + 2);
  const Incoming in = read(w);
  EXPECT_EQ(in.parcel.bytes, std::vector<std::byte>(kLargestBytes + 1, std::byte{7}));
  EXPECT_EQ(text(in.parcel.values[1].get()), "in");
  EXPECT_EQ(text(in.parcel.values[2].get()), std::string(5000, 'x'));
}

TEST(Wire, ManySmallValuesDoNotBloatTheRecord) {
  Outgoing out;
  for (int i = 0; i < 100; ++i) out.parcel.values.emplace_back(abi::value_bytes(1000));
  const Written w = write(std::move(out));
  EXPECT_EQ(w.pieces.size(), 100u - Limits{}.values / 1000);
  EXPECT_EQ(read(w).parcel.values.size(), 100u);
}

TEST(Wire, AnIncompleteHeadHasNoSize) {
  const Written w = write({Rank{1}, Control::marker, {}});
  EXPECT_EQ(record_size(std::span(w.stream).first(w.stream.size() - 1)), 0u);
}

TEST(Wire, OnlyBytesAndStringsAreValues) {
  Outgoing out;
  out.parcel.values.emplace_back();
  EXPECT_THROW((RecordWriter{out, {}}), std::logic_error);
}

}  // namespace
}  // namespace tessera::runtime::wire
