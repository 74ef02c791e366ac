#include "balancer/steal/steal.hpp"

#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kStealParameters[] = {
    {.name = "faithful",
     .default_value = "false",
     .help = "true: the protocol of LuNA's own balancer (only fragments marked stealable, one per "
             "request); false: any ready fragment, half of the surplus per request",
     .kind = Kind::boolean},
    {.name = "steal_ranks",
     .default_value = "0",
     .help = "faithful: how many ranks a request goes to at once; 0: all others",
     .kind = Kind::integer,
     .max = 1e6},
    {.name = "fixed_run",
     .default_value = "false",
     .help = "faithful: true: requests always go to the same steal_ranks ranks, those from the asker itself on, as in "
             "the public implementation; false: to all in turn",
     .kind = Kind::boolean},
    {.name = "goes_home",
     .default_value = "false",
     .help =
         "faithful: true: a stolen fragment goes back to the rank where it belongs as soon as it arrives, as in the "
         "public implementation; false: it stays",
     .kind = Kind::boolean},
    {.name = "backoff",
     .default_value = "0.001",
     .help = "faithful: seconds before asking the next steal_ranks ranks when those asked gave "
             "nothing; doubles up to 16 times this, until every rank holds a request",
     .min = 1e-6,
     .max = 60},
    {.name = "attempts",
     .default_value = "64",
     .help = "ranks that refuse before a rank sleeps; the first of them to have work wakes it",
     .kind = Kind::integer,
     .min = 1,
     .max = 1e6},
    {.name = "patience",
     .default_value = "0",
     .help = "seconds that a rank has nothing before it asks, unless fragments make others there",
     .max = 60},
    {.name = "transfer_margin",
     .default_value = "auto",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs; auto: when it is back before its rank would be done with all it has",
     .max = 1e6,
     .may_be_auto = true},
    {.name = "max_transfer",
     .default_value = "0.02",
     .help = "seconds of transfer that one shipment may take, so that the thief can start soon",
     .min = 1e-6,
     .max = 3600},
};

}  // namespace

const PolicyInfo& steal_info() {
  static const PolicyInfo info{
      .name = "steal",
      .summary = "ranks that run out of work ask others for some",
      .parameters = kStealParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        return setting(steal_info(), setup.settings, "faithful") == "true" ? make_faithful_stealer(setup)
                                                                           : make_stealer(setup);
      },
      .homeward =
          [](const Settings& settings) {
            return setting(steal_info(), settings, "faithful") == "true" &&
                   setting(steal_info(), settings, "goes_home") == "true";
          },
  };
  return info;
}

}  // namespace tessera::balancer
