#include "runtime/fragment/cf.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tessera::runtime {
namespace {

// As in generated code: nothing is computed when the program starts.
constinit const abi::Block kMade = {0,       0,       abi::Kind::atomic, 0,       6,       0,       6, "nivs",  nullptr,
                                    nullptr, nullptr, nullptr,           nullptr, "",      "",      0, nullptr, 0,
                                    0,       nullptr, nullptr,           nullptr, nullptr, nullptr, 0, 0};
static_assert(abi::values_of("nisrv") == (1u << 4 | 1u << 6));

TEST(Cf, ABlockKnowsWhichWordsOfTheFrameAreValues) {
  EXPECT_EQ(kMade.values, 3u << 4);
  std::mt19937 dice(1);
  int far = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string layout;
    std::vector<unsigned> values, seen;
    unsigned word = 0;
    for (unsigned k = dice() % 90; k > 0; --k) {
      layout += "nirsv"[dice() % 5];
      if (layout.back() == 's' || layout.back() == 'v') values.push_back(word);
      word += layout.back() == 'n' ? 3 : 1;
    }
    abi::Block block{};
    block.layout = layout.c_str();
    block.values = abi::values_of(block.layout);
    for_each_value(block, [&](unsigned w) { seen.push_back(w); });
    ASSERT_EQ(seen, values) << layout;
    far += !values.empty() && values.back() > 63;
  }
  EXPECT_GT(far, 100);
}

TEST(Cf, FreedItGivesUpItsValues) {
  for (const unsigned before : {0u, 61u, 62u, 63u, 100u}) {
    const std::string layout = std::string(before, 'i') + "vs";
    abi::Block block{};
    block.layout = layout.c_str();
    block.values = abi::values_of(block.layout);
    block.frame_words = block.capacity = static_cast<std::uint16_t>(before + 2);
    Cf* c = allocate_cf(block, nullptr, {});
    abi::Value* v = abi::value_int(1);
    const auto uses = v->refs;
    abi::frame_value(c, before) = abi::retain(v);  // the other one is none
    EXPECT_EQ(v->refs, uses + 1);
    free_cf(c);
    EXPECT_EQ(v->refs, uses) << before;
    abi::release(v);
  }
}

}  // namespace
}  // namespace tessera::runtime
