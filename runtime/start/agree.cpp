#include "runtime/start/agree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "runtime/start/agreement.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

// A rank that has the answer may begin, and send to one that has not: what is neither card nor answer is kept for the
// run.
class Start {
 public:
  explicit Start(Transport& transport) : transport_(transport), here_(static_cast<std::size_t>(transport.size())) {}

  Agreed lead(Card card, Verdict mine, bool quiet) {
    Agreement agreement(transport_.size());
    agreement.take(Rank{0}, std::move(card));
    until([&] { return agreement.complete(); },
          [&](Rank from, const Parcel& p) { agreement.take(from, decode_card(p)); });
    Verdict v = agreement.verdict();
    v.options = std::move(mine.options);
    v.profile = std::move(mine.profile);
    v.journal = std::move(mine.journal);
    for (std::int32_t r = 1; r < transport_.size(); ++r) transport_.send(Rank{r}, encode(v));
    if (const std::string ignored = agreement.ignored_options(); v.exit_code == 0 && !quiet && !ignored.empty()) {
      std::fprintf(stderr, "tessera: warning: %s\n", ignored.c_str());
    }
    return {std::move(v), std::move(early_)};
  }

  Agreed follow(const Card& card) {
    Verdict v;
    transport_.send(Rank{0}, encode(card));
    until([&] { return here_[0]; }, [&](Rank, const Parcel& p) { v = decode_verdict(p); });
    return {std::move(v), std::move(early_)};
  }

 private:
  // The first parcel of each rank is its card, the first one of rank 0 the answer.
  template <class Done, class Take>
  void until(Done done, Take take) {
    const bool leads = transport_.rank() == Rank{0};
    const auto sink = [&](Rank from, Parcel&& p) {
      const auto i = static_cast<std::size_t>(balancer::index(from));
      if (here_[i] || (!leads && i != 0)) {
        early_.emplace_back(from, std::move(p));
        return;
      }
      here_[i] = true;
      take(from, p);
    };
    while (!done()) {
      if (!transport_.progress(sink)) transport_.wait(Clock::now() + kPause);
    }
  }

  Transport& transport_;
  std::vector<bool> here_;  // of the ranks: their first parcel
  std::vector<std::pair<Rank, Parcel>> early_;
};

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Card card_of(const abi::Program& program, const std::vector<std::string>& arguments) {
  Card card;
  card.version = exchange_version();
  card.host = host_name();
  if (const char* text = std::getenv("TESSERA_OPTIONS")) card.environment = text;
  if (program.abi_version != abi::kAbiVersion) {
    card.refusal_code = kExitUsage;
    card.refusal = fmt::format(
        "the program was built for another version of Tessera (its interface is {}, this one's {}): build it again",
        program.abi_version, abi::kAbiVersion);
    return card;
  }
  for (int i = 0; i < 2; ++i) card.hash[i] = program.hash[i];
  card.program = program.name;
  card.arguments = arguments;
  return card;
}

Agreed agree(Transport& transport, Card card, Verdict mine, bool quiet) {
  Start start(transport);
  return transport.rank() == Rank{0} ? start.lead(std::move(card), std::move(mine), quiet) : start.follow(card);
}

}  // namespace tessera::runtime
