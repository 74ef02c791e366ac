// A balancer of one's own: an idle rank asks its right neighbour for half of what waits there. README.md says how it is built.
#include "balancer/plugin/plugin.hpp"
#include "balancer/ready_view.hpp"
#include "balancer/settings.hpp"

namespace {
using namespace tessera::balancer;

constexpr Parameter kParameters[] = {
    {.name = "pause", .default_value = "1ms", .help = "until it asks again", .kind = Parameter::Kind::duration}};
constexpr int kMostAsks = 1000;  // for nothing; then it sleeps until it has had something to do
const PolicyInfo& neighbour_info();

class Neighbour : public Policy {
 public:
  explicit Neighbour(const Setup& s)
      : right_{(index(s.rank) + 1) % s.ranks},
        pause_(SettingsReader(neighbour_info(), s.settings).duration("pause")),
        ready_(s.groups.size()),
        asks_(s.ranks > 1 ? 0 : kMostAsks) {}

  void step(Time now, const Event& event, Actions& out) override {
    if (const auto* e = std::get_if<LoadChanged>(&event)) ready_.told(*e);
    if (const auto* e = std::get_if<Arrived>(&event)) ready_.arrived(e->fragments), asks_ = 0;
    if (const auto* e = std::get_if<Shipped>(&event)) ready_.shipped(e->fragments, e->fragments);
    if (const auto* e = std::get_if<Received>(&event)) give_half(e->from, out);
    if (std::holds_alternative<WentIdle>(event)) idle_ = true;
    if (std::holds_alternative<WentBusy>(event)) idle_ = false;
    if (std::holds_alternative<TimerFired>(event)) waits_ = false;
    if (!idle_ || waits_ || asks_ == kMostAsks) return;
    waits_ = true;
    out.push_back(Send{right_, PluginMessage{++asks_, {}}});
    out.push_back(SetTimer{0, now + pause_});
  }

 private:
  void give_half(Rank to, Actions& out) {
    Ship ship{++ticket_, to, {}};
    for (std::uint32_t g = 0; g < ready_.size(); ++g) {
      if (ready_[g].count() > 1) ship.fragments.push_back({Group{g}, ready_[g].count() / 2});
    }
    if (!ship.fragments.empty()) out.push_back(std::move(ship));
  }
  const Rank right_;
  const Time pause_;
  ReadyView ready_;
  int asks_;
  std::uint64_t ticket_ = 0;
  bool idle_ = true, waits_ = false;  // for its timer
};

const PolicyInfo& neighbour_info() {
  static const PolicyInfo info{.name = "neighbour", .summary = "an idle rank asks its right neighbour for half",
      .parameters = kParameters, .make = [](const Setup& s) -> std::unique_ptr<Policy> { return std::make_unique<Neighbour>(s); }};
  return info;
}
}  // namespace
TESSERA_POLICY(neighbour_info)
