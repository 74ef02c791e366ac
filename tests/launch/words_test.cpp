#include "runtime/launch/words.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "files/nearest.hpp"

namespace tessera::launch {
namespace {

using Words = std::vector<std::string>;

TEST(Words, SplitLikeAShell) {
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words("  a\t b\n"), (Words{"a", "b"}));
  EXPECT_EQ(split_words("'a b' \"c d\" e\\ f"), (Words{"a b", "c d", "e f"}));
  EXPECT_EQ(split_words("\"say \\\"hi\\\"\" 'back\\slash'"), (Words{"say \"hi\"", "back\\slash"}));
  EXPECT_EQ(split_words("'' --x=''"), (Words{"", "--x="}));
}

TEST(Words, AnOpenQuoteIsAnError) { EXPECT_THROW(split_words("a 'b"), std::invalid_argument); }

TEST(Words, JoiningIsTheInverseOfSplitting) {
  const Words words = {"plain", "", "with blank", "it's", "\"quoted\"", "back\\slash", "$HOME", "a\nb"};
  EXPECT_EQ(split_words(join_words(words)), words);
}

TEST(Words, NearestFindsTypingMistakesOnly) {
  const Words names = {"none", "central", "steal"};
  EXPECT_EQ(nearest("centrl", names), "central");
  EXPECT_EQ(nearest("steel", names), "steal");
  EXPECT_EQ(nearest("hierarchical", names), "");
}

}  // namespace
}  // namespace tessera::launch
