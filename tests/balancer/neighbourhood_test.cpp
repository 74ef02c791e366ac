// Who asks whom under `auction`, `torus` and `tree`.
#include "balancer/auction/neighbourhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::balancer {
namespace {

using Positions = std::vector<std::int32_t>;

TEST(Torus, TheMostSquareFactorisation) {
  EXPECT_EQ(most_square(1), (Grid{1, 1}));
  EXPECT_EQ(most_square(6), (Grid{2, 3}));
  EXPECT_EQ(most_square(16), (Grid{4, 4}));
  EXPECT_EQ(most_square(40), (Grid{5, 8}));
  EXPECT_EQ(most_square(128), (Grid{8, 16}));
  EXPECT_EQ(most_square(1000), (Grid{25, 40}));
  for (const std::int32_t prime : {2, 3, 5, 7, 13, 997}) {
    EXPECT_EQ(most_square(prime), (Grid{1, prime})) << "a ring";
  }
}

TEST(Torus, FourNeighboursWhereBothSidesAreThreeOrMore) {
  // 0 1 2
  // 3 4 5
  // 6 7 8
  EXPECT_EQ(neighbours(Shape::torus, 4, 9), (Positions{1, 3, 5, 7}));
  EXPECT_EQ(neighbours(Shape::torus, 0, 9), (Positions{1, 2, 3, 6}));
  for (std::int32_t i = 0; i < 40; ++i) EXPECT_EQ(neighbours(Shape::torus, i, 40).size(), 4u);
}

TEST(Torus, FewerWhereTheyCoincide) {
  EXPECT_EQ(neighbours(Shape::torus, 0, 1), Positions{});
  EXPECT_EQ(neighbours(Shape::torus, 0, 2), Positions{1});
  EXPECT_EQ(neighbours(Shape::torus, 1, 4), (Positions{0, 3})) << "2 x 2";
  EXPECT_EQ(neighbours(Shape::torus, 0, 6), (Positions{1, 2, 3})) << "2 x 3";
  EXPECT_EQ(neighbours(Shape::torus, 3, 7), (Positions{2, 4})) << "a ring";
  EXPECT_EQ(neighbours(Shape::torus, 0, 7), (Positions{1, 6}));
}

TEST(Tree, ParentAndChildrenInHeapOrder) {
  EXPECT_EQ(neighbours(Shape::tree, 0, 7), (Positions{1, 2}));
  EXPECT_EQ(neighbours(Shape::tree, 1, 7), (Positions{0, 3, 4}));
  EXPECT_EQ(neighbours(Shape::tree, 6, 7), Positions{2});
  EXPECT_EQ(neighbours(Shape::tree, 2, 6), (Positions{0, 5})) << "the second child is missing";
  EXPECT_EQ(neighbours(Shape::tree, 0, 1), Positions{});
}

TEST(Neighbourhood, IsSymmetricAndConnected) {
  for (const Shape shape : {Shape::everyone, Shape::torus, Shape::tree}) {
    for (std::int32_t n = 1; n <= 60; ++n) {
      std::vector<bool> reached(static_cast<std::size_t>(n));
      Positions edge = {0};
      reached[0] = true;
      while (!edge.empty()) {
        const std::int32_t i = edge.back();
        edge.pop_back();
        for (const std::int32_t k : neighbours(shape, i, n)) {
          const Positions back = neighbours(shape, k, n);
          EXPECT_TRUE(std::binary_search(back.begin(), back.end(), i)) << i << " " << k << " " << n;
          EXPECT_NE(k, i);
          if (!reached[static_cast<std::size_t>(k)]) edge.push_back(k);
          reached[static_cast<std::size_t>(k)] = true;
        }
      }
      EXPECT_EQ(std::count(reached.begin(), reached.end(), true), n);
    }
  }
}

TEST(Neighbourhood, ClosesOverARankThatLeft) {
  // 1 is gone: 0 2 3 4 5 6 are the heap now, and nobody is cut off.
  const std::vector<bool> present = {true, false, true, true, true, true, true};
  EXPECT_EQ(neighbours_among(Shape::tree, Rank{0}, present), (std::vector{Rank{2}, Rank{3}}));
  EXPECT_EQ(neighbours_among(Shape::tree, Rank{4}, present), (std::vector{Rank{2}}));
  EXPECT_EQ(neighbours_among(Shape::tree, Rank{1}, present), std::vector<Rank>{});
}

}  // namespace
}  // namespace tessera::balancer
