// DF: a data fragment in the hands of a kernel, input or output.
//
// It has exactly the layout of abi::Df, because the runtime passes those by reference. The value it
// holds is immutable and shared: copying a DF shares the value, never the bytes. A pointer to write
// through comes from create(), or from getData() of a non-const DF, which takes a private copy of
// the bytes first when anyone else can see them; so take inputs as `const InputDF &`.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "tessera/abi.hpp"
#include "tessera/kernel_error.hpp"

namespace tessera {

class DF : public abi::Df {
  template <class T>
  static constexpr bool kWhole = std::is_integral_v<T>;
  template <class T>
  static constexpr bool kLong = kWhole<T>&& std::is_signed_v<T> && sizeof(T) == sizeof(std::int64_t);

 public:
  DF() = default;
  DF(const DF& o) : abi::Df{abi::retain(o.value), o.label} {}
  DF(DF&& o) noexcept : abi::Df{o.value, o.label} { o.value = nullptr; }
  ~DF() { abi::release(value); }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  DF(T v) {
    setValue(v);
  }
  DF(const std::string& v) { setValue(v); }
  DF(const char* v) { setValue(v); }

  // Assigning another DF shares its value and keeps this one's name.
  DF& operator=(const DF& o) {
    take(abi::retain(o.value));
    return *this;
  }
  DF& operator=(DF&& o) noexcept {
    if (this != &o) {
      take(o.value);
      o.value = nullptr;
    }
    return *this;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  DF& operator=(T v) {
    setValue(v);
    return *this;
  }
  DF& operator=(const std::string& v) {
    setValue(v);
    return *this;
  }
  DF& operator=(const char* v) {
    setValue(v);
    return *this;
  }
  void copy(const DF& other) { *this = other; }

  // ---- assigning: signed whole numbers of 64 bits are a long, other whole numbers an int (32 bits, more is an error),
  // others a real.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  void setValue(const T& v) {
    if constexpr (kLong<T>) {
      take(abi::value_long(v));
    } else if constexpr (kWhole<T>) {
      const auto narrow = static_cast<std::int32_t>(v);
      if (static_cast<T>(narrow) != v || (narrow < 0) != (v < T{})) {
        throw KernelError(std::to_string(v) + " does not fit the int that " + detail::shown(label) +
                          " would hold (32 bits)");
      }
      take(abi::value_int(narrow));
    } else {
      take(abi::value_real(static_cast<double>(v)));
    }
  }
  void setValue(const std::string& v) { take(abi::value_string(v.data(), v.size())); }
  void setValue(const char* v) {
    if (v == nullptr) throw KernelError("a null `const char *` is assigned to " + detail::shown(label));
    take(abi::value_string(v, std::strlen(v)));
  }
  template <class T>
  void setValue(const T& v, std::enable_if_t<std::is_same_v<T, std::string>>* = nullptr) {
    take(abi::value_string(v.data(), v.size()));
  }

  // ---- reading with the type it has; another type is an error. An int and a long are read as each other if they fit.
  int get_int() const {
    const std::int64_t v = whole("get_int", "an int");
    if (v != static_cast<std::int32_t>(v)) {
      throw KernelError(detail::shown(label) + " holds " + std::to_string(v) +
                        ", which does not fit an int (32 bits); get_long() reads it");
    }
    return static_cast<int>(v);
  }
  std::int64_t get_long() const { return whole("get_long", "a long"); }
  double get_real() const { return typed(abi::Type::real, "get_real", "a real").r; }
  std::string get_string() const {
    const abi::Value& v = typed(abi::Type::string, "get_string", "a string");
    return std::string(static_cast<const char*>(v.data), v.size);
  }
  template <class T>
  T getValue() const {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::string>,
                  "getValue<T>() reads int, long, double or std::string; bytes are read by getData<T>()");
    if constexpr (std::is_same_v<T, std::string>) {
      return get_string();
    } else if constexpr (kWhole<T>) {
      return static_cast<T>(sizeof(T) == sizeof(std::int64_t) ? get_long() : get_int());
    } else {
      return static_cast<T>(get_real());
    }
  }

  // ---- reading with conversion between int, long, real and string
  int cast_int() const { return abi::cast_int(scalar("cast_int", "an int"), 0); }
  std::int64_t cast_long() const { return abi::cast_long(scalar("cast_long", "a long"), 0); }
  double cast_real() const { return abi::cast_real(scalar("cast_real", "a real"), 0); }
  std::string cast_string() const {
    const abi::Dyn s = abi::cast_string(scalar("cast_string", "a string"), 0);
    return std::string(static_cast<const char*>(s.s->data), s.s->size);
  }

  // ---- bytes: zeroed and 64-byte aligned
  void* create(std::size_t bytes) {
    if (bytes > kMostBytes) throw_size(bytes, "bytes");
    take(abi::value_bytes(bytes));
    return value->data;
  }
  template <class T>
  T* create(std::size_t count = 1) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "a value travels between ranks as bytes: T must be trivially copyable");
    static_assert(alignof(T) <= 64, "values are aligned to 64 bytes");
    if (count > kMostBytes / sizeof(T)) throw_size(count, "elements");
    return static_cast<T*>(create(count * sizeof(T)));
  }
  template <class T>
  T* create(std::size_t count, const T& initial) {
    T* data = create<T>(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = initial;
    return data;
  }

  const void* get_data() const { return payload("get_data"); }
  void* get_data() {
    own("get_data");
    return const_cast<void*>(payload("get_data"));
  }
  template <class T>
  const T* getData() const {
    return static_cast<const T*>(payload("getData"));
  }
  template <class T>
  T* getData() {
    return static_cast<T*>(get_data());
  }
  // Bytes of the value: 4 for an int, 8 for a long or a real, the length of a string.
  std::size_t getSize() const {
    if (value == nullptr) detail::throw_unset(label, "getSize");
    if (value->type == abi::Type::integer) return sizeof(std::int32_t);
    if (value->type == abi::Type::longint) return sizeof(std::int64_t);
    return value->type == abi::Type::real ? sizeof(double) : value->size;
  }
  std::size_t get_size() const { return getSize(); }

  // ---- for messages
  std::string getName() const { return label == nullptr ? "" : label; }
  void setName(const std::string& name) { label = detail::kept(name); }
  std::string to_string() const {
    const std::string name = getName();
    return (name.empty() ? "" : name + " = ") + shown_value();
  }
  bool is_set() const { return value != nullptr; }
  bool is_unset() const { return value == nullptr; }

  // ---- arithmetic as in the .fa language
  friend DF operator+(const DF& a, const DF& b) { return a.operation(abi::Op::add, b); }
  friend DF operator-(const DF& a, const DF& b) { return a.operation(abi::Op::sub, b); }
  friend DF operator*(const DF& a, const DF& b) { return a.operation(abi::Op::mul, b); }
  friend DF operator/(const DF& a, const DF& b) { return a.operation(abi::Op::div, b); }
  friend DF operator%(const DF& a, const DF& b) { return a.operation(abi::Op::mod, b); }
  friend bool operator<(const DF& a, const DF& b) { return a.truth(abi::Op::lt, b); }
  friend bool operator<=(const DF& a, const DF& b) { return a.truth(abi::Op::le, b); }
  friend bool operator==(const DF& a, const DF& b) { return a.truth(abi::Op::eq, b); }
  friend bool operator!=(const DF& a, const DF& b) { return a.truth(abi::Op::ne, b); }
  friend bool operator>=(const DF& a, const DF& b) { return a.truth(abi::Op::ge, b); }
  friend bool operator>(const DF& a, const DF& b) { return a.truth(abi::Op::gt, b); }
  friend bool operator&&(const DF& a, const DF& b) { return a.truth(abi::Op::land, b); }

 private:
  // What a processor can address. A negative number, as a size_t, is more.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 47;
  [[noreturn]] void throw_size(std::size_t count, const char* unit) const {
    const auto negative = static_cast<std::ptrdiff_t>(count);
    throw KernelError("create: " + (negative < 0 ? std::to_string(negative) : std::to_string(count)) + " " + unit +
                      " for " + detail::shown(label) +
                      (negative < 0 ? ": a size is not negative" : " are more than memory can have"));
  }
  // Takes over one reference of v; the old value goes last, for v may live in it.
  void take(abi::Value* v) noexcept {
    abi::Value* old = value;
    value = v;
    abi::release(old);
  }
  const abi::Value& typed(abi::Type wanted, const char* function, const char* name) const {
    if (value == nullptr) detail::throw_unset(label, function);
    if (value->type != wanted) detail::throw_type(label, value->type, name);
    return *value;
  }
  std::int64_t whole(const char* function, const char* name) const {
    if (value != nullptr && value->type == abi::Type::longint) return value->l;
    return typed(abi::Type::integer, function, name).i;
  }
  abi::Dyn scalar(const char* function, const char* wanted) const {
    if (value == nullptr) detail::throw_unset(label, function);
    if (value->type == abi::Type::bytes) detail::throw_type(label, value->type, wanted);
    return abi::dyn_read(value, 0);
  }
  const void* payload(const char* function) const {
    if (value == nullptr) detail::throw_unset(label, function);
    if (value->type == abi::Type::integer) return &value->i;
    if (value->type == abi::Type::longint) return &value->l;
    if (value->type == abi::Type::real) return &value->r;
    return value->data;
  }
  // Makes the value this DF's alone, so that writing through a pointer changes nobody else's.
  void own(const char* function) {
    if (value == nullptr) detail::throw_unset(label, function);
    if (__atomic_load_n(&value->refs, __ATOMIC_ACQUIRE) == 1 && !abi::is_noted(value)) return;
    abi::Value* mine = nullptr;
    switch (value->type) {
      case abi::Type::integer:
        mine = abi::value_int(value->i);
        break;
      case abi::Type::longint:
        mine = abi::value_long(value->l);
        break;
      case abi::Type::real:
        mine = abi::value_real(value->r);
        break;
      case abi::Type::string:
        mine = abi::value_string(static_cast<const char*>(value->data), value->size);
        break;
      default:
        mine = abi::value_bytes(value->size);
        if (value->size > 0) std::memcpy(mine->data, value->data, value->size);
    }
    take(mine);
  }
  DF operation(abi::Op op, const DF& b) const {
    DF result;
    result.value = abi::to_value(dyn(op, b));
    return result;
  }
  bool truth(abi::Op op, const DF& b) const { return abi::truth(dyn(op, b), 0); }
  abi::Dyn dyn(abi::Op op, const DF& b) const {
    return abi::dyn_op(op, scalar("an operator", "a number"), b.scalar("an operator", "a number"), 0);
  }
  std::string shown_value() const {
    if (value == nullptr) return "(no value)";
    if (value->type == abi::Type::bytes) return "(" + std::to_string(value->size) + " bytes)";
    return cast_string();
  }
};

static_assert(sizeof(DF) == sizeof(abi::Df) && std::is_standard_layout_v<DF>,
              "the runtime passes abi::Df where kernels expect DF");

}  // namespace tessera
