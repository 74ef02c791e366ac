// The modern interface on the runtime's own values.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <tessera.hpp>
#include <tessera/cereal.hpp>
#include <thread>

namespace {

using tessera::DF;
using tessera::Input;
using tessera::Output;

struct Pair {
  double a;
  int b;
};
struct Table {
  std::string title;
  std::vector<int> rows;
  template <class Archive>
  void serialize(Archive& a) {
    a(title, rows);
  }
};

template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const tessera::KernelError& e) {
    return e.what();
  }
  return "";
}

// What a kernel that reads `x` gets after one that assigned it.
Input read(Output& x) { return Input(x.df()); }

TEST(TesseraHpp, Scalars) {
  Output i, r, s;
  i = 5;
  r = 2.5;
  s = std::string("text");
  EXPECT_EQ(read(i).get<int>(), 5);
  EXPECT_EQ(read(i).get<unsigned char>(), 5);
  EXPECT_EQ(read(i).get<std::int64_t>(), 5);
  EXPECT_EQ(read(r).get<double>(), 2.5);
  EXPECT_EQ(read(s).get<std::string>(), "text");
  const Input x = read(s);
  EXPECT_EQ(x.get<std::string_view>(), "text");
  Output literal, flag;
  literal = "abc";
  flag = true;
  EXPECT_EQ(read(literal).get<std::string>(), "abc");
  EXPECT_TRUE(read(flag).get<bool>());
}

TEST(TesseraHpp, ViewsAreTheValuesOwnMemory) {
  Output y;
  const std::span<double> out = y.create<double>(4);
  EXPECT_EQ(out[3], 0.0);
  out[1] = 1.5;
  const Input x = read(y);
  const std::span<const double> in = x.span<double>();
  EXPECT_EQ(in.data(), out.data());
  EXPECT_EQ(in.size(), 4u);
  EXPECT_EQ(x.bytes().size(), 32u);
  Output z;
  z.share(x);
  const Input shared = read(z);
  EXPECT_EQ(shared.span<double>().data(), out.data());
  Output filled;
  EXPECT_EQ(filled.create<int>(3, 7)[2], 7);
  static_assert(std::is_same_v<decltype(x.get<Pair>()), const Pair&>);
}

TEST(TesseraHpp, Structs) {
  Output y, z;
  y = Pair{0.5, 3};
  EXPECT_EQ(read(y).get<Pair>().b, 3);
  z.create<Pair>().b = 4;
  EXPECT_EQ(read(z).get<Pair>().b, 4);
}

TEST(TesseraHpp, OwnTypesThroughCereal) {
  Output y;
  y = Table{"odd", {1, 3, 5}};
  const Table t = read(y).get<Table>();
  EXPECT_EQ(t.title, "odd");
  EXPECT_EQ(t.rows, (std::vector<int>{1, 3, 5}));
  Output short_one, long_one;
  short_one.create<int>(1)[0] = 1 << 30;
  long_one.create<char>(100);
  EXPECT_NE(thrown([&] { read(short_one).get<Table>(); }).find("4 bytes that are no"), std::string::npos);
  EXPECT_NE(thrown([&] { read(long_one).get<Table>(); }).find("left over"), std::string::npos);
}

// Counts its objects, and how many of them were decoded.
struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  int number = 0;
  static inline std::atomic<int> alive = 0, decoded = 0;
  template <class Archive>
  void serialize(Archive& a) {
    a(number);
    if (Archive::is_loading::value) ++decoded;
  }
};
struct Other {  // reads the same bytes
  int number = 0;
  std::vector<int> none;
  template <class Archive>
  void serialize(Archive& a) {
    a(number);
  }
};

TEST(TesseraHpp, AValueIsDecodedOnceForAllWhoReadIt) {
  {
    Output y, second;
    {
      Counted c;
      c.number = 7;
      y = c;
      second = c;
    }
    Counted::decoded = 0;
    std::vector<std::thread> readers;
    std::array<const Counted*, 4> seen{};
    for (std::size_t k = 0; k < seen.size(); ++k) readers.emplace_back([&, k] { seen[k] = &read(y).get<Counted>(); });
    for (std::thread& t : readers) t.join();
    for (const Counted* c : seen) EXPECT_EQ(c, seen[0]);
    const int first = Counted::decoded;
    EXPECT_TRUE(first >= 1 && first <= 4) << first;  // all may have begun before one has ended
    EXPECT_EQ(Counted::alive, 1);
    EXPECT_EQ(read(y).get<Counted>().number, 7);
    Counted mine = read(y).get<Counted>();
    EXPECT_EQ(Counted::decoded, first);
    mine.number = 8;
    EXPECT_EQ(read(y).get<Counted>().number, 7);
    EXPECT_EQ(read(y).get<Other>().number, 7);  // of another type: another object
    EXPECT_EQ(&read(y).get<Counted>(), seen[0]);
    Output shared;  // the same value
    shared.share(read(y));
    EXPECT_EQ(&read(shared).get<Counted>(), seen[0]);
    EXPECT_NE(&read(second).get<Counted>(), seen[0]);
    EXPECT_EQ(Counted::decoded, first + 1);
    EXPECT_EQ(Counted::alive, 3);
  }
  EXPECT_EQ(Counted::alive, 0);  // they go with their values
}

struct MoveOnly {
  std::unique_ptr<int> number;
  template <class Archive>
  void serialize(Archive& a) {
    int n = number ? *number : 0;
    a(n);
    number = std::make_unique<int>(n);
  }
};

TEST(TesseraHpp, WhatCannotBeCopiedIsTheKernelsOwn) {
  Output y;
  y = MoveOnly{std::make_unique<int>(5)};
  MoveOnly a = read(y).get<MoveOnly>(), b = read(y).get<MoveOnly>();
  EXPECT_EQ(*a.number, 5);
  EXPECT_NE(a.number.get(), b.number.get());
}

TEST(TesseraHpp, MistakesSayWhatWasFoundAndWanted) {
  Output i, r, bytes, none;
  i = -1;
  r = 2.5;
  bytes.create<char>(20);
  for (Output* o : {&i, &r, &bytes, &none}) o->df().setName("x");
  EXPECT_EQ(thrown([&] { read(r).get<int>(); }), "`x` holds a real, but is read as int; it is read by get<double>()");
  EXPECT_EQ(thrown([&] { read(i).get<double>(); }),
            "`x` holds an int, but is read as double; it is read by get<int>()");
  EXPECT_EQ(thrown([&] { read(i).get<unsigned>(); }), "`x` holds -1, which is no `unsigned int`");
  EXPECT_EQ(thrown([&] { read(i).get<std::string>(); }),
            "`x` holds an int, but is read as a string; it is read by get<int>()");
  EXPECT_EQ(thrown([&] { read(r).span<double>(); }),
            "`x` holds a real, but is read as an array of double; it is read by get<double>()");
  EXPECT_EQ(thrown([&] { read(bytes).span<double>(); }),
            "`x` holds 20 bytes, but is read as an array of double of 8 bytes");
  EXPECT_NE(thrown([&] { read(bytes).get<Pair>(); }).find("one {anonymous"), std::string::npos)
      << thrown([&] { read(bytes).get<Pair>(); });
  EXPECT_EQ(thrown([&] { read(none).get<int>(); }), "`x` has no value yet (read was called): assign it first");
  EXPECT_EQ(thrown([&] { i = 2; }), "`x` is assigned a second time by this kernel");
  EXPECT_NE(thrown([] {
              Output y;
              y = std::uint64_t{1} << 40;
            }),
            "");
}

}  // namespace
