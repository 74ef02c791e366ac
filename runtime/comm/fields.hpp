// The members of a plain struct, in the order in which it declares them. A message is declared once, as a struct: this
// is how it comes onto the wire, into a policy's log, and back.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tessera::runtime {

struct Passenger;

// What is written and read member by member.
template <class T>
concept Fields = std::is_aggregate_v<T> && std::is_class_v<T> && !std::is_same_v<T, Passenger>;

namespace fields_detail {

constexpr std::size_t kMost = 24;

struct Any {
  std::size_t number;
  template <class T>
  operator T() const;  // NOLINT: of any type, never defined
};

template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{Any{I}...}; };
}

// How many: so many initialisers it takes, and not one more. By halves, since each question takes the compiler long.
template <class T, std::size_t Low = 0, std::size_t High = kMost>
constexpr std::size_t count() {
  constexpr std::size_t kMiddle = (Low + High + 1) / 2;
  if constexpr (Low == High) {
    return Low;
  } else if constexpr (takes<T>(std::make_index_sequence<kMiddle>{})) {
    return count<T, kMiddle, High>();
  } else {
    return count<T, Low, kMiddle - 1>();
  }
}

}  // namespace fields_detail

// f(member...): all of them at once.
template <class T, class F>
constexpr decltype(auto) with_fields(T& x, F&& f) {
  constexpr std::size_t n = fields_detail::count<std::remove_const_t<T>>();
  static_assert(n < fields_detail::kMost, "more members than fields.hpp knows of");
  // clang-format off
  if constexpr (n == 0) { return f(); }
  else if constexpr (n == 1) { auto& [a] = x; return f(a); }
  else if constexpr (n == 2) { auto& [a, b] = x; return f(a, b); }
  else if constexpr (n == 3) { auto& [a, b, c] = x; return f(a, b, c); }
  else if constexpr (n == 4) { auto& [a, b, c, d] = x; return f(a, b, c, d); }
  else if constexpr (n == 5) { auto& [a, b, c, d, e] = x; return f(a, b, c, d, e); }
  else if constexpr (n == 6) { auto& [a, b, c, d, e, g] = x; return f(a, b, c, d, e, g); }
  else if constexpr (n == 7) { auto& [a, b, c, d, e, g, h] = x; return f(a, b, c, d, e, g, h); }
  else if constexpr (n == 8) { auto& [a, b, c, d, e, g, h, i] = x; return f(a, b, c, d, e, g, h, i); }
  else if constexpr (n <= 23) {
    static_assert(n == 23, "write down how structs of so many members come apart");
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w, y, z] = x;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w, y, z);
  } else {
    static_assert(n <= 23, "write down how structs of so many members come apart");
  }
  // clang-format on
}

// For archives of this namespace (the wire's, JSON's), both ways.
template <class Archive, Fields T>
void serialize(Archive& a, T& x) {
  with_fields(x, [&a](auto&... member) {
    if constexpr (sizeof...(member) != 0) a(member...);
  });
}

}  // namespace tessera::runtime
