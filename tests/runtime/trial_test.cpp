// Which values of a counter give a remainder or a quotient: against all of them.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::abi {
namespace {

std::vector<std::int64_t> left(const Trial& t) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = t.first; i <= t.last; i += t.step) out.push_back(i);
  return out;
}

TEST(Trial, QuotientsLeaveJustThose) {
  for (const int factor : {-3, -2, -1, 1, 2, 5}) {
    for (int by = -4; by <= 4; ++by) {
      for (int q = -4; q <= 4; ++q) {
        for (int rest = -3; rest <= 3; ++rest) {
          Trial t{-9, 9};
          t.quotient(q, factor, rest, by);
          std::vector<std::int64_t> right;
          for (int i = -9; i <= 9 && by != 0; ++i) {
            if ((factor * i + rest) / by == q) right.push_back(i);
          }
          EXPECT_EQ(left(t), right) << factor << " * i + " << rest << " / " << by << " = " << q;
        }
      }
    }
  }
}

TEST(Trial, RemaindersMissNone) {
  for (const int factor : {-1, 1}) {
    for (int by = -4; by <= 4; ++by) {
      for (int q = -5; q <= 5; ++q) {
        for (int rest = -3; rest <= 3; ++rest) {
          Trial t{-9, 9};
          t.remainder(q, factor, rest, by);
          std::vector<std::int64_t> right, found;
          for (int i = -9; i <= 9 && by != 0; ++i) {
            if ((factor * i + rest) % by == q) right.push_back(i);
          }
          for (const std::int64_t i : left(t)) {
            if ((factor * i + rest) % by == q) found.push_back(i);
          }
          EXPECT_EQ(found, right) << factor << " * i + " << rest << " % " << by << " = " << q;
          // Those of the other sign may be among them.
          EXPECT_LE(left(t).size(), by == 0 ? 0 : 18 / std::size_t(std::abs(by)) + 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::abi
