// A policy in a file of its own: what a shared object for `--balancer ./mine.so` includes. It describes itself with
//
//   TESSERA_POLICY(my_info)    // const tessera::balancer::PolicyInfo& my_info();
//
// and everything of balancer/ may be used: those who load it have it. docs/extending.md shows how one is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// Rises when the interface comes to mean something else. What it looks like is policy_layout.
inline constexpr std::uint32_t kPolicyInterface = 1;
inline constexpr std::uint32_t kPluginMagic = 0x74737061;  // "apst"

// What lies in memory between a policy and its host, as a number: who was built with other headers has another.
constexpr std::uint64_t policy_layout() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::size_t size :
       {sizeof(Event), std::variant_size_v<Event>, sizeof(Action), std::variant_size_v<Action>, sizeof(Message),
        std::variant_size_v<Message>, sizeof(LoadChanged), sizeof(Shipped), sizeof(Arrived), sizeof(Ship),
        sizeof(Decide), sizeof(Setup), sizeof(GroupInfo), sizeof(GroupLoad), sizeof(GroupDone), sizeof(Parameter),
        sizeof(PolicyInfo), sizeof(Policy), std::size_t{__GXX_ABI_VERSION}}) {
    hash = (hash ^ size) * 0x100000001b3u;
  }
  return hash;
}

// The first two members never change.
struct PluginDescription {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t layout;
  const PolicyInfo& (*policy)();
};

}  // namespace tessera::balancer

#define TESSERA_POLICY(info)                                                                                           \
  extern "C" {                                                                                                         \
  extern const tessera::balancer::PluginDescription tessera_policy;                                                    \
  const tessera::balancer::PluginDescription tessera_policy{                                                           \
      tessera::balancer::kPluginMagic, tessera::balancer::kPolicyInterface, tessera::balancer::policy_layout(), info}; \
  }
