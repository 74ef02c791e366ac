#include "balancer/gossip/rumours.hpp"

#include <algorithm>
#include <utility>

namespace tessera::balancer {

bool Rumours::hear(Time now, const GossipLoad& word) {
  Heard& heard = heard_[word.rank];
  if (word.version <= heard.version) return false;
  heard = {word.version, now, word.load};
  little_[word.rank] = word;
  return true;
}

Time Rumours::mean(Time now, Time own) const {
  auto sum = static_cast<double>(own);
  for (const auto& [rank, heard] : heard_) sum += static_cast<double>(std::max<Time>(0, heard.load - (now - heard.at)));
  return static_cast<Time>(sum / static_cast<double>(heard_.size() + 1));
}

void Rumours::forget(Rank rank) {
  heard_.erase(rank);
  little_.erase(rank);
}

std::vector<GossipLoad> Rumours::draw(std::vector<GossipLoad> from, Random& random) const {
  if (from.size() <= kMost) return from;
  for (std::size_t i = 0; i < kMost; ++i) std::swap(from[i], from[i + random.below(from.size() - i)]);
  from.resize(kMost);
  std::sort(from.begin(), from.end(), [](const GossipLoad& a, const GossipLoad& b) { return a.rank < b.rank; });
  return from;
}

std::vector<GossipLoad> Rumours::below(Time load, Random& random) const {
  std::vector<GossipLoad> found;
  for (const auto& [rank, word] : little_) {
    if (word.load < load) found.push_back(word);
  }
  return draw(std::move(found), random);
}

void Rumours::gave(Rank rank, Time load) {
  if (const auto at = heard_.find(rank); at != heard_.end()) at->second.load += load;
  use_up(rank);
}

void Rumours::use_up(Rank rank) { little_.erase(rank); }

}  // namespace tessera::balancer
