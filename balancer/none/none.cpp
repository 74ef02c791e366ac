#include "balancer/none/none.hpp"

namespace tessera::balancer {
namespace {

class None : public Policy {
 public:
  void step(Time, const Event&, Actions&) override {}
};

}  // namespace

const PolicyInfo& none_info() {
  static const PolicyInfo info{
      .name = "none",
      .summary = "fragments stay where placement put them",
      .parameters = {},
      .make = [](const Setup&) -> std::unique_ptr<Policy> { return std::make_unique<None>(); },
  };
  return info;
}

}  // namespace tessera::balancer
