#include "runtime/record/policy_log.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include "balancer/transcript.hpp"
#include "runtime/comm/fields.hpp"
#include "runtime/record/json_archive.hpp"
#include "runtime/record/log_check.hpp"

namespace tessera::runtime {
namespace {

using namespace balancer;

constexpr const char* kFormat = "tessera-policy-1";
constexpr Time kFlush = 100'000'000;  // ns

Json groups_text(const std::vector<GroupInfo>& groups) {
  Json list = Json::array();
  for (const GroupInfo& g : groups) {
    const auto& [label, stealable, range, body, below, bulk, count, weight, variance, never_moved] = g;
    list.push_back({{"label", label},
                    {"stealable", stealable},
                    {"range", range},
                    {"body", JsonWriter::text_of(body)},
                    {"below", JsonWriter::text_of(below)},
                    {"bulk", bulk},
                    {"profile_count", count},
                    {"profile_weight", weight},
                    {"profile_variance", JsonWriter::text_of(variance)},
                    {"never_moved", never_moved}});
  }
  return list;
}

std::vector<GroupInfo> groups_of(const Json& list) {
  std::vector<GroupInfo> groups;
  for (const Json& j : list) {
    GroupInfo g;
    j.at("label").get_to(g.label);
    j.at("stealable").get_to(g.stealable);
    j.at("range").get_to(g.range);
    JsonReader::read(j.at("body"), g.body);
    if (j.contains("below")) JsonReader::read(j.at("below"), g.below);
    g.bulk = j.value("bulk", false);  // as ship_cost
    JsonReader::read(j.at("profile_count"), g.profile_count);
    JsonReader::read(j.at("profile_weight"), g.profile_weight);
    JsonReader::read(j.at("profile_variance"), g.profile_variance);
    j.at("never_moved").get_to(g.never_moved);
    groups.push_back(std::move(g));
  }
  return groups;
}

Json header(const std::string& program, std::string_view policy, const Setup& setup) {
  const auto& [rank, ranks, workers, seed, ship_cost, powers, hosts, groups, settings] = setup;
  Json j;
  j["format"] = kFormat;
  j["program"] = program;
  j["policy"] = policy;
  j["rank"] = index(rank);
  j["ranks"] = ranks;
  j["workers"] = workers;
  j["seed"] = seed;
  j["ship_cost"] = ship_cost;
  j["powers"] = JsonWriter::text_of(powers);
  if (!hosts.empty()) j["hosts"] = JsonWriter::text_of(hosts);
  j["groups"] = groups_text(groups);
  j["settings"] = settings;
  return j;
}

Setup setup_of(const Json& j) {
  Setup s;
  JsonReader::read(j.at("rank"), s.rank);
  JsonReader::read(j.at("ranks"), s.ranks);
  JsonReader::read(j.at("workers"), s.workers);
  JsonReader::read(j.at("seed"), s.seed);
  if (j.contains("ship_cost")) JsonReader::read(j.at("ship_cost"), s.ship_cost);  // older logs have none: none was told
  JsonReader::read(j.at("powers"), s.powers);
  if (j.contains("hosts")) JsonReader::read(j.at("hosts"), s.hosts);
  s.groups = groups_of(j.at("groups"));
  j.at("settings").get_to(s.settings);
  return s;
}

// The readable lines of a step: what was told, then what was answered.
Json readable(const Event& event, const Actions& actions) {
  Json text = Json::array({to_text(event)});
  for (const Action& a : actions) text.push_back(to_text(a));
  return text;
}

std::string listed(const Actions& actions) {
  std::string text;
  for (const Action& a : actions) text += "\n    " + to_text(a);
  return actions.empty() ? "\n    nothing" : text;
}

// What differs between recorded and new actions, for a person. Some differences are finer than the
// readable form (bytes of a group, the last digit of a real): then the exact forms are shown as
// well.
std::string difference(Time now, const Event& event, const Json& recorded, const Actions& actions) {
  Actions before;
  JsonReader::read(recorded, before);
  std::string text = seconds_text(now) + " " + to_text(event);
  text += "\n  the recorded policy answered:" + listed(before);
  text += "\n  this one answers:" + listed(actions);
  if (listed(before) == listed(actions)) {
    text += "\n  exactly: " + recorded.dump();
    text += "\n  and now: " + JsonWriter::text_of(actions).dump();
  }
  return text;
}

}  // namespace

std::string PolicyLog::file_of(const std::string& directory, Rank rank) {
  return directory + "/rank-" + std::to_string(index(rank)) + ".policy.jsonl";
}

PolicyLog::PolicyLog(const std::string& file, const std::string& program, std::string_view policy, const Setup& setup)
    : out_(file, std::ios::binary | std::ios::trunc) {
  if (!out_) wrong_ = std::strerror(errno);
  put(header(program, policy, setup).dump());
}

void PolicyLog::put(const std::string& line) {
  errno = 0;
  out_ << line << '\n';
  if (!out_ && wrong_.empty()) wrong_ = std::strerror(errno);
}

void PolicyLog::flush() {
  errno = 0;
  if (!out_.flush() && wrong_.empty()) wrong_ = std::strerror(errno);
}

void PolicyLog::step(Time now, const Event& event, const Actions& actions) {
  Json j;
  j["at"] = now;
  j["event"] = JsonWriter::text_of(event);
  j["actions"] = JsonWriter::text_of(actions);
  j["text"] = readable(event, actions);
  put(j.dump(-1, ' ', false, Json::error_handler_t::replace));  // a plugin's text may be none
  ++steps_;
  if (now - flushed_ >= kFlush) {
    flushed_ = now;
    flush();
  }
}

std::string PolicyLog::close() {
  put(Json{{"end", steps_}}.dump());
  flush();
  return wrong_;
}

Replay replay(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line)) {
    const char* why = in.is_open() ? "the file is empty" : std::strerror(errno);
    throw PolicyLogError(file + ": can't be read: " + why);
  }
  Replay r;
  std::int64_t number = 1;
  const auto wrong = [&](const std::string& what) {
    return PolicyLogError(file + ":" + std::to_string(number) + ": " + what);
  };
  std::unique_ptr<Policy> policy;
  std::optional<LogCheck> check;
  try {
    const Json j = Json::parse(line);
    const auto format = j.at("format").get<std::string>();
    if (format != kFormat) {
      throw wrong("this is a log of format `" + format + "`; this tessera reads `" + kFormat + "`");
    }
    j.at("policy").get_to(r.policy);
    const PolicyInfo* info = find_policy(r.policy);
    if (info == nullptr) throw wrong("there is no balancer `" + r.policy + "` in this tessera");
    Setup setup = setup_of(j);
    if (const auto bad = check_settings(*info, setup.settings); !bad.empty()) throw wrong(bad.front());
    try {
      check.emplace(*info, setup);
    } catch (const std::runtime_error& e) {
      throw wrong(std::string("this log is damaged: ") + e.what());
    }
    r.rank = setup.rank;
    policy = info->make(setup);
  } catch (const PolicyLogError&) {
    throw;
  } catch (const std::exception&) {
    throw wrong("this is no log of a policy (tessera run --record-policy DIR writes them)");
  }
  while (std::getline(in, line)) {
    ++number;
    const bool cut = in.eof();  // no line end: the rank was killed while it wrote
    try {
      const Json j = Json::parse(line);
      if (const auto end = j.find("end"); end != j.end()) {
        if (end->get<std::int64_t>() != r.steps) throw wrong("lines are missing before this one");
        r.complete = true;
        return r;
      }
      Time now = 0;
      JsonReader::read(j.at("at"), now);
      Event event;
      JsonReader::read(j.at("event"), event);
      check->told(now, event);
      Actions actions;
      policy->step(now, event, actions);
      check->answered(actions);
      if (JsonWriter::text_of(actions) != j.at("actions")) {
        r.difference = file + ":" + std::to_string(number) + ": " + difference(now, event, j.at("actions"), actions);
        return r;
      }
      ++r.steps;
      r.actions += static_cast<std::int64_t>(actions.size());
    } catch (const PolicyLogError&) {
      throw;
    } catch (const std::exception& e) {
      if (cut) return r;
      throw wrong(std::string("this is not a line of a policy's log: ") + e.what());
    }
  }
  return r;
}

}  // namespace tessera::runtime
