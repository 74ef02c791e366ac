#include "balancer/simulator/lbaf_file.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/loads.hpp"

namespace tessera::balancer::simulator {
namespace {

using Json = nlohmann::json;

constexpr const char* kEnding = ".0.json";

class Reading {
 public:
  explicit Reading(const std::string& first) : stem_(first.substr(0, first.size() - std::string(kEnding).size())) {}

  Trace read() {
    for (; std::filesystem::is_regular_file(file()); ++rank_) {
      place_ = {};
      try {
        one(parse());
      } catch (const Json::exception& e) {
        wrong(std::string("is no LB data file: ") + e.what() + place());
      }
    }
    if (rank_ == 0) throw TraceError("no such file: " + file());
    rank_ = 0;
    Trace trace;
    trace.program = std::filesystem::path(stem_).filename().string();
    if (phases_.empty()) wrong("has no phase");
    trace.work = workload_of(phases_, "lbaf");
    return trace;
  }

 private:
  std::string file() const { return stem_ + "." + std::to_string(rank_) + ".json"; }
  [[noreturn]] void wrong(const std::string& what) const { throw TraceError(file() + ": " + what); }

  Json parse() const {
    std::ifstream in(file(), std::ios::binary);
    if (!in) wrong("can't be read");
    return Json::parse(in);
  }

  // The name of an object; empty: it is none (a node, a group of objects).
  std::string object(const Json& entity) const {
    if (entity.value("type", "object") != "object") return {};
    for (const char* key : {"id", "seq_id"}) {
      if (!entity.contains(key)) continue;
      const Json& id = entity[key];
      if (!id.is_number() && !id.is_string())
        wrong("has an object whose `" + std::string(key) + "` is no number" + place());
      return std::string(key) + id.dump();
    }
    wrong("has an object without `id` or `seq_id`" + place());
  }

  // In which phase, and which of its tasks or messages, counted from 0: for messages. The position of a fault in the
  // text the JSON reader says itself.
  struct Place {
    std::int64_t phase = -1;
    const char* list = "";
    std::size_t at = 0;
  };
  std::string place() const {
    if (place_.phase < 0) return "";
    return " in phase " + std::to_string(place_.phase) +
           (*place_.list == '\0' ? "" : ", " + std::string(place_.list) + "[" + std::to_string(place_.at) + "]");
  }

  void one(const Json& all) {
    if (!all.contains("phases")) wrong("has no `phases`");
    for (const Json& p : all.at("phases")) {
      place_ = {p.at("id").get<std::int64_t>()};
      LoadPhase& phase = phases_[place_.phase];
      place_.list = "tasks";
      for (const Json& t : p.value("tasks", Json::array())) {
        task(t, phase);
        ++place_.at;
      }
      place_ = {place_.phase, "communications"};
      for (const Json& c : p.value("communications", Json::array())) {
        message(c, phase);
        ++place_.at;
      }
    }
  }
  void task(const Json& t, LoadPhase& phase) {
    const double seconds = t.at("time").get<double>();
    if (!sums_.take_seconds(seconds)) wrong("has a task of " + t.at("time").dump() + " seconds" + place());
    const std::string name = object(t.at("entity"));
    if (name.empty()) return;
    LoadTask& task = phase.tasks[name];
    task.weight += static_cast<Time>(std::llround(seconds * 1e9));
    const auto node = t.value("node", std::int64_t{rank_});
    if (node < 0 || node >= kMostRanks) wrong("has a task on node " + std::to_string(node) + place());
    task.rank = static_cast<std::int32_t>(node);
    task.moves = t.at("entity").value("migratable", true);
  }
  void message(const Json& c, LoadPhase& phase) {
    const std::string from = object(c.at("from")), to = object(c.at("to"));
    const auto bytes = c.at("bytes").get<double>();
    if (!sums_.take_bytes(bytes)) wrong("has a message of " + c.at("bytes").dump() + " bytes" + place());
    if (!from.empty() && !to.empty() && from != to) phase.edges.push_back({from, to, std::llround(bytes)});
  }

  const std::string stem_;
  std::int32_t rank_ = 0;
  std::map<std::int64_t, LoadPhase> phases_;
  Place place_;
  LoadSums sums_;
};

}  // namespace

bool names_lbaf(const std::string& path) { return path.ends_with(kEnding); }

Trace read_lbaf(const std::string& path) { return Reading(path).read(); }

}  // namespace tessera::balancer::simulator
