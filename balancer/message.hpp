// All that policies say to each other: one closed variant. What a policy's ranks say, and how it reads in a transcript,
// stands in its folder (`messages.hpp`). Tags (the variant index) are frozen by a test; append, never reorder.
#pragma once

#include <variant>

#include "balancer/auction/messages.hpp"
#include "balancer/central/messages.hpp"
#include "balancer/diffusion/messages.hpp"
#include "balancer/gossip/messages.hpp"
#include "balancer/hierarchical/messages.hpp"
#include "balancer/loops/messages.hpp"
#include "balancer/mirror/messages.hpp"
#include "balancer/plugin/messages.hpp"
#include "balancer/proportional/messages.hpp"
#include "balancer/settling/messages.hpp"
#include "balancer/steal/messages.hpp"

namespace tessera::balancer {

using Message =
    std::variant<Report, ReportSeen, Order, Confirm, LinkReport, StealRequest, StealRefuse, StealRevoke, StealWake,
                 AuctionQuestion, AuctionAnswer, AuctionRequest, AuctionRefusal, AuctionUnloaded, AuctionWake,
                 MirrorState, MirrorRequest, MirrorRefusal, OutsideTasks, LoopOpened, BlockRequest, LoopDrained,
                 ShareDone, HandOver, GroupReport, GroupReportSeen, GroupInvite, GroupNeed, GroupSent, GossipNews,
                 GossipOffer, DiffusionLoad, PluginMessage, SeriesReport, SeriesPlan, SeriesStand>;

}  // namespace tessera::balancer
