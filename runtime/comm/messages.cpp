#include "runtime/comm/messages.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "runtime/comm/fields.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime {
namespace {

// A thread encodes or decodes one parcel at a time; passengers board here.
thread_local std::vector<ValueRef>* boarding = nullptr;

}  // namespace

// Scalars are written in place; strings and bytes become one more value of the parcel.
inline void CEREAL_SAVE_FUNCTION_NAME(WireWriter& a, const Passenger& p) {
  abi::Value* v = p.value.get();
  const auto type = static_cast<std::uint8_t>(v == nullptr ? abi::Type::none : v->type);
  a(type);
  if (v == nullptr) return;
  if (note_travels) mark_travelled(v);
  if (v->type == abi::Type::memo) return;
  if (v->type == abi::Type::integer) {
    a(v->i);
  } else if (v->type == abi::Type::longint) {
    a(v->l);
  } else if (v->type == abi::Type::real) {
    a(v->r);
  } else {
    a(static_cast<std::uint32_t>(boarding->size()));
    boarding->push_back(p.value);
  }
}
inline void CEREAL_LOAD_FUNCTION_NAME(WireReader& a, Passenger& p) {
  std::uint8_t type = 0;
  a(type);
  switch (static_cast<abi::Type>(type)) {
    case abi::Type::none:
      return;
    case abi::Type::integer: {
      std::int32_t i = 0;
      a(i);
      p.value = ValueRef(abi::value_int(i));
      return;
    }
    case abi::Type::longint: {
      std::int64_t l = 0;
      a(l);
      p.value = ValueRef(abi::value_long(l));
      return;
    }
    case abi::Type::real: {
      double r = 0;
      a(r);
      p.value = ValueRef(abi::value_real(r));
      return;
    }
    case abi::Type::memo:
      p.value = ValueRef(abi::value_memo());
      return;
    default: {
      std::uint32_t seat = 0;
      a(seat);
      p.value = boarding->at(seat);
    }
  }
}

namespace {

template <std::size_t I = 0>
Message read_alternative(std::size_t tag, WireReader& a) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (tag == I) {
      std::variant_alternative_t<I, Message> m;
      a(m);
      return m;
    }
    return read_alternative<I + 1>(tag, a);
  } else {
    throw std::runtime_error("message with unknown tag " + std::to_string(tag));
  }
}

}  // namespace

namespace {

// What the compiler calls it: `.. [with T = tessera::runtime::Request; ..]`.
template <class T>
constexpr std::string_view struct_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <class... T>
constexpr std::array<std::string_view, sizeof...(T)> struct_names(std::type_identity<std::variant<T...>>) {
  return {struct_name<T>()...};
}

}  // namespace

std::string_view message_name(std::size_t tag) {
  static constexpr auto kNames = struct_names(std::type_identity<Message>());
  return kNames.at(tag);
}

bool counts_for_termination(const Message& m) {
  return std::visit([](const auto& x) { return x.counts; }, m);
}

Parcel encode(const Message& m) {
  thread_local std::vector<std::byte> draft;  // keeps its room
  Parcel parcel;
  boarding = &parcel.values;
  draft.clear();
  WireWriter a(draft);
  a(static_cast<std::uint8_t>(m.index()));
  std::visit([&a](const auto& x) { a(x); }, m);
  boarding = nullptr;
  parcel.bytes.assign(draft.begin(), draft.end());
  return parcel;
}

Message decode(Parcel&& parcel) {
  boarding = &parcel.values;
  WireReader a(parcel.bytes.data(), parcel.bytes.size());
  std::uint8_t tag = 0;
  a(tag);
  Message m = read_alternative(tag, a);
  boarding = nullptr;
  return m;
}

}  // namespace tessera::runtime
