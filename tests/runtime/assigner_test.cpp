// What follows of the fragment that was first, when a second one assigns the same name.
#include "runtime/words/assigner.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

using Variable = std::pair<std::string, std::int64_t>;

TEST(Assigner, SolvesWhatHasOneSolution) {
  const auto says = [](const char* text, std::int64_t value) { return solve_index(text, value).variable; };
  EXPECT_EQ(says("i", 3), Variable("i", 3));
  EXPECT_EQ(says("i + 1", 3), Variable("i", 2));
  EXPECT_EQ(says("i-1", -3), Variable("i", -2));
  EXPECT_EQ(says("1 + i", 3), Variable("i", 2));
  EXPECT_EQ(says("7 - i", 3), Variable("i", 4));
  EXPECT_EQ(says("i - 3 + 1", 5), Variable("i", 7));
  EXPECT_EQ(says("2 * (i + 1)", 6), Variable("i", 2));
  EXPECT_EQ(says("((i)) * 2 - 1", 5), Variable("i", 3));
  EXPECT_EQ(says("-i", 3), Variable("i", -3));
}

TEST(Assigner, SaysNothingOfTheRest) {
  for (const char* text : {"i / 2", "i % 3", "i + j", "i * j", "p[i]", "p[i] + 1", "(i + 1) % n", "i < 3", "int(r)",
                           "x...", "i == 1 + 1", "0 * i", "2 * -i / 3", "1 - i / 2", ""}) {
    const IndexSays says = solve_index(text, 0);
    EXPECT_TRUE(says.possible) << text;
    EXPECT_FALSE(says.variable) << text;
  }
}

TEST(Assigner, KnowsWhatCantBe) {
  EXPECT_TRUE(solve_index("3", 3).possible);
  EXPECT_FALSE(solve_index("3", 4).possible);
  EXPECT_FALSE(solve_index("2 * i", 5).possible);
  EXPECT_FALSE(solve_index("2 * i + 1", 4).possible);
}

TEST(Assigner, FindsIndicesInTheName) {
  const abi::Id scope{0x1234, 0x5678};
  const auto name = [&](std::uint64_t declaration, const Indices& indices) {
    abi::Id id = abi::mix(scope, declaration);
    for (const std::int64_t i : indices) id = abi::mix(id, static_cast<std::uint64_t>(i));
    return id;
  };
  for (const Indices& indices : {Indices{}, Indices{0}, Indices{-1}, Indices{1'000'000}, Indices{4000, 17},
                                 Indices{-2, 0}, Indices{2, 100, 255}}) {
    EXPECT_EQ(indices_of(name(5, indices), scope), indices);
  }
  EXPECT_EQ(indices_of(name(5, {1, 2, 3, 4}), scope), std::nullopt);
  EXPECT_EQ(indices_of(name(5, {100'000'000}), scope), std::nullopt);
}

struct Call {
  abi::SlotInfo slots[3] = {{"a[i]", "a", 1, ""}, {"x[i + 1][j]", "x", 2, nullptr}, {"y[2 * i][7]", "y", 2, nullptr}};
  abi::Block block{};
  abi::Program program{};
  Call() {
    block.text = "f(a[i], x[i + 1][j], y[2 * i][7])";
    block.pos = abi::make_pos(0, 8, 3);
    block.slots = slots;
    block.input_count = 1;
    block.output_count = 2;
    program.name = "p.fa";
  }
  // What is told behind the place.
  std::string text(const AssignedName& name) const {
    return describe_assigner(program, block, name)
        .substr(std::string("`f(a[i], x[i + 1][j], y[2 * i][7])` at p.fa:8").size());
  }
};

TEST(Assigner, IsDescribedWithWhatIsCertain) {
  Call call;
  EXPECT_EQ(call.text({{3, 1}}), " (i=2, j=1)");  // y's last index is 7
  EXPECT_EQ(call.text({{9, 3, 1}}), " (i=2, j=1)");
  EXPECT_EQ(call.text({{4, 7}}), "");  // x[4][7] with i=3, or y with i=2
  EXPECT_EQ(call.text({{1}}), " (j=1)");
  EXPECT_EQ(output_of(call.block, {{3, 1}}), 0u);
  EXPECT_EQ(output_of(call.block, {{4, 7}}), std::nullopt);
}

TEST(Assigner, InMainANameHasAllItsIndices) {
  Call call;
  EXPECT_EQ(call.text({{4, 7}, true, "x"}), " (i=3, j=7)");
  EXPECT_EQ(call.text({{4, 7}, true, "y"}), " (i=2)");
  EXPECT_EQ(call.text({{3, 1}, true}), " (i=2, j=1)");
  EXPECT_EQ(call.text({{9, 3, 1}, true}), "");
  const abi::Pos callers[] = {abi::make_pos(0, 20, 1), 0};
  call.block.callers = callers;  // x and y may be anything
  EXPECT_EQ(call.text({{4, 7}, true, "x"}), ", called at p.fa:20");
  EXPECT_EQ(call.text({{9, 3, 1}, true}), " (i=2, j=1), called at p.fa:20");
  EXPECT_EQ(call.text({{1}, true}), ", called at p.fa:20");
}

}  // namespace
}  // namespace tessera::runtime
