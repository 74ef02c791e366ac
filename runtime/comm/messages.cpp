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
static void serialize(WireWriter& a, const Passenger& p) {
  abi::Value* v = p.value.get();
  const auto type = static_cast<std::uint8_t>(v == nullptr ? abi::Type::none : v->type);
  a(type);
  if (v == nullptr) return;
  if (note_travels) mark_wanted(v);
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
static void serialize(WireReader& a, Passenger& p) {
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

// What the compiler calls it: `.. [with T = tessera::runtime::Request; ..]`.
template <class T>
constexpr std::string_view struct_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <class T>
Message read_as(WireReader& a) {
  T m;
  a(m);
  return m;
}

// What there is to know of an alternative, by its number.
struct Kind {
  std::string_view name;
  bool counts;
  Message (*read)(WireReader&);
};
template <class... T>
constexpr std::array<Kind, sizeof...(T)> kinds_of(std::type_identity<std::variant<T...>>) {
  return {Kind{struct_name<T>(), T::counts, &read_as<T>}...};
}
constexpr auto kKinds = kinds_of(std::type_identity<Message>());

}  // namespace

std::string_view message_name(std::size_t tag) { return kKinds.at(tag).name; }

bool counts_for_termination(const Message& m) { return kKinds[m.index()].counts; }

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
  if (tag >= kKinds.size()) throw std::runtime_error("message with unknown tag " + std::to_string(tag));
  Message m = kKinds[tag].read(a);
  boarding = nullptr;
  return m;
}

}  // namespace tessera::runtime
