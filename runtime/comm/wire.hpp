// WireWriter/WireReader: cereal archives that write plain bytes to a vector. All ranks run the same
// binary on the same kind of machine, so numbers travel as they lie in memory.
#pragma once

#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace tessera::runtime {

class WireWriter : public cereal::OutputArchive<WireWriter, cereal::AllowEmptyClassElision> {
 public:
  explicit WireWriter(std::vector<std::byte>& out) : OutputArchive(this), out_(out) {}
  void bytes(const void* from, std::size_t n) {
    const auto* p = static_cast<const std::byte*>(from);
    out_.insert(out_.end(), p, p + n);
  }

 private:
  std::vector<std::byte>& out_;
};

class WireReader : public cereal::InputArchive<WireReader, cereal::AllowEmptyClassElision> {
 public:
  WireReader(const std::byte* data, std::size_t size) : InputArchive(this), at_(data), end_(data + size) {}
  void bytes(void* to, std::size_t n) {
    if (static_cast<std::size_t>(end_ - at_) < n) throw std::runtime_error("message too short");
    if (n == 0) return;  // `to` may be null, which memcpy forbids even then
    std::memcpy(to, at_, n);
    at_ += n;
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
};

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(WireWriter& a, const T& t) { a.bytes(&t, sizeof t); }
template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(WireReader& a, T& t) { a.bytes(&t, sizeof t); }
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(WireWriter& a, cereal::NameValuePair<T>& t) {
  a(t.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(WireReader& a, cereal::NameValuePair<T>& t) {
  a(t.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(WireWriter& a, cereal::SizeTag<T>& t) {
  a(t.size);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(WireReader& a, cereal::SizeTag<T>& t) {
  a(t.size);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(WireWriter& a, const cereal::BinaryData<T>& b) {
  a.bytes(b.data, static_cast<std::size_t>(b.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(WireReader& a, cereal::BinaryData<T>& b) {
  a.bytes(b.data, static_cast<std::size_t>(b.size));
}

}  // namespace tessera::runtime

CEREAL_REGISTER_ARCHIVE(tessera::runtime::WireWriter)
CEREAL_REGISTER_ARCHIVE(tessera::runtime::WireReader)
CEREAL_SETUP_ARCHIVE_TRAITS(tessera::runtime::WireReader, tessera::runtime::WireWriter)
