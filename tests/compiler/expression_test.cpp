// Priorities and types of expressions, seen in the block program.
#include <gtest/gtest.h>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

// The argument of `put` in the block program; or the codes of what is wrong.
std::string argument(const std::string& expression) {
  Options options;
  options.dump_after = "lower";
  const Output out = translate_text(
      "C++ sub put(value v) ${{ $}}\nC++ sub set(name v) ${{ $}}\n"
      "sub main(int i, int j, real r, string s) { df x, y; set(x); set(y[1]); put(" +
          expression + "); }",
      options);
  if (!out.ok) return codes(out);
  const std::size_t begin = out.dump.find("tessera_kernel_put(") + 19;
  return out.dump.substr(begin, out.dump.find('\n', begin) - begin - 1);
}

TEST(Expression, Priorities) {
  EXPECT_EQ(argument("1 + 2 * 3 - 4"), "((1 + (2 * 3)) - 4)");
  EXPECT_EQ(argument("i / j * 2 % 3"), "(((i / j) * 2) % 3)");
  EXPECT_EQ(argument("i + 1 < j && j == 2 || i"), "((((i + 1) < j) && (j == 2)) || i)");
  EXPECT_EQ(argument("i || j && i"), "(i || (j && i))");
  EXPECT_EQ(argument("-i * -j"), "(-i * -j)");
  EXPECT_EQ(argument("--i"), "--i");
  EXPECT_EQ(argument("(i + j) * 2"), "((i + j) * 2)");
  EXPECT_EQ(argument("i ? j : r"), "(i ? j : r)");
  EXPECT_EQ(argument("i ? j : (r ? 1 : 2)"), "(i ? j : (r ? 1 : 2))");
  EXPECT_EQ(argument("i ? r ? 1 : 2 : 3"), "(i ? (r ? 1 : 2) : 3)");
  EXPECT_EQ(argument("i - 1-2"), "((i - 1) - 2)");
}

TEST(Expression, Literals) {
  EXPECT_EQ(argument("-2147483648"), "-2147483648");
  EXPECT_EQ(argument("2147483648"), "2147483648");
  EXPECT_EQ(argument("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(argument("9223372036854775808"), "T141");
  EXPECT_EQ(argument("010"), "10");
  EXPECT_EQ(argument("1.25e-3"), "1.25e-3");
  EXPECT_EQ(argument("1e3"), "1e3");
  EXPECT_EQ(argument("1e999"), "T141");
  EXPECT_EQ(argument("12abc"), "T120");
  EXPECT_EQ(argument("all"), "-1");
}

TEST(Expression, RefusedForms) {
  EXPECT_EQ(argument("i ? 1 : j ? 2 : 3"), "T140");
  EXPECT_EQ(argument("f(i)"), "T142");
  EXPECT_EQ(argument("i +"), "T131");
}

TEST(Expression, AChainOfComparisonsIsAWarning) {
  const auto chain = [](const std::string& e) {
    return codes(translate_text("C++ sub put(int v) ${{ $}}\nsub main(int i, int n) { put(" + e + "); }"));
  };
  EXPECT_EQ(chain("0 < i < n"), "T224");
  EXPECT_EQ(chain("(0 < i) < n"), "");
  EXPECT_EQ(chain("0 < i && i < n"), "");
}

TEST(Expression, Types) {
  EXPECT_EQ(argument("s + 1"), "(s + 1)");
  EXPECT_EQ(argument("\"a\" + x"), "(\"a\" + read x)");
  EXPECT_EQ(argument("s + r"), "T220");
  EXPECT_EQ(argument("s - s"), "T220");
  EXPECT_EQ(argument("s < s"), "T220");
  EXPECT_EQ(argument("s == i"), "T220");
  EXPECT_EQ(argument("-s"), "T220");
  EXPECT_EQ(argument("r % 2"), "T220");
  EXPECT_EQ(argument("s ? 1 : 2"), "T222");
  EXPECT_EQ(argument("i ? s : 1"), "T221");
  EXPECT_EQ(argument("y[s]"), "T223");
  EXPECT_EQ(argument("y[r] + x"), "(read y[r] + read x)");
}

TEST(Expression, DeepNestingIsRefusedNotFollowed) {
  const auto has = [](const std::string& all, const char* code) { return all.find(code) != std::string::npos; };
  EXPECT_TRUE(has(argument(std::string(100000, '(')), "T130"));
  EXPECT_TRUE(has(argument(std::string(100000, '-') + "1"), "T130"));
  std::string sum = "1";
  for (int k = 0; k < 100000; ++k) sum += "+1";
  EXPECT_TRUE(has(argument(sum), "T130"));
  std::string lets = "i";
  std::string text = "let a0 = i + i";
  for (int k = 1; k < 40; ++k) {
    const std::string before = "a" + std::to_string(k - 1);
    text += ", a" + std::to_string(k) + " = " + before + " + " + before;
  }
  const Output out = translate_text("C++ sub put(int v) ${{ $}}\nsub main(int i) " + text + " { put(a39); }");
  EXPECT_TRUE(has(codes(out), "T207"));
}

}  // namespace
}  // namespace tessera::compiler::testing
