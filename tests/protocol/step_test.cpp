// What the machine says of single events, where no table shows it.
#include "runtime/protocol/step.hpp"

#include <gtest/gtest.h>

namespace tessera::protocol {
namespace {

constexpr Rank kTheHome{0}, kAway{1};

// A counted value is assigned away from home, and all who read it wait there.
Actions assigned(std::int64_t readers, std::uint64_t size, std::uint64_t late) {
  Entry e(State::asked, false);
  const View v{.self = kAway,
               .home = kTheHome,
               .known_uses = true,
               .waiting = readers,
               .size = size,
               .limits = {.counted_late = late}};
  Actions a;
  step(e, Assigned{.block = 3, .uses = readers}, v, a);
  return a;
}

TEST(Step, ItsHomeNeedNotHearOfWhatIsReadWhereItIsAssigned) {
  const Actions a = assigned(3, 1000, 5000);
  EXPECT_TRUE(a.forget);
  EXPECT_FALSE(a.publish.out);
}

// Each of the readers would else take it along when a balancer moves it, again and again to the same rank.
TEST(Step, WhoHasALargeValueOfSeveralReadersIsKnown) {
  EXPECT_TRUE(assigned(1, 5000, 5000).forget);
  const Actions a = assigned(3, 5000, 5000);
  EXPECT_FALSE(a.forget);
  EXPECT_TRUE(a.publish.out);
  EXPECT_EQ(a.publish.uses, 3);
}

}  // namespace
}  // namespace tessera::protocol
