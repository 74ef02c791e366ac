#include "runtime/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "balancer/central/reasons.hpp"
#include "balancer/profile.hpp"
#include "balancer/settings.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

std::string host_of(const Summary& s, std::int32_t rank) {
  return s.hosts.empty() ? "" : s.hosts[static_cast<std::size_t>(rank)];
}

// Which ranks only balance: those after the executing ones.
std::string coordinators_text(const Summary& s) {
  const std::int32_t executing = s.worker_ranks, ranks = static_cast<std::int32_t>(s.ranks.size());
  if (executing >= ranks) return "";
  if (executing == ranks - 1) return fmt::format(", {} coordinates", rank_name(Rank{ranks - 1}, s.hosts));
  return fmt::format(", ranks {} to {} coordinate", executing, ranks - 1);
}

std::string seconds_text(double s) {
  if (s < 1e-6) return fmt::format("{:.0f} ns", s * 1e9);
  if (s < 1e-3) return fmt::format("{:.1f} us", s * 1e6);
  if (s < 1) return fmt::format("{:.1f} ms", s * 1e3);
  return fmt::format("{:.2f} s", s);
}
std::string bytes_text(double b) {
  for (const char* unit : {"B", "kB", "MB"}) {
    if (b < 1000) return fmt::format("{:.{}f} {}", b, *unit == 'B' ? 0 : 1, unit);
    b /= 1000;
  }
  return fmt::format("{:.1f} GB", b);
}
std::string bar(double share) {
  constexpr int kWidth = 24;
  const int full = std::clamp(static_cast<int>(share * kWidth + 0.5), 0, kWidth);
  return std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(kWidth - full), '.');
}

double kernel_seconds(const GroupTotals& g) { return g.weight * 1e-9 * static_cast<double>(g.count); }

// Where what was moved can have saved no more than this part of the time, and more was refused for its cost, that is
// the verdict.
constexpr double kHardly = 0.1;
constexpr double kUneven = 0.2;  // one rank has so much more to do than the mean
constexpr double kAllTheTime = 0.8;
using balancer::kCosts;

// Of workers that are busy for less than this part of the time nobody wants to know which rank is busier.
constexpr double kWorthTelling = 0.01;
// From this part of the workers' time on it is told that they had no core: times are no longer those of the program.
constexpr double kCrowded = 0.1;

// Reasons that say that fragments went, in the words of the policies.
constexpr const char* kMoves[] = {"moved",      "stolen", "given",       "dealt",
                                  "first runs", "block",  "apportioned", "handed over"};

std::map<std::string, std::int64_t> decisions(const std::vector<Totals>& ranks) {
  std::map<std::string, std::int64_t> all;
  for (const Totals& t : ranks) {
    for (const std::string& d : t.decisions) {
      const auto bar_at = d.rfind('|');
      all[d.substr(0, bar_at)] += std::stoll(d.substr(bar_at + 1));
    }
  }
  return all;
}

}  // namespace

// One that began later than rank 0, on a busy machine, took part all the same.
double Summary::took_part(const Totals& t) const { return t.partly ? std::min(t.here, seconds) : seconds; }

double Summary::efficiency() const {
  double busy = 0, thread_seconds = 0;
  for (const Totals& t : ranks) {
    busy += t.busy;
    thread_seconds += static_cast<double>(t.threads) * took_part(t);
  }
  return seconds > 0 && thread_seconds > 0 ? std::min(1.0, busy / thread_seconds) : 0;
}

double Summary::imbalance() const {
  double most = 0, least = 1e300, sum = 0;
  std::int32_t counted = 0;  // those that took part from the start to the end
  for (std::int32_t r = 0; r < worker_ranks; ++r) {
    if (ranks[static_cast<std::size_t>(r)].partly) continue;
    ++counted;
    const double busy = ranks[static_cast<std::size_t>(r)].busy;
    most = std::max(most, busy);
    least = std::min(least, busy);
    sum += busy;
  }
  return sum > 0 ? (most - least) / (sum / counted) : 0;
}

bool Summary::tells_imbalance() const {
  std::int64_t kernels = 0;
  for (const GroupTotals& g : groups) kernels += calls_kernel(*program, g.group) ? g.count : 0;
  std::int32_t counted = 0;
  for (std::int32_t r = 0; r < worker_ranks; ++r) counted += ranks[static_cast<std::size_t>(r)].partly ? 0 : 1;
  return kernels >= counted && efficiency() >= kWorthTelling;
}

std::string Summary::crowded() const {
  double waited = 0, thread_seconds = 0;
  for (const Totals& t : ranks) {
    waited += t.no_core;
    thread_seconds += static_cast<double>(t.threads) * took_part(t);
  }
  if (waited < kCrowded * thread_seconds || thread_seconds == 0) return {};
  return fmt::format(
      "workers had no core for {:.0f} % of their time: other threads had them, of others or of this run itself, and "
      "what "
      "ran took that much longer",
      100 * std::min(1.0, waited / thread_seconds));
}

namespace {

struct Power {
  double per_thread = 1;
  double all = 0;
};
Power power_of(const Summary& s, std::size_t r) {
  Power p;
  if (r < s.powers.size()) p.per_thread = s.powers[r];
  p.all = p.per_thread * static_cast<double>(s.ranks[r].threads);
  return p;
}
double fastest(const Summary& s) {
  double most = 0;
  for (std::size_t r = 0; r < s.ranks.size(); ++r) most = std::max(most, power_of(s, r).all);
  return most;
}

}  // namespace

double Summary::speed_up() const {
  double work = 0;  // seconds of a thread of power 1
  for (std::size_t r = 0; r < ranks.size(); ++r) work += ranks[r].busy * power_of(*this, r).per_thread;
  const double best = fastest(*this);
  return seconds > 0 && best > 0 ? work / best / seconds : 0;
}

double Summary::optimum() const {
  double sum = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) sum += power_of(*this, r).all;
  const double best = fastest(*this);
  return best > 0 ? sum / best : 0;
}

std::string Summary::decision() const {
  const auto all = decisions(ranks);
  // Had all of it stayed, on one thread of the rank that was last, and run there one after the other.
  double saved = 0;
  for (const GroupTotals& g : groups) saved += g.weight * 1e-9 * static_cast<double>(g.moved_away + g.followed);
  // Iterations are moved, too: what they make is of no group that has moved, and no little thing where they are many.
  std::int64_t moved = 0, fragments = 0;
  for (const Totals& t : ranks) moved += t.moved_out, fragments += t.finished;
  const bool much = saved >= kHardly * seconds || static_cast<double>(moved) > kHardly * static_cast<double>(fragments);
  // A few fragments may have been moved to learn what they weigh ("measuring"); that is no verdict.
  bool any = false;
  for (const char* why : kMoves) any = any || all.contains(why);
  const bool costly = all.contains(kCosts);
  // Where one rank's kernels ran all the time, and those of others did not, more was worth moving, whatever kept it.
  const bool overworked = imbalance() >= kUneven && std::any_of(ranks.begin(), ranks.end(), [this](const Totals& t) {
                            return t.threads > 0 && t.busy >= kAllTheTime * seconds * static_cast<double>(t.threads);
                          });
  if (any && (!costly || much || overworked)) {
    std::string list;
    for (const auto& [reason, times] : all) {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", reason, times);
    }
    return "decisions: " + list;
  }
  if (any) {
    return fmt::format("hardly anything worth moving: {} (what moved took {:.1f} % of the time)", kCosts,
                       100 * saved / seconds);
  }
  std::string why = costly ? kCosts : "";
  std::int64_t most = 0;
  for (const auto& [reason, times] : all) {
    if (!costly && reason != "measuring" && times > most) {
      most = times;
      why = reason;
    }
  }
  const bool measured = std::any_of(ranks.begin(), ranks.end(), [](const Totals& t) { return t.moved_out > 0; });
  return why.empty() ? why : fmt::format("nothing worth moving{}: {}", measured ? " but to measure" : "", why);
}

std::size_t Summary::most_memory() const {
  const auto less = [](const Totals& a, const Totals& b) { return a.peak_memory_kb < b.peak_memory_kb; };
  return static_cast<std::size_t>(std::max_element(ranks.begin(), ranks.end(), less) - ranks.begin());
}

std::vector<std::pair<std::string, double>> Summary::held() const {
  // Of what takes less than this there are too few samples to tell, and nobody asks.
  constexpr double kWorthNaming = 1e6;
  constexpr std::size_t kNamed = 3;
  std::vector<std::pair<std::string, double>> most;
  if (ranks.empty()) return most;
  const Totals& rank = ranks[most_memory()];
  // They are samples: of small values they may tell more than there is.
  double all = 0;
  for (const HeldBytes& h : rank.held) all += static_cast<double>(h.bytes);
  const double share = std::min(1.0, 1024.0 * static_cast<double>(rank.peak_memory_kb) / std::max(all, 1.0));
  for (const HeldBytes& h : rank.held) {
    const double bytes = share * static_cast<double>(h.bytes);
    if (bytes >= kWorthNaming && most.size() < kNamed) most.emplace_back(h.name, bytes);
  }
  return most;
}

Summary summarise(const RunOver& over) {
  const RunFacts& facts = over.facts;
  Summary s;
  s.program = &facts.program;
  s.balancer = std::string(facts.policy.name);
  s.worker_ranks = facts.worker_ranks;
  s.seconds = over.seconds;
  s.interrupted = over.interrupted;
  s.ranks = over.totals;
  if (several_hosts(facts.hosts)) s.hosts = facts.hosts;
  s.groups = merge_groups(s.ranks);
  for (const balancer::Parameter& p : facts.policy.parameters) {
    if (p.name != "powers") continue;
    s.powers = balancer::SettingsReader(facts.policy, facts.settings).numbers("powers");
  }
  std::stable_sort(s.groups.begin(), s.groups.end(),
                   [](const auto& a, const auto& b) { return kernel_seconds(a) > kernel_seconds(b); });
  return s;
}

namespace {

std::string memory_text(const Summary& s) {
  const std::size_t most = s.most_memory();
  std::string text = "  memory up to " + bytes_text(1024.0 * static_cast<double>(s.ranks[most].peak_memory_kb));
  const auto rank = static_cast<std::int32_t>(most);
  if (s.ranks.size() > 1) text += " (" + rank_name(Rank{rank}, s.hosts) + ")";
  std::string names;
  for (const auto& [name, bytes] : s.held()) {
    names += fmt::format("{} {} {}", names.empty() ? "; most in" : ",", name, bytes_text(bytes));
  }
  return text + names + "\n";
}

}  // namespace

std::string text_of(const Summary& s) {
  std::int64_t fragments = 0, recalled = 0, moved = 0, followed = 0, shipments = 0, threads = 0;
  double bytes = 0;
  for (const Totals& t : s.ranks) {
    fragments += t.finished;
    recalled += t.recalled;
    moved += t.moved_out;
    shipments += t.shipments_out;
    threads += t.threads;
    bytes += static_cast<double>(t.bytes_sent);
  }
  const auto ranks = s.ranks.size();
  std::string out = fmt::format("\n{}: {}{} on {} rank{} ({} worker thread{}{})\n", s.program->name,
                                s.interrupted ? "ended by a signal after " : "", seconds_text(s.seconds), ranks,
                                ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s", coordinators_text(s));
  out += fmt::format("  fragments {}", fragments);
  if (recalled > 0) out += fmt::format("   recalled {}", recalled);
  out += fmt::format("   efficiency {:.0f} %", 100 * s.efficiency());
  if (s.worker_ranks > 1) {
    out += fmt::format("   imbalance {}   speed-up {:.2f} of {:.2f}",
                       s.tells_imbalance() ? fmt::format("{:.0f} %", 100 * s.imbalance()) : "-", s.speed_up(),
                       s.optimum());
  }
  out += "\n";
  if (const std::string text = s.crowded(); !text.empty()) out += "  " + text + "\n";
  out += memory_text(s);
  if (ranks > 1) {
    for (const GroupTotals& g : s.groups) followed += g.followed;
    out += fmt::format("  balancer {}: moved {} fragment{} in {} shipment{}{}, {} sent in all\n", s.balancer, moved,
                       moved == 1 ? "" : "s", shipments, shipments == 1 ? "" : "s",
                       followed == 0 ? "" : fmt::format(" ({} more ran where those before them had moved)", followed),
                       bytes_text(bytes));
    if (const std::string d = s.decision(); !d.empty()) out += fmt::format("  {}\n", d);
    std::size_t wide = 4;
    std::vector<std::string> names;
    for (std::int32_t r = 0; r < s.worker_ranks; ++r) {
      names.push_back(s.hosts.empty() ? fmt::format("{:>4}", r) : fmt::format("{:>4} {}", r, host_of(s, r)));
      wide = std::max(wide, names.back().size());
    }
    out += fmt::format("  {:<{}}  {:<41}  {:>9}\n", "rank", wide, "busy", "memory");
    for (std::int32_t r = 0; r < s.worker_ranks; ++r) {
      const Totals& t = s.ranks[static_cast<std::size_t>(r)];
      const double share = t.busy / (s.seconds * static_cast<double>(std::max<std::int64_t>(t.threads, 1)));
      out += fmt::format("  {:<{}}  {} {:>3.0f} %  {:>9}  {:>9}   {} in, {} out", names[static_cast<std::size_t>(r)],
                         wide, bar(share), 100 * share, seconds_text(t.busy),
                         bytes_text(1024.0 * static_cast<double>(t.peak_memory_kb)), t.moved_in, t.moved_out);
      if (t.partly && t.here == 0) {
        out += "; spare";
      } else if (t.partly) {
        out += fmt::format("; took part for {}", seconds_text(t.here));
      }
      if (t.left > 0) out += fmt::format(", gave {} away", t.left);
      out += "\n";
    }
  }
  // Sixteen rows tell the story; the JSON file has all.
  constexpr std::size_t kRows = 16;
  std::size_t rows = 0;
  out += fmt::format("  {:<28} {:<22} {:>10} {:>11} {:>10}\n", "group", "at", "count", "mean weight", "total");
  for (const GroupTotals& g : s.groups) {
    const abi::Block& b = *s.program->blocks[g.group];
    if (!calls_kernel(*s.program, g.group)) continue;
    if (rows++ == kRows) {
      out += "  ...\n";
      break;
    }
    // A small sub is in each of its callers: lines that are alike otherwise.
    std::string caller = (b.flags & abi::kInlined) != 0 ? called_at(*s.program, b) : "";
    if (!caller.empty()) caller[0] = ' ';
    out += fmt::format("  {:<28} {:<22} {:>10} {:>11} {:>10}{}\n", b.label, place(*s.program, b.pos), g.count,
                       seconds_text(g.weight * 1e-9), seconds_text(kernel_seconds(g)), caller);
  }
  return out;
}

std::string json_of(const Summary& s) {
  nlohmann::ordered_json j;
  j["format"] = "tessera-summary-1";
  j["program"] = s.program->name;
  j["program_hash"] = fmt::format("{:016x}{:016x}", s.program->hash[0], s.program->hash[1]);
  j["balancer"] = s.balancer;
  j["seconds"] = s.seconds;
  j["interrupted"] = s.interrupted;
  j["efficiency"] = s.efficiency();
  j["imbalance"] = s.imbalance();
  j["speed_up"] = s.speed_up();
  j["optimum"] = s.optimum();
  j["worker_ranks"] = s.worker_ranks;
  j["decision"] = s.decision();
  j["decisions"] = decisions(s.ranks);
  j["held"] = nlohmann::ordered_json::array();
  for (const auto& [name, bytes] : s.held())
    j["held"].push_back({{"name", name}, {"bytes", static_cast<std::int64_t>(bytes)}});
  for (const Totals& t : s.ranks) {
    const auto rank = static_cast<std::int32_t>(&t - s.ranks.data());
    j["ranks"].push_back({{"host", host_of(s, rank)},
                          {"threads", t.threads},
                          {"busy_seconds", t.busy},
                          {"fragments", t.finished},
                          {"recalled", t.recalled},
                          {"took_part_seconds", s.took_part(t)},
                          {"given_away", t.left},
                          {"moved_in", t.moved_in},
                          {"moved_out", t.moved_out},
                          {"shipments_out", t.shipments_out},
                          {"bytes_sent", t.bytes_sent},
                          {"messages_sent", t.messages_sent},
                          {"peak_memory_kb", t.peak_memory_kb},
                          {"cpu_seconds", t.cpu},
                          {"no_core_seconds", t.no_core}});
  }
  for (const GroupTotals& g : s.groups) {
    const abi::Block& b = *s.program->blocks[g.group];
    j["groups"].push_back({{"label", b.label},
                           {"at", place(*s.program, b.pos)},
                           {"atomic", calls_kernel(*s.program, g.group)},
                           {"count", g.count},
                           {"mean_ns", g.weight},
                           {"variance_ns2", g.variance},
                           {"moved", g.moved_away},
                           {"followed", g.followed}});
  }
  return j.dump(2) + "\n";
}

}  // namespace tessera::runtime
