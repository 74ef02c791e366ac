#include "balancer/auction/auction.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kAuctionParameters[] = {
    {.name = "faithful",
     .default_value = "false",
     .help = "true: as in the source: bytes of inputs and the cost of moving do not count, a rank "
             "asks when nothing runs there, all sleepers are woken at once; false: what costs more "
             "to move than to run stays, a rank asks when nothing is ready, as many sleepers are "
             "woken as there are fragments to give",
     .kind = Kind::boolean},
    {.name = "divisor",
     .default_value = "2",
     .help = "a rank gives its ready fragments divided by this; of r requests that wait together "
             "each gets the (r + divisor - 1)th part",
     .kind = Kind::integer,
     .min = 2,
     .max = 1e6},
    {.name = "attempts",
     .default_value = "3",
     .help = "ranks, best first, that are asked for work in one auction before the asker sleeps",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e6},
    {.name = "backoff",
     .default_value = "auto",
     .help = "seconds from a failed auction to the next at least, and between two rounds of "
             "wake-ups; doubles up to 16 times this while auctions fail; auto: four times the "
             "measured latency, as long as an auction takes",
     .max = 60,
     .may_be_auto = true},
    {.name = "collect",
     .default_value = "auto",
     .help = "seconds that a request waits for those of others that have just asked for the load, "
             "so that they share evenly; auto: four times the measured latency",
     .max = 60,
     .may_be_auto = true},
    {.name = "transfer_margin",
     .default_value = "2",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs",
     .max = 1e6},
    {.name = "max_transfer",
     .default_value = "0.02",
     .help = "seconds of transfer that one shipment may take, so that the receiver can start soon",
     .min = 1e-6,
     .max = 3600},
};

template <Shape kShape>
std::unique_ptr<Policy> make(const Setup& setup) {
  return make_auctioneer(kShape, setup);
}

}  // namespace

const PolicyInfo& auction_info() {
  static const PolicyInfo info{
      .name = "auction",
      .summary = "an empty rank asks all others for their load and takes half of the largest",
      .parameters = kAuctionParameters,
      .make = make<Shape::everyone>,
  };
  return info;
}

const PolicyInfo& torus_info() {
  static const PolicyInfo info{
      .name = "torus",
      .summary = "as auction, but a rank knows only its neighbours in a wrapped grid",
      .parameters = kAuctionParameters,
      .make = make<Shape::torus>,
  };
  return info;
}

const PolicyInfo& tree_info() {
  static const PolicyInfo info{
      .name = "tree",
      .summary = "as auction, but a rank knows only its parent and children in a binary tree",
      .parameters = kAuctionParameters,
      .make = make<Shape::tree>,
  };
  return info;
}

}  // namespace tessera::balancer
