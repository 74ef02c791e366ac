// Agreement: what rank 0 makes of the cards of all ranks, in whatever order they come. Pure: no transport.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/start/card.hpp"

namespace tessera::runtime {

// A rank for people: `rank 2 on h3`, or `rank 2` where all ranks are on one host (or hosts are not known).
std::string rank_name(Rank rank, const std::vector<std::string>& hosts);
bool several_hosts(const std::vector<std::string>& hosts);
// A number for each host, by rank: for policies.
std::vector<std::int32_t> host_numbers(const std::vector<std::string>& hosts);
// The same of several: `ranks 2 and 3 on h3 and rank 5 on h4`.
std::string rank_names(const std::vector<Rank>& ranks, const std::vector<std::string>& hosts);

// ", rank 2 on h3" where there are several hosts, for messages that are understood without it on one.
std::string on_which_host(Rank rank, const std::vector<std::string>& hosts);

class Agreement {
 public:
  explicit Agreement(std::int32_t ranks)
      : cards_(static_cast<std::size_t>(ranks)), came_(static_cast<std::size_t>(ranks)) {}

  void take(Rank from, Card card);
  bool complete() const { return missing_ == 0; }

  // When complete: exit_code 0, or what is wrong. Options and profile are the caller's to add.
  Verdict verdict() const;
  // Options that some rank was given, other than rank 0's: they do not count. Empty: none.
  std::string ignored_options() const;

 private:
  std::vector<std::string> hosts() const;

  std::vector<Card> cards_;
  std::vector<bool> came_;
  std::int32_t missing_ = static_cast<std::int32_t>(came_.size());
};

}  // namespace tessera::runtime
