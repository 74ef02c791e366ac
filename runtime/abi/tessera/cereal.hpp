// User types in data fragments through cereal (Debian: libcereal-dev), for kernels of the modern
// interface. Whatever cereal can write and read again travels:
//
//     struct Mesh {
//       std::vector<double> x;
//       std::string name;
//       template <class A> void serialize(A &a) { a(x, name); }
//     };
//     extern "C" void refine(const tessera::Input &in, tessera::Output &out) {
//       Mesh mesh = in.get<Mesh>();
//       ...
//       out = mesh;
//     }
//
// Containers other than vector and string: include <cereal/types/map.hpp> and so on.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <streambuf>

#include "tessera.hpp"

namespace tessera {
namespace detail {

// A stream buffer on bytes that are there, and one that collects.
struct ByteReader : std::streambuf {
  explicit ByteReader(std::span<const std::byte> data) {
    char* from = const_cast<char*>(reinterpret_cast<const char*>(data.data()));  // only read
    setg(from, from, from + data.size());
  }
  std::size_t left() const { return static_cast<std::size_t>(egptr() - gptr()); }
};
struct ByteCollector : std::streambuf {
  std::string bytes;
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    bytes.append(text, static_cast<std::size_t>(n));
    return n;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) bytes.push_back(static_cast<char>(c));
    return 0;
  }
};

}  // namespace detail

template <class T>
struct Codec<T, std::enable_if_t<cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
                                 cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value>> {
  static std::string encode(const T& v) {
    detail::ByteCollector buffer;
    std::ostream stream(&buffer);
    cereal::BinaryOutputArchive archive(stream);
    archive(v);
    return std::move(buffer.bytes);
  }
  static T decode(std::span<const std::byte> data) {
    detail::ByteReader buffer(data);
    std::istream stream(&buffer);
    cereal::BinaryInputArchive archive(stream);
    T v{};
    archive(v);
    if (buffer.left() != 0) throw std::runtime_error(std::to_string(buffer.left()) + " of them are left over");
    return v;
  }
};

}  // namespace tessera
