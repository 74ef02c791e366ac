// Every message as what its struct says: filled with something, sent, and the same again. A new one is tested by being
// one.
#include "runtime/comm/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "balancer/random.hpp"
#include "runtime/comm/messages.hpp"

namespace tessera::runtime {
namespace {

class Filler {
 public:
  explicit Filler(std::uint64_t seed) : random_(seed) {}

  template <class T>
  void fill(T& x) {
    if constexpr (std::is_enum_v<T>) {
      x = static_cast<T>(random_.below(3));
    } else if constexpr (std::is_same_v<T, bool>) {
      x = random_.below(2) != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      x = static_cast<T>(random_.next());
    } else if constexpr (std::is_same_v<T, std::string>) {
      x = std::string(random_.below(20), 'x');
    } else if constexpr (std::is_same_v<T, Passenger>) {
      x.value = ValueRef(value());
    } else {
      structure(x);
    }
  }

 private:
  abi::Value* value() {
    switch (random_.below(4)) {
      case 0:
        return nullptr;
      case 1:
        return abi::value_int(static_cast<std::int32_t>(random_.next()));
      case 2:
        return abi::value_real(0.25);
      default:
        return abi::value_bytes(random_.below(100));
    }
  }
  template <class T>
  void structure(T& x) {
    with_fields(x, [this](auto&... member) { (this->fill(member), ...); });
  }
  template <class T>
  void structure(std::vector<T>& x) {
    x.resize(random_.below(4));
    for (T& one : x) fill(one);
  }
  template <class... T>
  void structure(std::variant<T...>& x) {
    std::size_t left = random_.below(sizeof...(T));
    ((left-- == 0 ? fill(x.template emplace<T>()) : void()), ...);
  }

  balancer::Random random_;
};

template <class T>
void survives(std::uint64_t seed) {
  T message;
  Filler(seed).fill(message);
  const Parcel sent = encode(message);
  const Message come = decode(Parcel(sent));
  ASSERT_TRUE(std::holds_alternative<T>(come));
  const Parcel again = encode(come);
  EXPECT_EQ(again.bytes, sent.bytes);
  ASSERT_EQ(again.values.size(), sent.values.size());
  for (std::size_t k = 0; k < sent.values.size(); ++k) EXPECT_EQ(again.values[k].get(), sent.values[k].get());
  // Whatever is missing at its end is missed.
  for (std::size_t size = 1; size < sent.bytes.size(); ++size) {
    Parcel cut = sent;
    cut.bytes.resize(size);
    EXPECT_ANY_THROW(decode(std::move(cut))) << size << " of " << sent.bytes.size() << " bytes";
  }
}

template <class... T>
void all_survive(const std::variant<T...>*, std::uint64_t seed) {
  (survives<T>(seed), ...);
}

TEST(Fields, EveryMessageSurvivesTheWire) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) all_survive(static_cast<const Message*>(nullptr), seed);
}

TEST(Fields, InTheOrderOfTheStruct) {
  struct Three {
    int a = 1;
    std::string b = "b";
    std::vector<double> c;
  } x;
  with_fields(x, [&](auto&... member) {
    EXPECT_EQ(sizeof...(member), 3u);
    const void* at[] = {&member...};
    EXPECT_TRUE(at[0] == &x.a && at[1] == &x.b && at[2] == &x.c);
  });
}

}  // namespace
}  // namespace tessera::runtime
