// WireWriter/WireReader: archives that write plain bytes to a vector. All ranks run the same binary on the same kind of
// machine, so numbers travel as they lie in memory: those of a list in one piece, behind their count. A variant is
// the number of what it holds, then that. What else there is has a `serialize` (plain structs: fields.hpp).
//
// Not cereal's: with those the compiler spent more time in choosing among their overloads than in all the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace tessera::runtime {

class WireWriter {
 public:
  explicit WireWriter(std::vector<std::byte>& out) : out_(out) {}

  template <class... T>
  void operator()(const T&... x) {
    (put(x), ...);
  }

 private:
  void bytes(const void* from, std::size_t n) {
    const auto* p = static_cast<const std::byte*>(from);
    out_.insert(out_.end(), p, p + n);
  }
  template <class T>
  void put(const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes(&x, sizeof x);
    } else {
      serialize(*this, const_cast<T&>(x));  // one function writes and reads
    }
  }
  template <class T>
  void several(const T& x) {
    put(static_cast<std::uint64_t>(x.size()));
    if constexpr (std::is_arithmetic_v<typename T::value_type>) {
      bytes(x.data(), x.size() * sizeof *x.data());
    } else {
      for (const auto& one : x) put(one);
    }
  }
  void put(const std::string& x) { several(x); }
  template <class T>
  void put(const std::vector<T>& x) {
    several(x);
  }
  template <class... T>
  void put(const std::variant<T...>& x) {
    put(static_cast<std::int32_t>(x.index()));
    std::visit([this](const auto& one) { this->put(one); }, x);
  }

  std::vector<std::byte>& out_;
};

// Throws for what is shorter than it says.
class WireReader {
 public:
  WireReader(const std::byte* data, std::size_t size) : at_(data), end_(data + size) {}

  template <class... T>
  void operator()(T&... x) {
    (get(x), ...);
  }

 private:
  void bytes(void* to, std::size_t n) {
    need(n);
    if (n == 0) return;  // `to` may be null, which memcpy forbids even then
    std::memcpy(to, at_, n);
    at_ += n;
  }
  void need(std::size_t n) const {
    if (static_cast<std::size_t>(end_ - at_) < n) throw std::runtime_error("message too short");
  }
  template <class T>
  void get(T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes(&x, sizeof x);
    } else {
      serialize(*this, x);
    }
  }
  template <class T>
  void several(T& x) {
    std::uint64_t count = 0;
    get(count);
    need(count);  // each takes a byte or more: no room is made for what can't be there
    if constexpr (std::is_arithmetic_v<typename T::value_type>) {
      need(count * sizeof *x.data());
      x.resize(count);
      bytes(x.data(), count * sizeof *x.data());
    } else {
      x.resize(count);
      for (auto& one : x) get(one);
    }
  }
  void get(std::string& x) { several(x); }
  template <class T>
  void get(std::vector<T>& x) {
    several(x);
  }
  template <class... T>
  void get(std::variant<T...>& x) {
    std::int32_t held = 0;
    get(held);
    std::int32_t number = 0;
    if (!((number++ == held && (get(x.template emplace<T>()), true)) || ...))
      throw std::runtime_error("a kind that is not known");
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace tessera::runtime
