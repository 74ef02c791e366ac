// Breadth first through all worlds that can come of one, each visited once; or one way through a world, drawn by lot.
#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "balancer/random.hpp"
#include "tests/protocol/world.hpp"

namespace tessera::protocol {
namespace {

struct Digest {
  std::uint64_t a, b;
  friend bool operator==(const Digest&, const Digest&) = default;
};
struct Hash {
  std::size_t operator()(const Digest& d) const { return d.a; }
};

// How a world was come to: from which one, by which of its choices.
struct Way {
  std::uint32_t from;
  std::uint32_t choice;
};

std::string transcript(const Setting& setting, const Step& step, const std::vector<Way>& ways, std::uint32_t at) {
  std::vector<std::uint32_t> taken;
  for (; at != 0; at = ways[at].from) taken.push_back(ways[at].choice);
  std::string text;
  World w(setting, step);
  for (auto c = taken.rbegin(); c != taken.rend(); ++c) {
    const Choice choice = w.choices()[*c];
    text += "  " + w.tell(choice) + "\n";
    w.take(choice);
  }
  return text;
}

// The worlds from which one of `ends` can be reached.
std::vector<bool> leading_to(const std::vector<std::uint32_t>& ends,
                             std::vector<std::pair<std::uint32_t, std::uint32_t>>& steps, std::size_t worlds) {
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<bool> reached(worlds, false);
  std::vector<std::uint32_t> next = ends;
  for (const std::uint32_t w : ends) reached[w] = true;
  while (!next.empty()) {
    const std::uint32_t to = next.back();
    next.pop_back();
    auto at =
        std::lower_bound(steps.begin(), steps.end(), to, [](const auto& s, std::uint32_t w) { return s.second < w; });
    for (; at != steps.end() && at->second == to; ++at) {
      if (reached[at->first]) continue;
      reached[at->first] = true;
      next.push_back(at->first);
    }
  }
  return reached;
}

}  // namespace

Step real() {
  return [](Entry& e, const Event& event, const View& v, Actions& a) { step(e, event, v, a); };
}

Found explore(const Setting& setting, const Step& step, std::int64_t most_states) {
  Found found;
  std::unordered_map<Digest, std::uint32_t, Hash> seen;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;  // from which world to which
  std::vector<std::uint32_t> ends;
  std::vector<Way> ways{{0, 0}};
  std::deque<std::pair<World, std::uint32_t>> next;
  next.emplace_back(World(setting, step), 0);
  std::string bytes;
  const auto wrong = [&](const std::string& what, std::uint32_t at) {
    found.wrong = setting.name + ": " + what + "\n" + transcript(setting, step, ways, at);
  };
  while (!next.empty() && found.states < most_states) {
    const auto [world, number] = std::move(next.front());
    next.pop_front();
    ++found.states;
    const std::vector<Choice> choices = world.choices();
    if (choices.empty()) {
      ends.push_back(number);
      if (const std::string what = world.wrong_at_the_end(); !what.empty()) return wrong(what, number), found;
    }
    for (std::uint32_t c = 0; c < choices.size(); ++c) {
      World then(world);
      const std::string what = then.take(choices[c]);
      if (what.empty()) {
        bytes.clear();
        then.write(bytes);
        const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
        const auto [known, fresh] = seen.try_emplace({h.low64, h.high64}, static_cast<std::uint32_t>(ways.size()));
        steps.emplace_back(number, known->second);
        if (!fresh) continue;
      }
      ways.push_back({number, c});
      const auto at = static_cast<std::uint32_t>(ways.size() - 1);
      if (!what.empty()) return wrong(what, at), found;
      next.emplace_back(std::move(then), at);
    }
  }
  found.complete = next.empty();
  if (!found.complete) return found;
  // From where no end can be reached, ranks send each other messages for ever.
  const std::vector<bool> can_end = leading_to(ends, steps, ways.size());
  const auto stuck = std::find(can_end.begin(), can_end.end(), false);
  if (stuck != can_end.end()) wrong("it never ends", static_cast<std::uint32_t>(stuck - can_end.begin()));
  return found;
}

Found walk(const Setting& setting, const Step& step, std::uint64_t seed) {
  constexpr int kMostSteps = 10'000;
  balancer::Random random(seed);
  Found found;
  std::string text;
  World w(setting, step);
  std::string what;
  while (what.empty() && found.states < kMostSteps) {
    std::vector<Choice> choices = w.choices();
    if (choices.empty()) {
      found.complete = true;
      what = w.wrong_at_the_end();
      break;
    }
    ++found.states;
    // A fragment that runs moves no more.
    if (random.below(4) != 0 && choices.front().does != Does::run) {
      std::erase_if(choices, [](const Choice& c) { return c.does == Does::run; });
    }
    const Choice choice = choices[random.below(choices.size())];
    text += "  " + w.tell(choice) + "\n";
    what = w.take(choice);
  }
  if (what.empty() && !found.complete) what = "it does not end";
  if (!what.empty()) found.wrong = setting.name + ", walk " + std::to_string(seed) + ": " + what + "\n" + text;
  return found;
}

}  // namespace tessera::protocol
