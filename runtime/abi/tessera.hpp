// The modern interface of kernels; ucenv.h is the old one, and both may be used side by side. A
// kernel is an extern "C" function; a parameter of the .fa program arrives as
//
//     int -> int    long -> long    real -> double    string -> const char *
//     value -> const tessera::Input &        name -> tessera::Output &
//
//     extern "C" void scale(double k, const tessera::Input &x, tessera::Output &y) {
//       const std::span<const double> in = x.span<double>();
//       const std::span<double> out = y.create<double>(in.size());
//       for (std::size_t i = 0; i < in.size(); ++i) out[i] = k * in[i];
//     }
//
// Inputs can't be written, outputs can't be read and are assigned once. Views (spans, references,
// string_views) are the value's own memory, no copies; they end with the kernel. What is wrong is
// thrown, and ends the program with the message, the fragment and its line.
//
// What travels: int, long, real, string, trivially copyable structs and arrays of them as their bytes;
// other types through a Codec, of which <tessera/cereal.hpp> has one for all that cereal can
// serialise.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tessera/decoded.hpp"
#include "tessera/df.hpp"
#include "tessera/durable.hpp"
#include "tessera/kernel_error.hpp"

namespace tessera {

// Codec<T>: how a T that is not trivially copyable becomes bytes. A specialisation has
//     static std::string encode(const T&);
//     static T decode(std::span<const std::byte>);    throws when these are no T
template <class T, class = void>
struct Codec;

namespace detail {

// type_text is T as a person writes it: "double", "Particle".
template <class T>
std::string type_text() {
  const std::string_view all = __PRETTY_FUNCTION__;  // ...[with T = Particle; ...] or ...[T = Particle]
  const std::size_t from = all.find("T = ") + 4;
  return std::string(all.substr(from, all.find_first_of(";]", from) - from));
}

template <class T>
struct IsView : std::is_pointer<T> {};
template <class T, std::size_t N>
struct IsView<std::span<T, N>> : std::true_type {};
template <class C>
struct IsView<std::basic_string_view<C>> : std::true_type {};

template <class T>
concept Text = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;
// A type whose bytes are all there is to it.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !IsView<T>::value && alignof(T) <= 64;
template <class T>
concept Coded = requires(const T& v) {
  Codec<T>::encode(v);
};

// What reads a value of this type.
inline const char* reader_of(abi::Type t) {
  switch (t) {
    case abi::Type::integer:
      return "get<int>()";
    case abi::Type::longint:
      return "get<long>()";
    case abi::Type::real:
      return "get<double>()";
    case abi::Type::string:
      return "get<std::string>()";
    default:
      return "span<T>() or get<T>() of the T that was assigned";
  }
}
[[noreturn]] inline void throw_read(const char* label, abi::Type found, const std::string& wanted) {
  throw KernelError(shown(label) + " holds " + type_name(found) + ", but is read as " + wanted + "; it is read by " +
                    reader_of(found));
}
[[noreturn]] inline void throw_size(const char* label, std::size_t found, const std::string& wanted, std::size_t size) {
  throw KernelError(shown(label) + " holds " + std::to_string(found) + " bytes, but is read as " + wanted + " of " +
                    std::to_string(size) + " bytes");
}

}  // namespace detail

// Input: the value of a data fragment, to be read. The runtime passes it, by reference.
class Input : private DF {
 public:
  explicit Input(const DF& v) : DF(v) {}  // for tests of kernels
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // get returns the value as T, which must be what was assigned: an integer type that holds it for an int or a long,
  // double or float for a real, std::string or std::string_view for a string; `const T&`, the value's own memory, for a
  // trivially copyable struct; else what Codec<T> decodes: once for a value on a rank, whoever reads it, so it is a
  // `const T&`, too, or a T where that can't be copied.
  template <class T>
  decltype(auto) get() const {
    if constexpr (std::is_integral_v<T>) {
      const bool is_long = type() == abi::Type::longint;
      const std::int64_t v = is_long ? value->l : read(abi::Type::integer, detail::type_text<T>()).i;
      if (static_cast<std::int64_t>(static_cast<T>(v)) != v || (v < 0 && std::is_unsigned_v<T>)) {
        throw KernelError(detail::shown(label) + " holds " + std::to_string(v) + ", which is no `" +
                          detail::type_text<T>() + "`");
      }
      return static_cast<T>(v);
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(read(abi::Type::real, detail::type_text<T>()).r);
    } else if constexpr (detail::Text<T>) {
      const abi::Value& v = read(abi::Type::string, "a string");
      return T(static_cast<const char*>(v.data), v.size);
    } else if constexpr (detail::Plain<T>) {
      const abi::Value& v = read(abi::Type::bytes, detail::type_text<T>());
      if (v.size != sizeof(T)) detail::throw_size(label, v.size, "one " + detail::type_text<T>(), sizeof(T));
      return static_cast<const T&>(*static_cast<const T*>(v.data));
    } else {
      static_assert(detail::Coded<T>,
                    "this type is not trivially copyable: include <tessera/cereal.hpp> (and give it a "
                    "serialize function), or specialise tessera::Codec");
      if constexpr (std::is_copy_constructible_v<T>) {
        return kept<T>();
      } else {
        return decoded<T>();
      }
    }
  }

  // span returns the elements of an array of T.
  template <class T>
  std::span<const T> span() const {
    static_assert(detail::Plain<T>, "an array travels as bytes: T must be trivially copyable, and no pointer or view");
    const abi::Value& v = read(abi::Type::bytes, "an array of " + detail::type_text<T>());
    if (v.size % sizeof(T) != 0) {
      detail::throw_size(label, v.size, "an array of " + detail::type_text<T>(), sizeof(T));
    }
    return {static_cast<const T*>(v.data), v.size / sizeof(T)};
  }

  std::span<const std::byte> bytes() const {
    const abi::Value& v = read(abi::Type::bytes, "bytes");
    return {static_cast<const std::byte*>(v.data), v.size};
  }

  abi::Type type() const { return value == nullptr ? abi::Type::none : value->type; }
  std::string name() const { return getName(); }
  // The same fragment for functions of the old interface.
  const DF& df() const { return *this; }

 private:
  const abi::Value& read(abi::Type wanted, const std::string& as) const {
    if (value == nullptr) detail::throw_unset(label, "read");
    if (value->type != wanted) detail::throw_read(label, value->type, as);
    return *value;
  }
  template <class T>
  struct Kept : abi::Decoded {
    explicit Kept(const Input& x) : object(x.decoded<T>()) { type = &of_type; }
    static inline const char of_type = 0;
    const T object;
  };
  template <class T>
  const T& kept() const {
    const abi::Value& v = read(abi::Type::bytes, detail::type_text<T>());
    const abi::Decoded* d = abi::value_decoded(&v, &Kept<T>::of_type);
    if (d == nullptr) d = abi::value_keep(&v, new Kept<T>(*this));
    return static_cast<const Kept<T>*>(d)->object;
  }
  template <class T>
  T decoded() const {
    const std::span<const std::byte> data = bytes();
    try {
      return Codec<T>::decode(data);
    } catch (const std::exception& e) {
      throw KernelError(detail::shown(label) + " holds " + std::to_string(data.size()) + " bytes that are no `" +
                        detail::type_text<T>() + "`: " + e.what());
    }
  }
};

// Output: a data fragment that the kernel assigns, once. The runtime passes it, by reference.
class Output : private DF {
 public:
  Output() = default;  // for tests of kernels
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Assigning gives the value: signed integers of 64 bits are a long, other integers an int (32 bits, more is an
  // error), floating point a real, texts a string, trivially copyable structs their bytes, other types what Codec<T>
  // encodes.
  template <class T>
  Output& operator=(const T& v) {
    set(v);
    return *this;
  }
  template <class T>
  void set(const T& v) {
    once();
    if constexpr (std::is_arithmetic_v<T>) {
      setValue(v);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = v;
      setValue(std::string(text));
    } else if constexpr (detail::Plain<T>) {
      *DF::create<T>(1) = v;
    } else {
      static_assert(detail::Coded<T>,
                    "this type is not trivially copyable: include <tessera/cereal.hpp> (and give it a "
                    "serialize function), or specialise tessera::Codec");
      const std::string data = Codec<T>::encode(v);
      void* bytes = DF::create(data.size());
      if (!data.empty()) std::memcpy(bytes, data.data(), data.size());
    }
  }

  // create<T>() is one T, create<T>(n) an array of them, in place in the value: all bytes zero, to
  // be filled before the kernel returns.
  template <class T>
  T& create() {
    return create<T>(1).front();
  }
  template <class T>
  std::span<T> create(std::size_t n) {
    static_assert(detail::Plain<T>, "an array travels as bytes: T must be trivially copyable, and no pointer or view");
    once();
    return {DF::create<T>(n), n};
  }
  template <class T>
  std::span<T> create(std::size_t n, const T& initial) {
    const std::span<T> all = create<T>(n);
    for (T& element : all) element = initial;
    return all;
  }

  // share gives it the value of an input; no bytes are copied.
  void share(const Input& x) {
    once();
    copy(x.df());
  }

  bool assigned() const { return value != nullptr; }
  std::string name() const { return getName(); }
  // The same fragment for functions of the old interface.
  DF& df() { return *this; }

 private:
  void once() const {
    if (value != nullptr) throw KernelError(detail::shown(label) + " is assigned a second time by this kernel");
  }
};

static_assert(sizeof(Input) == sizeof(abi::Df) && std::is_standard_layout_v<Input>);
static_assert(sizeof(Output) == sizeof(abi::Df) && std::is_standard_layout_v<Output>);

}  // namespace tessera
