// Which rank a locator means, whoever has left.
#include "runtime/start/members.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

TEST(Members, LocatorsCountTheRanksThatStart) {
  const Members m(5, 2);
  EXPECT_EQ(m.place(4), Rank{1});
  EXPECT_EQ(m.place(-1), Rank{2});
  EXPECT_TRUE(m.takes_part(Rank{2}));
  EXPECT_FALSE(m.takes_part(Rank{3}));
  EXPECT_TRUE(m.spare(Rank{3}));
  EXPECT_FALSE(m.takes_part(Rank{5})) << "the coordinator";
  EXPECT_FALSE(m.spare(Rank{5}));
}

TEST(Members, ASpareThatJoinedTakesThePlaceOfWhoLeft) {
  Members m(5, 2);
  m.set(Rank{1}, false);
  EXPECT_EQ(m.place(1), Rank{2}) << "the next one, while no spare is there";
  m.set(Rank{4}, true);
  EXPECT_EQ(m.place(1), Rank{4});
  EXPECT_EQ(m.place(2), Rank{2});
  m.set(Rank{1}, true);
  EXPECT_EQ(m.place(1), Rank{1});
}

TEST(Members, OthersAreWhoTakesPart) {
  Members m(4, 1);
  m.set(Rank{0}, false);
  EXPECT_EQ(m.others(Rank{1}), std::vector<Rank>{Rank{2}});
  EXPECT_EQ(m.others(Rank{0}), (std::vector<Rank>{Rank{1}, Rank{2}}));
  m.set(Rank{1}, false);
  m.set(Rank{2}, false);
  EXPECT_EQ(m.place(2), Rank{2}) << "nobody is left: it passes the fragment on";
}

}  // namespace
}  // namespace tessera::runtime
