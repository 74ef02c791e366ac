#include "balancer/words.hpp"

namespace tessera::balancer {

std::string name(Rank r) { return std::to_string(index(r)); }
std::string name(Group g) { return std::to_string(index(g)); }

std::string list(const std::vector<GroupCount>& fragments) {
  std::string text = "{";
  for (const GroupCount& f : fragments) {
    if (text.size() > 1) text += ", ";
    text += name(f.group) + ": " + std::to_string(f.count);
  }
  return text + "}";
}
std::string list(const std::vector<GroupLoad>& ready) {
  std::string text = "{";
  for (const GroupLoad& g : ready) {
    if (text.size() > 1) text += ", ";
    text += name(g.group) + ": " + std::to_string(g.ready);
    if (g.bytes > 0) text += " of " + std::to_string(g.bytes) + " B";
  }
  return text + "}";
}
std::string list(const std::vector<GroupDone>& finished) {
  std::string text = "{";
  for (const GroupDone& d : finished) {
    if (text.size() > 1) text += ", ";
    text += name(d.group) + ": " + std::to_string(d.count) + " in " + seconds_text(d.weight);
    if (d.bytes > 0) text += " made " + std::to_string(d.bytes) + " B";
  }
  return text + "}";
}
std::string number(std::uint64_t n) { return "#" + std::to_string(n); }
// Nine digits are plenty for a person, and the same on every machine.
std::string decimal(double x) { return seconds_text(static_cast<Time>(x * 1e9)); }
std::string bandwidth_text(double b) { return std::to_string(static_cast<std::int64_t>(b / 1e6)) + " MB/s"; }
std::string seconds_text(Time ns) {
  const bool negative = ns < 0;
  const auto magnitude = negative ? -static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string fraction = std::to_string(magnitude % 1'000'000'000);
  fraction.insert(0, 9 - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / 1'000'000'000);
  if (!fraction.empty()) text.append(1, '.').append(fraction);
  return text;
}

}  // namespace tessera::balancer
