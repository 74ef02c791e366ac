#include "balancer/auto/auto.hpp"

#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kParameters[] = {
    {.name = "dedicate_from",
     .default_value = "0",
     .help = "number of ranks from which coordinators run no fragments; 0: they always do",
     .kind = Kind::integer,
     .max = 1e6},
    {.name = "transfer_margin",
     .default_value = "2",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs",
     .max = 1e6},
};

}  // namespace

Choice choose(const Settings& settings, std::int32_t ranks) {
  if (ranks < 2) return {"none", {}};
  const SettingsReader read(auto_info(), settings);
  const std::int64_t dedicate_from = read.integer("dedicate_from");
  // Coordinators plan from measured weights and links, and leave alone what is not worth moving.
  // With up to 256 ranks `hierarchical` has one coordinator, and is `central`.
  const bool dedicated = dedicate_from > 0 && ranks >= dedicate_from && ranks > 2;
  return {"hierarchical",
          {{"coordinator", dedicated ? "dedicated" : "colocated"},
           {"transfer_margin", read.text("transfer_margin")}}};
}

const PolicyInfo& auto_info() {
  static const PolicyInfo info{
      .name = "auto",
      .summary = "chooses by the number of ranks; moves what measured weights and links repay",
      .parameters = kParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        const Choice choice = choose(setup.settings, setup.ranks);
        Setup inner = setup;
        inner.settings = choice.settings;
        return find_policy(choice.balancer)->make(inner);
      },
      .executing = [](const Settings& settings, std::int32_t ranks) -> std::int32_t {
        const Choice choice = choose(settings, ranks);
        return executing_ranks(*find_policy(choice.balancer), choice.settings, ranks);
      },
  };
  return info;
}

}  // namespace tessera::balancer
