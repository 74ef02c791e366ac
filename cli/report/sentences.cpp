// What a person can do about a run, in the words of `tessera advise`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "balancer/units.hpp"
#include "cli/advise/advice.hpp"
#include "cli/export/export.hpp"
#include "cli/report/run_record.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::duration_text;

constexpr double kWorthASentence = 0.1;  // of the workers' time
constexpr double kNearlyAll = 0.7;       // of the whole
constexpr Time kStall = 100'000;         // ns; the runtime takes no pauses of its own that are as long

struct Tally {
  std::string label;
  Time own = 0, longest = 0, idle_before = 0;
  std::int64_t count = 0;
};

// `work at app.fa:7`: the folders of the file tell nobody anything here.
std::string short_label(const std::string& label) {
  const std::size_t at = label.rfind(" at "), slash = label.rfind('/');
  if (at == std::string::npos || slash == std::string::npos || slash < at) return label;
  return label.substr(0, at + 4) + label.substr(slash + 1);
}

struct Look {
  explicit Look(const RunRecord& run) : r(run) {
    for (const auto& g : r.trace.work.groups) groups.push_back({short_label(g.label), 0, 0, 0, 0});
    by_rank.resize(r.times().ranks.size());
    for (std::size_t i = 0; i < r.own.size(); ++i) {
      if (!r.is_kernel(i)) continue;
      Tally& g = groups[r.block_of(r.times().bars[i]).group];
      g.own += r.own[i];
      g.longest = std::max(g.longest, r.own[i]);
      ++g.count;
      kernels += r.own[i];
      if (r.own[i] > longest) longest = r.own[i], longest_bar = i;
      by_rank[static_cast<std::size_t>(r.times().bars[i].rank)] += r.own[i];
    }
    all = r.length() * static_cast<Time>(r.lanes.size());
  }
  double share(Doing d) const {
    return all == 0 ? 0 : static_cast<double>(r.sums[static_cast<std::size_t>(d)]) / static_cast<double>(all);
  }
  // The group before whose fragments workers were idle for this reason for longest.
  const Tally& waited_for(Doing d) {
    for (Tally& g : groups) g.idle_before = 0;
    for (const Lane& lane : r.lanes) {
      for (const Segment& s : lane.segments) {
        if (s.doing == d && s.bar != kNobody)
          groups[r.block_of(r.times().bars[s.bar]).group].idle_before += s.end - s.start;
      }
    }
    return *std::max_element(groups.begin(), groups.end(),
                             [](const Tally& a, const Tally& b) { return a.idle_before < b.idle_before; });
  }
  // The part of the runtime's own time that is pauses which it does not make.
  double stalled() const {
    Time own = 0, stalls = 0;
    for (const Lane& lane : r.lanes) {
      for (const Segment& s : lane.segments) {
        if (s.doing != Doing::overhead && s.doing != Doing::making) continue;
        own += s.end - s.start;
        if (s.end - s.start >= kStall) stalls += s.end - s.start;
      }
    }
    return own == 0 ? 0 : static_cast<double>(stalls) / static_cast<double>(own);
  }
  const RunRecord& r;
  std::vector<Tally> groups;
  std::vector<Time> by_rank;
  Time kernels = 0, longest = 0, all = 0;
  std::size_t longest_bar = kNobody;
};

// Of the workers' time, as a note of the record says it (Summary::crowded); 0: it has none.
double without_a_core(const RunRecord& r) {
  for (const std::string& note : r.times().notes) {
    int share = 0;
    if (std::sscanf(note.c_str(), "workers had no core for %d %%", &share) == 1) return share / 100.0;
  }
  return 0;
}

// Of the workers' time: a part of what a sentence is about that is told beside it.
constexpr double kWorthTelling = 0.005;

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string idle_sentence(Look& l, Doing why) {
  const std::string much = share_text(l.share(why));
  switch (why) {
    case Doing::late:
      return fmt::format(
          "In {} of the workers' time they had nothing while work was ready on another rank, most of it until the "
          "balancer had moved some to them: another balancer, or more and shorter fragments, may move it sooner; "
          "`tessera advise` tries them.",
          share_text(l.share(Doing::late) + l.share(Doing::elsewhere)));
    case Doing::elsewhere: {
      const bool balanced = l.r.times().balancer != "none";
      return fmt::format(
          "In {} of the workers' time they had nothing while work was ready on another rank{}: {}.",
          share_text(l.share(Doing::late) + l.share(Doing::elsewhere)),
          l.share(Doing::late) < kWorthTelling
              ? ""
              : fmt::format(" ({} until the balancer had moved some to them)", share_text(l.share(Doing::late))),
          balanced ? "the balancer saw no use in moving it, since it is too light, or nothing that may move; another "
                     "one, or more and shorter fragments, may help, and `tessera advise` tries them"
                   : "run it with a balancer (--balancer auto), or place it by locators");
    }
    case Doing::transfer:
      return fmt::format(
          "In {} of the workers' time they waited for a transfer, most of it to run `{}`: place readers where their "
          "values are made (locators), or have more fragments ready meanwhile.",
          much, l.waited_for(why).label);
    case Doing::value:
      return fmt::format(
          "In {} of the workers' time they waited for a value that another rank was still making, most of it to run "
          "`{}`: have what that reads made sooner, or more fragments ready meanwhile.",
          much, l.waited_for(why).label);
    default:
      return fmt::format(
          "In {} of the workers' time nothing was ready anywhere: more workers would not make this run faster; "
          "fragments that depend on less, or are made sooner, would.",
          much);
  }
}

}  // namespace

std::vector<std::string> sentences(const RunRecord& run) {
  Look l(run);
  std::vector<std::pair<double, std::string>> all;
  if (l.all == 0) return {};
  for (const Doing d : {Doing::transfer, Doing::value, Doing::nothing}) {
    if (l.share(d) >= kWorthASentence) all.emplace_back(l.share(d), idle_sentence(l, d));
  }
  const double lay = l.share(Doing::late) + l.share(Doing::elsewhere);
  if (lay >= kWorthASentence) {
    const bool late = l.share(Doing::late) >= l.share(Doing::elsewhere);
    all.emplace_back(lay, idle_sentence(l, late ? Doing::late : Doing::elsewhere));
  }
  // What the chain says holds for idle workers only.
  const double idle = l.share(Doing::transfer) + l.share(Doing::value) + lay + l.share(Doing::nothing);
  const Time chain = run.trace.work.critical_path();
  const bool chained = static_cast<double>(chain) >= kNearlyAll * static_cast<double>(run.length());
  const auto chain_text = [&] {
    const bool one = static_cast<double>(l.longest) >= kNearlyAll * static_cast<double>(chain);
    const std::string text = one ? one_is_long(l.longest) : chain_is_long(chain);
    return fmt::format("{}{}, of {} in all{}.", static_cast<char>(std::toupper(text[0])), text.substr(1),
                       duration_text(run.length()), one ? ": it is `" + bar_name(run, l.longest_bar) + "`" : "");
  };
  if (idle >= kWorthASentence && chained) all.emplace_back(idle, chain_text());
  const double no_core = without_a_core(run);
  if (no_core >= kWorthASentence) {
    all.emplace_back(no_core,
                     fmt::format("For {} of their time the workers had no core: run fewer ranks and threads, on a "
                                 "machine that does nothing else, or have more cores. All other times have these "
                                 "pauses in them.",
                                 share_text(no_core)));
  }
  const double own = l.share(Doing::making) + l.share(Doing::overhead);
  if (own >= kWorthASentence && l.stalled() >= 0.5) {
    all.emplace_back(own,
                     fmt::format("For {} of the workers' time work was ready and they did not go on, most of it in "
                                 "pauses longer than the runtime makes: the machine had other things to do (more "
                                 "threads than cores?), or large values were copied.",
                                 share_text(own)));
  } else if (own >= kWorthASentence) {
    const Tally& most = *std::max_element(l.groups.begin(), l.groups.end(),
                                          [](const Tally& a, const Tally& b) { return a.count < b.count; });
    all.emplace_back(own, fmt::format("The runtime itself took {} of the workers' time: {}.", share_text(own),
                                      most.count == 0 ? "there is hardly a kernel in it"
                                                      : one_is_short(most.label, most.own / most.count, most.count)));
  }
  const auto heaviest = std::max_element(l.by_rank.begin(), l.by_rank.end());
  std::int64_t ranks = 0;
  for (const sim::RankInfo& r : run.times().ranks) ranks += r.workers > 0 ? 1 : 0;
  const double mean = ranks == 0 ? 0 : static_cast<double>(l.kernels) / static_cast<double>(ranks);
  // What waits for each other can't be spread.
  const double spread =
      (static_cast<double>(*heaviest) - std::max(mean, static_cast<double>(chain))) / static_cast<double>(run.length());
  if (ranks > 1 && !chained && static_cast<double>(*heaviest) > 1.2 * mean && spread >= kWorthASentence) {
    all.emplace_back(spread,
                     fmt::format("Rank {} was busy for {}, the ranks in the mean for {}: evenly spread, the same "
                                 "kernels need {} of the time that the run took less.",
                                 heaviest - l.by_rank.begin(), duration_text(*heaviest),
                                 duration_text(static_cast<Time>(mean)), share_text(spread)));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (all.size() > 3) all.resize(3);
  std::vector<std::string> texts;
  for (auto& [share, text] : all) texts.push_back(std::move(text));
  if (texts.empty() && chained && run.lanes.size() > 1) texts.push_back(chain_text());
  if (texts.empty()) {
    texts.push_back(
        fmt::format("The workers were busy with kernels for {} of the time: only faster kernels, or more ranks, make "
                    "it faster.",
                    share_text(l.share(Doing::kernel))));
  }
  return texts;
}

}  // namespace tessera::cli
