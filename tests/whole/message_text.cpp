#include "message_text.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>
#include <typeinfo>
#include <variant>

#include "runtime/comm/fields.hpp"

namespace tessera::whole {
namespace {

using namespace runtime;

constexpr std::uint64_t kAddresses = 1 << 20;  // numbers from here on are not told

std::string short_name(const std::type_info& type) {
  int status = 0;
  char* full = __cxxabiv1::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = full == nullptr ? type.name() : full;
  std::free(full);
  return name.substr(name.rfind(':') + 1);
}

std::string text(const tessera::abi::Id& id) { return fmt::format("{:04x}", id.lo & 0xffff); }
std::string text(const tessera::abi::Name& n) { return text(n.id); }
std::string text(const Passenger& p) {
  const tessera::abi::Value* v = p.value.get();
  if (v == nullptr) return "-";
  if (v->type == tessera::abi::Type::integer) return std::to_string(v->i);
  if (v->type == tessera::abi::Type::longint) return std::to_string(v->l);
  if (v->type == tessera::abi::Type::real) return std::to_string(v->r);
  return fmt::format("<{} bytes>", v->size);
}
std::string text(const std::string& s) { return '"' + s.substr(0, 40) + '"'; }
template <class T>
std::string text(const T& x);
template <class T>
std::string text(const std::vector<T>& x) {
  std::string all;
  if constexpr (sizeof(T) == 1) return fmt::format("<{} bytes>", x.size());
  for (const auto& one : x) all += (all.empty() ? "" : " ") + text(static_cast<const T&>(one));
  return "[" + all + "]";
}
template <class... T>
std::string text(const std::variant<T...>& x) {
  return std::visit([](const auto& one) { return short_name(typeid(one)) + text(one); }, x);
}
template <class T>
std::string text(const T& x) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(x));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return x < kAddresses ? std::to_string(x) : "#";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", x);
  } else {
    std::string all;
    with_fields(x, [&all](const auto&... member) { ((all += (all.empty() ? "" : ", ") + text(member)), ...); });
    return "(" + all + ")";
  }
}

}  // namespace

std::string message_text(const Message& m) { return text(m); }

}  // namespace tessera::whole
