#include "balancer/simulator/lbaf_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace tessera::balancer::simulator {
namespace {

using Json = nlohmann::json;

constexpr const char* kEnding = ".0.json";
constexpr Time kBarrierWeight = 1'000;
constexpr std::int64_t kSmall = 8;  // bytes of a word that all is done
constexpr double kMostSeconds = 1e9;

struct Task {
  Time weight = 0;
  std::int32_t rank = 0;
  bool moves = true;
};
struct Edge {
  std::string from, to;
  std::int64_t bytes;
};
struct Phase {
  std::map<std::string, Task> tasks;  // by object
  std::vector<Edge> edges;
};

class Reading {
 public:
  explicit Reading(const std::string& first) : stem_(first.substr(0, first.size() - std::string(kEnding).size())) {}

  Trace read() {
    for (; std::filesystem::is_regular_file(file()); ++rank_) {
      try {
        one(parse());
      } catch (const Json::exception& e) {
        wrong(std::string("is no LB data file: ") + e.what());
      }
    }
    if (rank_ == 0) throw TraceError("no such file: " + file());
    Trace trace;
    trace.program = std::filesystem::path(stem_).filename().string();
    trace.work = workload();
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
      if (entity.contains(key)) return std::string(key) + entity[key].dump();
    }
    wrong("has an object without `id` or `seq_id`");
  }

  void one(const Json& all) {
    if (!all.contains("phases")) wrong("has no `phases`");
    for (const Json& p : all.at("phases")) {
      Phase& phase = phases_[p.at("id").get<std::int64_t>()];
      for (const Json& t : p.value("tasks", Json::array())) {
        const double seconds = t.at("time").get<double>();
        if (!(seconds >= 0 && seconds < kMostSeconds)) wrong("has a task of " + t.at("time").dump() + " seconds");
        const std::string name = object(t.at("entity"));
        if (name.empty()) continue;
        Task& task = phase.tasks[name];
        task.weight += static_cast<Time>(std::llround(seconds * 1e9));
        task.rank = t.value("node", rank_);
        task.moves = t.at("entity").value("migratable", true);
        if (task.rank < 0) wrong("has a task on node " + std::to_string(task.rank));
      }
      for (const Json& c : p.value("communications", Json::array())) {
        const std::string from = object(c.at("from")), to = object(c.at("to"));
        const auto bytes = c.at("bytes").get<double>();
        if (!(bytes >= 0 && bytes < 1e15)) wrong("has a message of " + c.at("bytes").dump() + " bytes");
        if (!from.empty() && !to.empty() && from != to) phase.edges.push_back({from, to, std::llround(bytes)});
      }
    }
  }

  // What an object sends in a phase is read in the next one.
  Workload workload() const {
    Workload w;
    w.groups.resize(3);
    w.groups[0].label = "object at lbaf:1";
    w.groups[0].stealable = true;
    w.groups[1].label = "fixed object at lbaf:1";
    w.groups[1].never_moved = true;
    w.groups[2].label = "barrier at lbaf:2";
    w.groups[2].never_moved = true;
    std::map<std::string, std::uint32_t> series;
    std::map<std::string, std::size_t> last;
    const Phase* before = nullptr;
    std::size_t barrier = 0;
    for (const auto& [id, phase] : phases_) {
      Fragment next{.group = Group{2}, .weight = kBarrierWeight, .output = kSmall, .home = Rank{0}};
      std::map<std::string, std::vector<Input>> sent;
      std::map<std::string, std::int64_t> sends;
      for (const Edge& e : phase.edges) sends[e.from] = std::max(sends[e.from], e.bytes);
      if (before != nullptr) {
        for (const Edge& e : before->edges) {
          if (const auto by = last.find(e.from); by != last.end()) add(sent[e.to], {by->second, e.bytes});
        }
      }
      std::map<std::string, std::size_t> now;
      for (const auto& [name, task] : phase.tasks) {
        Fragment f{.group = Group{task.moves ? 0U : 1U}, .weight = std::max<Time>(task.weight, 1)};
        f.output = sends.contains(name) ? sends[name] : kSmall;
        f.home = Rank{task.rank};
        if (task.moves) f.series = series.emplace(name, series.size() + 1).first->second;
        if (before != nullptr) f.inputs = {{barrier, kSmall}};
        for (const Input& i : sent[name]) f.inputs.push_back(i);
        const std::size_t number = w.add(std::move(f));
        w.births.push_back({0, Rank{task.rank}, number});
        next.inputs.push_back({number, kSmall});
        now[name] = number;
      }
      barrier = w.add(std::move(next));
      w.births.push_back({0, Rank{0}, barrier});
      last = std::move(now);
      before = &phase;
    }
    if (w.fragments.empty()) wrong("has no phase");
    return w;
  }
  // Several messages of one object to another are one input.
  static void add(std::vector<Input>& inputs, const Input& one) {
    const auto same = [&](const Input& i) { return i.fragment == one.fragment; };
    const auto at = std::find_if(inputs.begin(), inputs.end(), same);
    if (at == inputs.end()) {
      inputs.push_back(one);
    } else {
      at->bytes += one.bytes;
    }
  }

  const std::string stem_;
  std::int32_t rank_ = 0;
  std::map<std::int64_t, Phase> phases_;
};

}  // namespace

bool names_lbaf(const std::string& path) { return path.ends_with(kEnding); }

Trace read_lbaf(const std::string& path) { return Reading(path).read(); }

}  // namespace tessera::balancer::simulator
