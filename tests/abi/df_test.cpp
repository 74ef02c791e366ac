// DF as kernels use it, on the runtime's own values.
#include <gtest/gtest.h>

#include "ucenv.h"

namespace {

template <class F>
std::string thrown(F f) {
  try {
    f();
  } catch (const tessera::KernelError& e) {
    return e.what();
  }
  return "";
}

TEST(Df, HoldsIntRealAndString) {
  DF x;
  EXPECT_TRUE(x.is_unset());
  x = 5;
  EXPECT_TRUE(x.is_set());
  EXPECT_EQ(x.get_int(), 5);
  EXPECT_EQ(x.getValue<int>(), 5);
  x = 2.5;
  EXPECT_EQ(x.getValue<double>(), 2.5);
  x = std::string("blue");
  EXPECT_EQ(x.get_string(), "blue");
  EXPECT_EQ(x.getSize(), 4u);
  x.setValue<double>(3);
  EXPECT_EQ(x.get_real(), 3.0);
  x.setValue<std::string>("red");
  EXPECT_EQ(x.getValue<std::string>(), "red");
  x.setValue("literal");
  EXPECT_EQ(x.get_string(), "literal");
}

TEST(Df, AWrongReadNamesTheFragmentAndBothTypes) {
  DF x = 2.5;
  x.setName("x[3]");
  EXPECT_EQ(thrown([&] { x.get_int(); }),
            "`x[3]` holds a real, but is read as an int; cast_int(), cast_long(), cast_real() and "
            "cast_string() convert");
  DF y;
  y.setName("y");
  EXPECT_EQ(thrown([&] { y.get_string(); }), "`y` has no value yet (get_string was called): assign it first");
  EXPECT_NE(thrown([&] { y = std::uint64_t{1} << 40; }), "");
  y.create(8);
  EXPECT_EQ(thrown([&] { y.cast_int(); }), "`y` holds bytes, but is read as an int");
}

TEST(Df, Converts) {
  EXPECT_EQ(DF(2.75).cast_int(), 2);
  EXPECT_EQ(DF(3).cast_real(), 3.0);
  EXPECT_EQ(DF(42).cast_string(), "42");
}

TEST(Df, BytesAreZeroedAndAligned) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{100000}}) {
    DF x;
    const double* data = x.create<double>(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0u);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(data[i], 0.0);
    EXPECT_EQ(x.get_size(), n * sizeof(double));
  }
  DF x;
  EXPECT_EQ(x.create<int>(3, 7)[2], 7);
  EXPECT_NE(thrown([&] { x.create<double>(~std::size_t{0}); }), "");
}

TEST(Df, CopiesShareUntilOneIsWritten) {
  DF a;
  a.create<int>(4)[0] = 1;
  DF b = a;
  const DF& input = a;
  EXPECT_EQ(static_cast<const DF&>(b).getData<int>(), input.getData<int>());
  b.getData<int>()[0] = 2;  // takes its own copy first
  EXPECT_EQ(input.getData<int>()[0], 1);
  int* alone = b.getData<int>();
  EXPECT_EQ(b.getData<int>(), alone);
  DF c;
  c.setName("c");
  c.copy(a);
  EXPECT_EQ(c.getName(), "c");
  EXPECT_EQ(static_cast<const DF&>(c).get_data(), input.get_data());
  const DF& itself = c;
  c = itself;
  EXPECT_EQ(c.getSize(), 16u);
}

TEST(Df, Computes) {
  const DF a = 7, b = 2, r = 0.5;
  EXPECT_EQ((a + b).get_int(), 9);
  EXPECT_EQ((a - b).get_int(), 5);
  EXPECT_EQ((a * r).get_real(), 3.5);
  EXPECT_EQ((a / b).get_int(), 3);
  EXPECT_EQ((a % b).get_int(), 1);
  EXPECT_TRUE(b < a && a >= b && a != b && a == DF(7) && b <= a && a > b);
  EXPECT_TRUE(a == 7);
}

TEST(Df, IsLunasTypeToo) {
  luna::ucenv::OutputDF out;
  out = 3;
  const luna::ucenv::InputDF& in = out;
  EXPECT_EQ(in.getValue<int>(), 3);
  out.setName("n");
  EXPECT_EQ(out.to_string(), "n = 3");
}

}  // namespace
