#include "runtime/start/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/run.hpp"

namespace tessera::runtime {
namespace {

using Ranks = std::vector<Rank>;

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string numbers(const Ranks& ranks) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < ranks.size() && (i < kShown || ranks.size() == kShown + 1); ++i)
    words.push_back(std::to_string(balancer::index(ranks[i])));
  if (words.size() < ranks.size()) words.push_back(fmt::format("{} more", ranks.size() - words.size()));
  return (ranks.size() == 1 ? "rank " : "ranks ") + listed(words);
}

}  // namespace

bool several_hosts(const std::vector<std::string>& hosts) {
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& h) { return h != hosts.front(); });
}

std::vector<std::int32_t> host_numbers(const std::vector<std::string>& hosts) {
  std::map<std::string, std::int32_t> numbers;
  std::vector<std::int32_t> by_rank;
  for (const std::string& h : hosts) {
    by_rank.push_back(numbers.try_emplace(h, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return by_rank;
}

std::string on_which_host(Rank rank, const std::vector<std::string>& hosts) {
  return several_hosts(hosts) ? ", " + rank_name(rank, hosts) : "";
}

std::string rank_name(Rank rank, const std::vector<std::string>& hosts) { return rank_names({rank}, hosts); }

std::string rank_names(const Ranks& ranks, const std::vector<std::string>& hosts) {
  if (!several_hosts(hosts)) return numbers(ranks);
  std::vector<std::pair<std::string, Ranks>> by_host;
  for (const Rank r : ranks) {
    const std::string& host = hosts[static_cast<std::size_t>(balancer::index(r))];
    const auto at = std::find_if(by_host.begin(), by_host.end(), [&](const auto& h) { return h.first == host; });
    if (at == by_host.end()) {
      by_host.push_back({host, {r}});
    } else {
      at->second.push_back(r);
    }
  }
  std::vector<std::string> words;
  for (const auto& [host, of] : by_host) words.push_back(numbers(of) + " on " + host);
  return listed(words);
}

void Agreement::take(Rank from, Card card) {
  const auto i = static_cast<std::size_t>(balancer::index(from));
  if (!came_[i]) --missing_;
  came_[i] = true;
  cards_[i] = std::move(card);
}

std::vector<std::string> Agreement::hosts() const {
  std::vector<std::string> all;
  for (const Card& c : cards_) all.push_back(c.host);
  return all;
}

Verdict Agreement::verdict() const {
  Verdict v;
  v.hosts = hosts();
  const Card& first = cards_.front();
  const auto ranks = static_cast<std::int32_t>(cards_.size());
  const auto those = [&](auto differs) {
    Ranks list;
    for (std::int32_t r = 0; r < ranks; ++r) {
      if (differs(cards_[static_cast<std::size_t>(r)])) list.push_back(Rank{r});
    }
    return list;
  };
  const auto refuse = [&](std::int32_t code, std::string text) {
    v.exit_code = code;
    v.text = std::move(text);
    return v;
  };
  if (const Ranks other = those([&](const Card& c) { return c.version != first.version; }); !other.empty()) {
    return refuse(kExitUsage, fmt::format("{} runs Tessera {}, {} another version, {}: install the same one on all "
                                          "hosts, and build the program again",
                                          rank_name(Rank{0}, v.hosts), first.version, rank_names(other, v.hosts),
                                          cards_[static_cast<std::size_t>(balancer::index(other.front()))].version));
  }
  // Each reason once, with the ranks that have it; rank 0's first, and alone, for it speaks of what is the same for
  // all.
  if (first.refusal_code != 0) return refuse(first.refusal_code, first.refusal);
  std::vector<std::pair<std::string, Ranks>> reasons;
  for (std::int32_t r = 0; r < ranks; ++r) {
    const Card& c = cards_[static_cast<std::size_t>(r)];
    if (c.refusal_code == 0) continue;
    if (v.exit_code == 0) v.exit_code = c.refusal_code;
    const auto at = std::find_if(reasons.begin(), reasons.end(), [&](const auto& x) { return x.first == c.refusal; });
    if (at == reasons.end()) {
      reasons.push_back({c.refusal, {Rank{r}}});
    } else {
      at->second.push_back(Rank{r});
    }
  }
  if (v.exit_code != 0) {
    for (const auto& [reason, of] : reasons) {
      if (!v.text.empty()) v.text += "\n";
      v.text += rank_names(of, v.hosts) + ": " + reason;
    }
    return v;
  }
  if (const Ranks other =
          those([&](const Card& c) { return c.hash[0] != first.hash[0] || c.hash[1] != first.hash[1]; });
      !other.empty()) {
    const std::string& theirs = cards_[static_cast<std::size_t>(balancer::index(other.front()))].program;
    return refuse(
        kExitUsage,
        fmt::format(
            "the ranks run different programs: {} has {}, {} {}: build it once, and have the same file on all hosts",
            rank_name(Rank{0}, v.hosts), first.program, rank_names(other, v.hosts),
            theirs == first.program ? "another version of it" : "has " + theirs));
  }
  if (const Ranks other = those([&](const Card& c) { return c.arguments != first.arguments; }); !other.empty()) {
    return refuse(kExitUsage,
                  fmt::format("{} and {} were given different arguments: all ranks run one program, with the same ones",
                              rank_name(Rank{0}, v.hosts), rank_names(other, v.hosts)));
  }
  return v;
}

std::string Agreement::ignored_options() const {
  const std::string& first = cards_.front().environment;
  Ranks other;
  for (std::int32_t r = 1; r < static_cast<std::int32_t>(cards_.size()); ++r) {
    const std::string& own = cards_[static_cast<std::size_t>(r)].environment;
    if (!own.empty() && own != first) other.push_back(Rank{r});
  }
  if (other.empty()) return {};
  return fmt::format("TESSERA_OPTIONS of {} {} not used: those of rank 0 are, on all ranks ({})",
                     rank_names(other, hosts()), other.size() == 1 ? "is" : "are", first.empty() ? "none" : first);
}

}  // namespace tessera::runtime
