#include "runtime/report/status_board.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/start/members.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kStatusPatience = std::chrono::seconds(1);
constexpr double kMuchLonger = 100;  // than its group in the mean
constexpr double kLongEnough = 1;    // s

using StatusJson = nlohmann::ordered_json;

StatusJson outlook_json(const Outlook& o) {
  StatusJson j{{"text", text_of(o)}};
  if (!o.seconds_left) return j;
  j["done"] = *o.done;
  j["seconds_left"] = *o.seconds_left;
  j["at_least"] = o.at_least;
  return j;
}

}  // namespace

StatusBoard::StatusBoard(const RunFacts& facts, const Members& members, Communicator& comm, TotalsOfAll& totals,
                         Own own)
    : facts_(facts),
      members_(members),
      comm_(comm),
      totals_(totals),
      own_(std::move(own)),
      start_(Clock::now()),
      missing_(static_cast<std::size_t>(facts.ranks)),
      heard_(static_cast<std::size_t>(facts.ranks)) {
  heard_[0] = true;
}

void StatusBoard::ask(bool waits, Answer to) {
  // Who comes while others are answered may want more than these.
  next_.push_back({waits, std::move(to)});
  if (asked_.empty()) begin();
}

void StatusBoard::begin() {
  asked_ = std::exchange(next_, {});
  waits_.reset();
  ask_all({std::any_of(asked_.begin(), asked_.end(), [](const Asked& a) { return a.waits; })});
}

void StatusBoard::ask_all(AskTotals what) {
  deadline_ = Clock::now() + kStatusPatience;
  totals_.take(Rank{0}, own_(what));
  for (std::size_t r = 1; r < missing_.size(); ++r) {
    missing_[r] = true;
    comm_.send(Rank{static_cast<std::int32_t>(r)}, what);
  }
  if (missing_.size() == 1) all_answered();
}

void StatusBoard::came(Rank from) {
  missing_[static_cast<std::size_t>(balancer::index(from))] = false;
  heard_[static_cast<std::size_t>(balancer::index(from))] = true;
  if (!asked_.empty() && std::find(missing_.begin(), missing_.end(), true) == missing_.end()) all_answered();
}

void StatusBoard::turn(Clock::time_point now) {
  if (!asked_.empty() && now >= deadline_) all_answered();
}

Clock::time_point StatusBoard::next(Clock::time_point now) const {
  return asked_.empty() ? now + std::chrono::hours(1) : deadline_;
}

// Or it has been long enough.
void StatusBoard::all_answered() {
  const bool wanted = std::any_of(asked_.begin(), asked_.end(), [](const Asked& a) { return a.waits; });
  if (!wanted || waits_ != nullptr) return answer_all();
  waits_ = std::make_unique<WaitReport>(totals_.by_rank());
  if (waits_->names().empty()) return answer_all();
  ask_all({false, waits_->names()});
}

void StatusBoard::answer_all() {
  const std::string all = text();
  for (const Asked& a : std::exchange(asked_, {})) a.answer(all);
  if (!next_.empty()) begin();
}

StatusJson StatusBoard::waits_text() const {
  StatusJson list = StatusJson::array();
  const std::vector<WaitReport::Line> lines = waits_->lines(totals_.by_rank());
  for (const WaitReport::Line& l : lines) {
    StatusJson x{{"for", l.waits.slot}, {"fragment", l.waits.waiter}, {"behind", l.behind}, {"alike", l.alike}};
    if (l.rank >= 0) {
      x["made_by"] = {{"rank", l.rank}, {"fragment", l.maker.text}, {"seconds", l.maker.seconds}};
    } else {
      x["producers"] = l.waits.producers;
    }
    list.push_back(std::move(x));
  }
  return {{"fragments", waits_->waiting()}, {"first", std::move(list)}, {"more", waits_->more(lines)}};
}

// What it does in the run, in a word.
const char* StatusBoard::part_of(Rank r) const {
  if (balancer::index(r) >= members_.workers()) return "coordinates";
  if (members_.takes_part(r)) return "works";
  return members_.spare(r) && totals_.by_rank()[static_cast<std::size_t>(balancer::index(r))].finished == 0 ? "rests"
                                                                                                            : "left";
}

std::string StatusBoard::text() {
  const auto& ranks = totals_.by_rank();
  const std::vector<GroupTotals> groups = merge_groups(ranks);
  const auto mean_of = [&](std::uint32_t group) {
    const auto g = std::find_if(groups.begin(), groups.end(), [&](const GroupTotals& x) { return x.group == group; });
    return g == groups.end() ? 0 : g->weight * 1e-9;
  };
  StatusJson j;
  j["format"] = "tessera-status-1";
  j["program"] = facts_.program.name;
  j["balancer"] = facts_.policy.name;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  j["seconds"] = seconds;
  Outlook left = outlook(facts_.program, groups, seconds, running_of(ranks));
  pace_.correct(left, seconds);
  j["outlook"] = outlook_json(left);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Totals& t = ranks[r];
    StatusJson running = StatusJson::array();
    for (const RunningFragment& f : t.now.running) {
      StatusJson x{{"fragment", f.text}, {"seconds", f.seconds}};
      const double mean = mean_of(f.group);
      if (f.seconds >= kLongEnough && mean > 0 && f.seconds > kMuchLonger * mean) x["mean_of_group_seconds"] = mean;
      running.push_back(std::move(x));
    }
    j["ranks"].push_back({{"rank", r},
                          {"host", facts_.hosts.empty() ? "" : facts_.hosts[r]},
                          {"part", part_of(Rank{static_cast<std::int32_t>(r)})},
                          {"answered", !missing_[r]},
                          {"heard", static_cast<bool>(heard_[r])},
                          {"workers", t.threads},
                          {"busy_seconds", t.busy},
                          {"done", t.finished},
                          {"ready", t.ready},
                          {"waiting", t.waiting},
                          {"moved_in", t.moved_in},
                          {"moved_out", t.moved_out},
                          {"memory_bytes", t.now.memory_bytes},
                          {"data_bytes", t.now.data_bytes},
                          {"running", std::move(running)}});
  }
  j["groups"] = StatusJson::array();
  for (const GroupTotals& g : groups) {
    const abi::Block& b = *facts_.program.blocks[g.group];
    if (!calls_kernel(facts_.program, g.group) || g.count == 0) continue;
    j["groups"].push_back({{"label", b.label},
                           {"at", place(facts_.program, b.pos)},
                           {"count", g.count},
                           {"mean_ns", g.weight},
                           {"moved", g.moved_away}});
  }
  std::map<std::string, std::int64_t> decisions;
  for (const Totals& t : ranks) {
    for (const std::string& d : t.decisions) {
      const std::size_t bar = d.rfind('|');
      decisions[d.substr(0, bar)] += std::stoll(d.substr(bar + 1));
    }
  }
  j["decisions"] = decisions;
  if (waits_ != nullptr) j["waits"] = waits_text();
  return j.dump(-1, ' ', false, StatusJson::error_handler_t::replace);
}

}  // namespace tessera::runtime
