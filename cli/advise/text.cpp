// Advice for people, and for other programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "balancer/units.hpp"
#include "cli/advise/advice.hpp"

namespace tessera::cli {
namespace {

using balancer::duration_text;
using balancer::Time;

// Of the whole program, when only every n-th fragment was simulated.
Time whole(Time t, std::int64_t every) { return t * every; }

double used(const Tried& t) {
  const balancer::simulator::Outcome& o = *t.row.outcome;
  return o.finished > 0 ? static_cast<double>(o.work) / static_cast<double>(o.finished) / t.row.ranks : 1;
}

std::string what_was_read(const Study& study, const Advice& advice, const Source& source) {
  const balancer::simulator::Outcome& o = *advice.by_count.back().row.outcome;
  const std::int64_t every = source.every;
  std::string text = fmt::format("{} on {}: {} fragments, {} of work", study.workload, study.cluster_name,
                                 (o.executed - o.turns) * every, duration_text(whole(o.work, every)));
  if (o.critical_path > 0) text += ", longest chain " + duration_text(o.critical_path);
  return text + "\n";
}

}  // namespace

std::string words_of(const Study::Balancer& b) {
  std::string text = "--balancer " + std::string(b.policy->name);
  for (const auto& [key, value] : b.settings) text += " --set " + key + "=" + value;
  return text;
}

std::string text_of(const Study& study, const Advice& advice, const Source& source) {
  const Tried& best = advice.by_count[advice.best];
  const Tried& last = advice.by_count.back();
  const std::int64_t every = source.every;
  std::string text = what_was_read(study, advice, source);
  if (source.profile) {
    text +=
        "(a profile knows nothing of order and dependences: this is the best case; a trace, run --record, knows "
        "them)\n";
  }
  if (every > 1) {
    text += fmt::format("(one fragment in {} was simulated, and times multiplied)\n", every);
  }
  text += fmt::format("\nbest:   -n {} {}: {}, {:.0f} % of all ranks used\n", best.row.ranks, words_of(best.balancer),
                      duration_text(whole(best.time(), every)), 100 * used(best));
  if (advice.faster) {
    text += fmt::format("        {} {}, less than {:.0f} % faster: too little to tell\n",
                        words_of(advice.faster->balancer).substr(11),
                        duration_text(whole(advice.faster->time(), every)), 100 * source.margin());
  } else if (advice.default_time > 0 && words_of(best.balancer) != "--balancer " + advice.default_name) {
    text += fmt::format("        without being told: {} {}{}\n", advice.default_name,
                        duration_text(whole(advice.default_time, every)),
                        advice.default_time < best.time() ? ", which was not to be tried" : "");
  }
  if (advice.by_count.size() == 1) {
    text += fmt::format("ranks:  only {} were tried\n", last.row.ranks);
  } else if (advice.best + 1 == advice.by_count.size()) {
    text += fmt::format("ranks:  more pay up to {}; beyond was not tried\n", last.row.ranks);
  } else {
    text += fmt::format("ranks:  more than {} do not pay: {} take {}\n", best.row.ranks, last.row.ranks,
                        duration_text(whole(last.time(), every)));
  }
  if (advice.limits.empty()) {
    text += fmt::format("limit:  none, up to {} ranks\n", last.row.ranks);
  }
  for (const Limit& l : advice.limits) {
    text +=
        fmt::format("limit:  {} ({:.0f} % of what {} ranks lose): {}\n", l.name, 100 * l.share, last.row.ranks, l.text);
  }
  text += "\n ranks       time   used  balancer\n";
  for (const Tried& t : advice.by_count) {
    text += fmt::format("{:>6} {:>10} {:>4.0f} %  {}\n", t.row.ranks, duration_text(whole(t.time(), every)),
                        100 * used(t), words_of(t.balancer).substr(11));
  }
  if (!source.sentences.empty()) text += "\nthe run itself, " + source.run + ":\n";
  for (const std::string& s : source.sentences) text += "- " + s + "\n";
  return text;
}

std::string json_of(const Study& study, const Advice& advice, const Source& source) {
  const std::int64_t every = source.every;
  const auto seconds = [every](Time t) { return static_cast<double>(t * every) / 1e9; };
  const auto tried = [&](const Tried& t) {
    nlohmann::ordered_json j;
    j["ranks"] = t.row.ranks;
    j["balancer"] = t.row.balancer;
    j["settings"] = t.balancer.settings;
    j["seconds"] = seconds(t.time());
    j["efficiency"] = t.row.outcome->efficiency();
    j["used"] = used(t);
    j["moved"] = t.row.outcome->moved * every;
    return j;
  };
  nlohmann::ordered_json j;
  j["workload"] = study.workload;
  j["cluster"] = study.cluster_name;
  j["simulations"] = advice.simulations;
  j["one_fragment_in"] = every;
  j["from_profile"] = source.profile;
  j["margin"] = source.margin();
  j["best"] = tried(advice.by_count[advice.best]);
  if (advice.faster) j["faster"] = tried(*advice.faster);
  j["default"] = {{"balancer", advice.default_name}, {"seconds", seconds(advice.default_time)}};
  if (advice.by_count.size() > 1) j["more_ranks_pay"] = advice.best + 1 == advice.by_count.size();
  auto& limits = j["limits"] = nlohmann::ordered_json::array();
  for (const Limit& l : advice.limits) limits.push_back({{"name", l.name}, {"share", l.share}, {"text", l.text}});
  for (const Tried& t : advice.by_count) j["by_ranks"].push_back(tried(t));
  if (!source.sentences.empty()) j["run"] = {{"about", source.run}, {"sentences", source.sentences}};
  return j.dump(2) + "\n";
}

}  // namespace tessera::cli
