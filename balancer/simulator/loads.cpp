#include "balancer/simulator/loads.hpp"

#include <algorithm>

namespace tessera::balancer::simulator {
namespace {

constexpr Time kBarrierWeight = 1'000;
constexpr std::int64_t kSmall = 8;  // bytes of a word that all is done

// Several messages of one object to another are one input.
void add(std::vector<Input>& inputs, const Input& one) {
  const auto same = [&](const Input& i) { return i.fragment == one.fragment; };
  const auto at = std::find_if(inputs.begin(), inputs.end(), same);
  if (at == inputs.end()) {
    inputs.push_back(one);
  } else {
    at->bytes += one.bytes;
  }
}

}  // namespace

Workload workload_of(const std::map<std::int64_t, LoadPhase>& phases, const std::string& format) {
  Workload w;
  w.groups.resize(3);
  w.groups[0].label = "object at " + format + ":1";
  w.groups[0].stealable = true;
  w.groups[1].label = "fixed object at " + format + ":1";
  w.groups[1].never_moved = true;
  w.groups[2].label = "barrier at " + format + ":2";
  w.groups[2].never_moved = true;
  std::map<std::string, std::uint32_t> series;
  std::map<std::string, std::size_t> last;
  const LoadPhase* before = nullptr;
  std::size_t barrier = 0;
  for (const auto& [id, phase] : phases) {
    Fragment next{.group = Group{2}, .weight = kBarrierWeight, .output = kSmall, .home = Rank{0}};
    std::map<std::string, std::vector<Input>> sent;
    std::map<std::string, std::int64_t> sends;
    for (const LoadEdge& e : phase.edges) sends[e.from] = std::max(sends[e.from], e.bytes);
    if (before != nullptr) {
      for (const LoadEdge& e : before->edges) {
        if (const auto by = last.find(e.from); by != last.end()) add(sent[e.to], {by->second, e.bytes});
      }
    }
    std::map<std::string, std::size_t> now;
    for (const auto& [name, task] : phase.tasks) {
      Fragment f{.group = Group{task.moves ? 0U : 1U}, .weight = std::max<Time>(task.weight, 1)};
      f.output = sends.contains(name) ? sends[name] : kSmall;
      f.home = Rank{task.rank};
      if (task.moves) f.series = series.emplace(name, series.size() + 1).first->second;
      if (before != nullptr) f.inputs = {{barrier, kSmall}};
      for (const Input& i : sent[name]) f.inputs.push_back(i);
      const std::size_t number = w.add(std::move(f));
      w.births.push_back({0, Rank{task.rank}, number});
      next.inputs.push_back({number, kSmall});
      now[name] = number;
    }
    barrier = w.add(std::move(next));
    w.births.push_back({0, Rank{0}, barrier});
    last = std::move(now);
    before = &phase;
  }
  return w;
}

}  // namespace tessera::balancer::simulator
