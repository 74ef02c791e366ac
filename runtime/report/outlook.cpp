#include "runtime/report/outlook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "balancer/units.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr double kLook = 0.5;  // s

// How many there will be of each group, as far as that can be known.
class Expected {
 public:
  Expected(const abi::Program& program, const std::vector<GroupTotals>& groups) : program_(program) {
    for (const GroupTotals& g : groups) groups_[g.group] = &g;
  }
  // Runs of the group in the whole run of the program; nothing: why() says why not.
  std::optional<double> runs(std::uint32_t group) {
    const abi::Block& b = *program_.blocks[group];
    const std::optional<double> fragments = born(group);
    if (!fragments || (b.flags & abi::kRepeats) == 0) return fragments;
    const GroupBirths& own = groups_.at(group)->births;
    return own.born == 0 ? fragments : *fragments * static_cast<double>(own.steps) / static_cast<double>(own.born);
  }
  const std::string& why() const { return why_; }

 private:
  struct Known {
    bool asked = false;
    std::optional<double> born;
  };

  std::optional<double> unknown(std::uint32_t group, const char* what) {
    if (why_.empty()) why_ = fmt::format("{} {}", describe(program_, *program_.blocks[group]), what);
    return std::nullopt;
  }

  std::optional<double> born(std::uint32_t group) {
    if (group == program_.main->group) return 1;
    const GroupBirths& own = groups_.at(group)->births;
    if (own.born == 0) return 0;
    Known& known = known_[group];
    if (std::exchange(known.asked, true)) {
      if (!known.born) unknown(group, "calls itself, who knows how often");
      return known.born;
    }
    if (own.maker == kManyMakers) return unknown(group, "is made in several places");
    if (own.maker == kNoMaker) return unknown(group, "was made before");
    const std::optional<double> more = whole_by_part(own.maker);
    if (!more) return std::nullopt;
    known_[group].born = static_cast<double>(own.born) * *more;
    return known_[group].born;
  }

  // How often the group runs in all, over how often it has run so far.
  std::optional<double> whole_by_part(std::uint32_t group) {
    const abi::Block& b = *program_.blocks[group];
    if (b.kind == abi::Kind::loop) return unknown(group, "ends when its condition says so");
    const auto found = groups_.find(group);
    if (found == groups_.end()) return 1;  // few of it were made, and none of those was counted
    if (b.kind != abi::Kind::range) {
      const auto ran = static_cast<double>(found->second->count);
      const std::optional<double> all = born(group);
      if (!all) return std::nullopt;
      return ran == 0 ? 1 : std::max(1.0, *all / ran);
    }
    const GroupBirths& own = found->second->births;
    const std::optional<double> loops = born(group);
    if (!loops) return std::nullopt;
    if (own.stepped == 0 || own.born == 0) return 1;
    const double steps = static_cast<double>(own.steps) * *loops / static_cast<double>(own.born);
    return std::max(1.0, steps / static_cast<double>(own.stepped));
  }

  const abi::Program& program_;
  std::map<std::uint32_t, const GroupTotals*> groups_;
  std::map<std::uint32_t, Known> known_;
  std::string why_;
};

}  // namespace

Outlook outlook(const abi::Program& program, const std::vector<GroupTotals>& groups, double seconds,
                const std::vector<RunningFragment>& running) {
  Outlook o;
  Expected expected(program, groups);
  double done = 0, rest = 0, longest = 0;  // s of kernels
  for (const GroupTotals& g : groups) {
    if (!calls_kernel(program, g.group)) continue;
    const auto ran = static_cast<double>(g.count);
    const double mean = g.weight * 1e-9;
    done += ran * mean;
    o.ended += ran;
    const std::optional<double> all = expected.runs(g.group);
    if (!all) {
      o.why = expected.why();
      return o;
    }
    // Those that run now are known one by one.
    double others = *all - ran;
    for (const RunningFragment& f : running) {
      if (f.group != g.group || mean <= 0) continue;
      const double left = std::max(mean - f.seconds, f.seconds / 10);
      others -= 1;
      done += f.seconds, rest += left;  // one may run a thousand times as long as its group
      longest = std::max(longest, left);
    }
    if (others <= 0) continue;
    o.to_come += others;
    if (g.weight <= 0) {
      o.at_least = true;
      if (o.why.empty())
        o.why = fmt::format("{} ({:.0f} of them), which has not run yet", describe(program, *program.blocks[g.group]),
                            *all);
      continue;
    }
    rest += others * mean;
  }
  if (done <= 0) {
    o.why = "nothing has ended yet";
    return o;
  }
  o.done = done / (done + rest);
  o.seconds_left = std::max(longest, rest * seconds / done);
  return o;
}

std::vector<RunningFragment> running_of(const std::vector<Totals>& ranks) {
  std::vector<RunningFragment> all;
  for (const Totals& t : ranks) all.insert(all.end(), t.now.running.begin(), t.now.running.end());
  return all;
}

void Pace::correct(Outlook& o, double seconds) {
  if (seconds - seconds_ >= kLook || o.ended < ended_) {
    if (o.ended >= ended_ && seconds_ > 0) rate_ = (o.ended - ended_) / (seconds - seconds_);
    seconds_ = seconds, ended_ = o.ended;
  }
  if (!o.seconds_left || *o.seconds_left >= kLook || !rate_ || *rate_ <= 0) return;
  const double left = o.to_come / *rate_;
  if (left <= *o.seconds_left) return;
  o.seconds_left = left;
  o.done = std::min(*o.done, seconds / (seconds + left));
}

std::string text_of(const Outlook& o) {
  if (!o.seconds_left) return "time left: not known: " + o.why;
  const std::string left = balancer::duration_text(static_cast<balancer::Time>(*o.seconds_left * 1e9));
  // It goes on.
  return fmt::format("about {} left ({:.0f} % done){}", left, std::min(99.0, 100 * *o.done),
                     o.at_least ? ", without " + o.why : "");
}

}  // namespace tessera::runtime
