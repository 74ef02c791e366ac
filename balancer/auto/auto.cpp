#include "balancer/auto/auto.hpp"

#include "balancer/auto/backed.hpp"
#include "balancer/settings.hpp"
#include "balancer/settling/settling.hpp"
#include "balancer/steal/steal.hpp"

namespace tessera::balancer {
namespace {

using Kind = Parameter::Kind;

constexpr Parameter kAutoParameters[] = {
    {.name = "dedicate_from",
     .default_value = "0",
     .help = "number of ranks from which coordinators run no fragments; 0: they always do",
     .kind = Kind::integer,
     .max = 1e6},
    {.name = "settle",
     .default_value = "false",
     .help = "true: what is the same in each step of an iteration runs where one plan for all steps has put it",
     .kind = Kind::boolean},
    {.name = "transfer_margin",
     .default_value = "auto",
     .help = "a fragment moves when its weight is at least this many times the transfer of its "
             "inputs and outputs; auto: when it is back before its rank would be done with all it has",
     .max = 1e6,
     .may_be_auto = true},
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
           {"growing_interval", "0.05"},  // there they steal
           {"settle", "false"},           // see make
           {"transfer_margin", read.text("transfer_margin")}}};
}

const PolicyInfo& auto_info() {
  static const PolicyInfo info{
      .name = "auto",
      .summary = "a coordinator's plans, backed by stealing; nothing on one rank",
      .parameters = kAutoParameters,
      .make = [](const Setup& setup) -> std::unique_ptr<Policy> {
        const Choice choice = choose(setup.settings, setup.ranks);
        Setup inner = setup;
        inner.settings = choice.settings;
        std::unique_ptr<Policy> plans = find_policy(choice.balancer)->make(inner);
        const std::int32_t executing = executing_ranks(*find_policy(choice.balancer), choice.settings, setup.ranks);
        if (executing < 2 || index(setup.rank) >= executing) return plans;
        inner.ranks = executing;
        inner.settings = {{"patience", "0.00005"}};
        if (const std::string& margin = choice.settings.at("transfer_margin"); margin != "auto") {
          inner.settings.emplace("transfer_margin", margin);
        }
        std::unique_ptr<Policy> both = make_backed(setup.rank, std::move(plans), make_stealer(inner));
        if (!SettingsReader(auto_info(), setup.settings).boolean("settle")) return both;
        return make_settling(std::move(both), setup, Rank{executing - 1}, executing);
      },
      .executing = [](const Settings& settings, std::int32_t ranks) -> std::int32_t {
        const Choice choice = choose(settings, ranks);
        return executing_ranks(*find_policy(choice.balancer), choice.settings, ranks);
      },
      .settles = [](const Settings& settings) { return setting(auto_info(), settings, "settle") == "true"; },
  };
  return info;
}

}  // namespace tessera::balancer
