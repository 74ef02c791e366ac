// Policy: one rank's part of a load-balancing method, as a pure state machine.
//
// Owned by whatever drives it (the live runtime's communication thread, the simulator, a test); it
// is told events and appends actions. Same construction and same events give the same actions, on
// every machine: no clock, no threads, no MPI, no unordered containers, ties broken by rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/event.hpp"

namespace tessera::balancer {

class Policy {
 public:
  virtual ~Policy() = default;
  // step takes one event that happened at `now` and appends what is to be done.
  virtual void step(Time now, const Event& event, Actions& out) = 0;
};

// What is known of a group before the run.
struct GroupInfo {
  std::string label;        // for decisions and profiles: `mul at matmul.fa:24`
  bool stealable = false;   // the program says so
  bool range = false;       // iterations of a `for`
  std::vector<Group> body;  // range: groups of the calls in one iteration
  // range: those of all other calls that come of one, perhaps: under conditions, in loops and in subs
  std::vector<Group> below;
  // One that is shipped takes along what costs no shipment of its own: fragments that it makes (positions of a search),
  // runs of a call that repeats, iterations that read nothing of others.
  bool bulk = false;
  // from a loaded profile; count 0: nothing known
  std::int64_t profile_count = 0;
  Time profile_weight = 0;      // mean, ns
  double profile_variance = 0;  // ns^2
  bool never_moved = false;     // profile says it is not worth reporting
};

using Settings = std::map<std::string, std::string>;  // parameter -> text, as in configs/balancer

// Setup is all a policy gets at construction.
struct Setup {
  Rank rank{0};
  std::int32_t ranks = 1;
  std::int32_t workers = 1;  // threads that run fragments on this rank
  std::uint64_t seed = 1;
  Time ship_cost = 0;               // ns that each of two ranks does for a fragment shipped, besides the wire
  std::vector<double> powers;       // relative speed by rank, from a cluster file; missing: 1
  std::vector<std::int32_t> hosts;  // by rank, a number for each; missing: not known, or nothing to tell
  std::vector<GroupInfo> groups;    // indexed by Group
  Settings settings;                // validated by check_settings
};

struct Parameter {
  std::string_view name;           // "jobs_left_threshold"
  std::string_view default_value;  // as text; "auto" where that is a value
  std::string_view help;           // with unit and range
  // duration: `60ms`; bytes: `2MB` (balancer/units.hpp); numbers: some, "3,3,2"
  enum class Kind { number, integer, boolean, choice, duration, bytes, numbers } kind = Kind::number;
  double min = 0, max = 1e18;  // of numbers, each of them; of durations in ns
  bool may_be_auto = false;
  std::span<const std::string_view> choices{};
};

struct PolicyInfo {
  std::string_view name;     // "central"
  std::string_view summary;  // one line for --help
  std::span<const Parameter> parameters;
  std::unique_ptr<Policy> (*make)(const Setup&);
  // How many of `ranks` ranks execute fragments with these settings: 0 .. n-1 do, the others only
  // balance. Null: all do. Ask by executing_ranks below.
  std::int32_t (*executing)(const Settings&, std::int32_t ranks) = nullptr;
  // Whether a fragment that the policy has shipped goes on to where it belongs as soon as it arrives, for its placement
  // is looked at again: a fault of LuNA's own balancer, which its host has to make. Null: it stays. Ask by sends_home.
  bool (*homeward)(const Settings&) = nullptr;
  // Whether it wants to hear of series (SeriesRan) with these settings. Null: never.
  bool (*settles)(const Settings&) = nullptr;
};

// executing_ranks tells how many ranks run fragments: those numbered from 0. It is 0 when the
// policy needs more ranks than there are.
inline std::int32_t executing_ranks(const PolicyInfo& info, const Settings& settings, std::int32_t ranks) {
  return info.executing == nullptr ? ranks : info.executing(settings, ranks);
}

inline bool sends_home(const PolicyInfo& info, const Settings& settings) {
  return info.homeward != nullptr && info.homeward(settings);
}
inline bool settles_series(const PolicyInfo& info, const Settings& settings) {
  return info.settles != nullptr && info.settles(settings);
}

// The registry is a value, built here and passed down; no static registration.
const std::vector<PolicyInfo>& policies();
const PolicyInfo* find_policy(std::string_view name);
// One from a shared object (runtime/launch/policy_file.hpp): find_policy then knows it by the file's path, and by its
// own name. Before any thread is started.
void add_policy(const std::string& path, const PolicyInfo& info);
// What a run on so many ranks uses when nobody asks for another.
std::string_view usual_policy(std::int32_t ranks);
// check_settings returns one message per unknown key or value out of range; empty means fine.
// Underscores and dashes are the same.
std::vector<std::string> check_settings(const PolicyInfo&, const Settings&);
bool has_parameter(const PolicyInfo&, std::string_view name);
// The value of a parameter: from settings, else its default.
std::string setting(const PolicyInfo&, const Settings&, std::string_view parameter);

}  // namespace tessera::balancer
