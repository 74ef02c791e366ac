// What neighbours of an auction say to each other.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/types.hpp"

namespace tessera::balancer {

// torus, tree, a rank that ran empty -> its neighbours: how much have you?
struct AuctionQuestion {
  std::uint64_t number = 0;  // of the asker's auction, to recognise late answers
  friend bool operator==(const AuctionQuestion&, const AuctionQuestion&) = default;
};
// neighbour -> asker: the load index.
struct AuctionAnswer {
  std::uint64_t number = 0;
  std::int64_t load = 0;  // ready fragments
  friend bool operator==(const AuctionAnswer&, const AuctionAnswer&) = default;
};
// asker -> the most loaded: give me some. Answered with a shipment or AuctionRefusal.
struct AuctionRequest {
  std::uint64_t number = 0;
  friend bool operator==(const AuctionRequest&, const AuctionRequest&) = default;
};
// the most loaded -> asker: nothing to give any more.
struct AuctionRefusal {
  std::uint64_t number = 0;
  friend bool operator==(const AuctionRefusal&, const AuctionRefusal&) = default;
};
// a rank that got nothing -> its neighbours: I sleep, wake me.
struct AuctionUnloaded {
  friend bool operator==(const AuctionUnloaded&, const AuctionUnloaded&) = default;
};
// a rank with surplus -> one that sleeps.
struct AuctionWake {
  friend bool operator==(const AuctionWake&, const AuctionWake&) = default;
};

// One line of a transcript.
std::string text(const AuctionQuestion&);
std::string text(const AuctionAnswer&);
std::string text(const AuctionRequest&);
std::string text(const AuctionRefusal&);
std::string text(const AuctionUnloaded&);
std::string text(const AuctionWake&);

}  // namespace tessera::balancer
