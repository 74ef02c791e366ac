#include "cli/simulate/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "balancer/units.hpp"
#include "cli/failure.hpp"
#include "cli/simulate/inputs.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
constexpr std::size_t kMostPoints = 10'000;

bool has(std::span<const balancer::Parameter> parameters, const std::string& name) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const balancer::Parameter& p) { return p.name == name; });
}
bool of_workload(const Study& study, const std::string& name) {
  return study.generator != nullptr && has(study.generator->parameters, name);
}
bool of_balancer(const Study& study, const std::string& name) {
  return std::any_of(study.balancers.begin(), study.balancers.end(),
                     [&](const Study::Balancer& b) { return has(b.policy->parameters, name); });
}

// What may be swept by its name alone, for a person who has mistyped it.
std::vector<std::string> known_names(const Study& study) {
  std::vector<std::string> names;
  if (study.generator != nullptr) {
    for (const balancer::Parameter& p : study.generator->parameters) names.emplace_back(p.name);
  }
  for (const Study::Balancer& b : study.balancers) {
    for (const balancer::Parameter& p : b.policy->parameters) names.emplace_back(p.name);
  }
  return names;
}

void find_key(ParameterSweep& s, const Study& study) {
  const auto starts = [&](const char* prefix, ParameterSweep::Of of) {
    if (s.key.rfind(prefix, 0) != 0) return false;
    s.parameter = s.key.substr(std::string(prefix).size());
    s.of = of;
    return true;
  };
  if (s.key == "cluster.ranks") {
    throw usage_error("--sweep cluster.ranks: numbers of ranks are given by -n, as in -n 2,4,8");
  }
  if (starts("cluster.", ParameterSweep::Of::cluster)) return;
  if (starts("workload.", ParameterSweep::Of::workload)) {
    if (study.generator == nullptr) {
      throw usage_error("--sweep " + s.key +
                        ": a trace has no parameters; only generated workloads have (`tessera simulate --list`)");
    }
    return;  // its values will be refused by their owner
  }
  if (starts("balancer.", ParameterSweep::Of::balancer)) {
    if (!of_balancer(study, s.parameter))
      throw usage_error("--sweep " + s.key + ": no balancer of this study has a parameter `" + s.parameter + "`");
    return;
  }
  s.parameter = s.key;
  const bool work = of_workload(study, s.key), policy = of_balancer(study, s.key);
  if (work && policy) {
    throw usage_error("--sweep " + s.key +
                      ": the workload and a balancer have a parameter of that name; write workload." + s.key +
                      " or balancer." + s.key);
  }
  if (!work && !policy) {
    throw usage_error("--sweep: no parameter `" + s.key + "`" +
                      guess(s.key, known_names(study),
                            "`tessera simulate --list` lists those of workloads, `tessera policies NAME` those of a "
                            "balancer; the cluster's are written cluster.KEY, as cluster.link.latency"));
  }
  s.of = work ? ParameterSweep::Of::workload : ParameterSweep::Of::balancer;
}

// `1ms` is 1 and `ms`.
struct Quantity {
  double number;
  std::string unit;
};
std::optional<Quantity> quantity(const std::string& text) {
  const std::size_t end = text.find_last_of("0123456789.");
  if (end == std::string::npos) return std::nullopt;
  const std::optional<double> number = balancer::parse_number(text.substr(0, end + 1));
  if (!number) return std::nullopt;
  return Quantity{*number, text.substr(end + 1)};
}

// `A..B`, `A..B*F`: with the unit of either end.
void add_range(ParameterSweep& s, const std::string& part, std::size_t dots) {
  const auto wrong = [&](const std::string& why) {
    return usage_error("--sweep " + s.key + ": `" + part + "` " + why + "; write 1,2,4, or 1..4, or 1ms..64ms*2");
  };
  const std::size_t star = part.find('*', dots);
  const auto from = quantity(part.substr(0, dots));
  const auto to = quantity(part.substr(dots + 2, star == std::string::npos ? star : star - dots - 2));
  const auto factor = star == std::string::npos ? std::optional(1.0) : balancer::parse_number(part.substr(star + 1));
  if (!from || !to || !factor) throw wrong("is no range of numbers");
  if (!from->unit.empty() && !to->unit.empty() && from->unit != to->unit)
    throw wrong("begins and ends in different units");
  if (star != std::string::npos && (*factor <= 1 || from->number <= 0)) throw wrong("never comes to its end");
  if (from->number > to->number) throw wrong("is empty");
  const std::string unit = to->unit.empty() ? from->unit : to->unit;
  for (double v = from->number; v <= to->number * (1 + 1e-12); v = star == std::string::npos ? v + 1 : v * *factor) {
    if (s.values.size() >= kMostPoints) throw wrong("has more than " + std::to_string(kMostPoints) + " values");
    s.values.push_back(fmt::format("{:.12g}", v) + unit);
  }
}

}  // namespace

ParameterSweep parse_sweep(const std::string& text, const Study& study) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw usage_error("--sweep: write KEY=VALUE,VALUE,..., not `" + text + "`");
  }
  ParameterSweep s;
  s.key = text.substr(0, equals);
  find_key(s, study);
  std::istringstream parts(text.substr(equals + 1));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    if (dots != std::string::npos) {
      add_range(s, part, dots);
    } else if (part.empty()) {
      throw usage_error("--sweep " + s.key + ": a value is missing between two commas");
    } else {
      s.values.push_back(part);
    }
  }
  return s;
}

Points::Points(std::vector<ParameterSweep> sweeps, const Study& study) : sweeps_(std::move(sweeps)) {
  double all = 1;
  for (std::size_t i = 0; i < sweeps_.size(); ++i) {
    all *= static_cast<double>(sweeps_[i].values.size());
    for (std::size_t j = 0; j < i; ++j) {
      if (sweeps_[i].of == sweeps_[j].of && sweeps_[i].parameter == sweeps_[j].parameter) {
        throw usage_error("--sweep " + sweeps_[i].key + " is given twice");
      }
    }
  }
  if (all > static_cast<double>(kMostPoints)) {
    throw usage_error(
        fmt::format("--sweep: {:.0f} combinations of values; at most {} are run at once", all, kMostPoints));
  }
  Study tried;  // without the trace, which may be large
  tried.generator = study.generator;
  tried.balancers = study.balancers;
  tried.cluster_asked = study.cluster_asked;
  for (std::size_t p = 0; p < count(); ++p) {
    tried.parameters = study.parameters;
    apply(p, tried);
  }
}

std::size_t Points::count() const {
  std::size_t all = 1;
  for (const ParameterSweep& s : sweeps_) all *= s.values.size();
  return all;
}

std::vector<std::string> Points::values(std::size_t point) const {
  std::vector<std::string> values(sweeps_.size());
  for (std::size_t i = sweeps_.size(); i-- > 0; point /= sweeps_[i].values.size()) {
    values[i] = sweeps_[i].values[point % sweeps_[i].values.size()];
  }
  return values;
}

void Points::apply(std::size_t point, Study& study) const {
  if (sweeps_.empty()) return;
  const std::vector<std::string> now = values(point);
  sim::ClusterChanges changes;
  for (std::size_t i = 0; i < sweeps_.size(); ++i) {
    const ParameterSweep& s = sweeps_[i];
    std::string wrong;
    if (s.of == ParameterSweep::Of::cluster) {
      changes.emplace_back(s.parameter, now[i]);
    } else if (s.of == ParameterSweep::Of::workload) {
      study.parameters[s.parameter] = now[i];
      const std::vector<std::string> all = sim::check_workload(*study.generator, study.parameters);
      if (!all.empty()) wrong = all.front();
    } else {
      for (Study::Balancer& b : study.balancers) {
        if (!has(b.policy->parameters, s.parameter)) continue;
        b.settings[s.parameter] = now[i];
        const std::vector<std::string> all = balancer::check_settings(*b.policy, b.settings);
        if (!all.empty()) wrong = all.front();
      }
    }
    if (!wrong.empty()) throw usage_error("--sweep " + s.key + "=" + now[i] + ": " + wrong);
  }
  if (changes.empty()) return;
  try {
    study.cluster = find_cluster(study.cluster_asked, changes);
  } catch (const Failure& e) {
    throw Failure(e.exit_code(), std::string(e.what()) + " (with what --sweep puts there)");
  }
}

}  // namespace tessera::cli
