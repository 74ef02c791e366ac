// Archives that write a policy's messages to JSON and read them back, by the same `serialize`
// functions that put them on the wire (comm/fields.hpp): a new message needs nothing here.
//
// A struct is the array of its members, a variant [index, value], an enum its number. Numbers come
// back exactly as they were; infinities and NaN, which JSON lacks, are strings.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::runtime {

using Json = nlohmann::json;

class JsonWriter {
 public:
  template <class... T>
  void operator()(const T&... x) {
    (members_.push_back(text_of(x)), ...);
  }
  Json take() { return std::move(members_); }

  template <class T>
  static Json text_of(const T& x) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<std::underlying_type_t<T>>(x);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isfinite(x)) return x;
      return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return x;
    } else {
      JsonWriter w;
      w.members_ = Json::array();
      w.structure(x);
      return w.take();
    }
  }

 private:
  template <class T>
  void structure(const T& x) {
    serialize(*this, const_cast<T&>(x));  // one function reads and writes
  }
  template <class T>
  void structure(const std::vector<T>& x) {
    for (const auto& one : x) (*this)(static_cast<const T&>(one));
  }
  template <class... T>
  void structure(const std::variant<T...>& x) {
    (*this)(x.index());
    std::visit([this](const auto& one) { (*this)(one); }, x);
  }
  Json members_ = Json::array();
};

// Throws std::exception for what was not written by a JsonWriter of the same types.
class JsonReader {
 public:
  explicit JsonReader(const Json& members) : members_(members) {
    if (!members.is_array()) throw std::runtime_error("a list is missing");
  }

  template <class... T>
  void operator()(T&... x) {
    (read(next(), x), ...);
  }

  template <class T>
  static void read(const Json& from, T& x) {
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      read(from, number);
      x = static_cast<T>(number);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (from == "nan") {
        x = std::numeric_limits<T>::quiet_NaN();
      } else if (from == "inf" || from == "-inf") {
        x = from == "inf" ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
      } else {
        x = from.get<T>();
      }
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      from.get_to(x);
    } else if constexpr (std::is_integral_v<T>) {
      // get() would cut what does not fit.
      const bool fits = from.is_number_unsigned()
                            ? std::in_range<T>(from.get<std::uint64_t>())
                            : from.is_number_integer() && std::in_range<T>(from.get<std::int64_t>());
      if (!fits) throw std::runtime_error("a number is out of range: " + from.dump());
      x = from.get<T>();
    } else {
      JsonReader reader(from);
      reader.structure(x);
      if (reader.at_ != from.size()) throw std::runtime_error("a list is too long");
    }
  }

 private:
  const Json& next() {
    if (at_ == members_.size()) throw std::runtime_error("a list is too short");
    return members_[at_++];
  }
  template <class T>
  void structure(T& x) {
    serialize(*this, x);
  }
  template <class T>
  void structure(std::vector<T>& x) {
    x.clear();
    while (at_ != members_.size()) {
      T one{};
      (*this)(one);
      x.push_back(std::move(one));
    }
  }
  template <class... T>
  void structure(std::variant<T...>& x) {
    std::size_t index = 0;
    (*this)(index);
    if (!alternative<0>(index, x)) throw std::runtime_error("a kind that is not known");
  }
  template <std::size_t I, class V>
  bool alternative(std::size_t index, V& x) {
    if constexpr (I < std::variant_size_v<V>) {
      if (index != I) return alternative<I + 1>(index, x);
      (*this)(x.template emplace<I>());
      return true;
    } else {
      return false;
    }
  }

  const Json& members_;
  std::size_t at_ = 0;
};

}  // namespace tessera::runtime
