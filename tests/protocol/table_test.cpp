// docs/protocol.md has what a rank does in each state about each event. The tables there are what the machine says:
// this test makes them again and compares. `TESSERA_WRITE=1 ctest -R protocol.*Table` writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/protocol/step.hpp"

namespace tessera::protocol {
namespace {

constexpr Rank kOfHome{0}, kHere{1}, kOther{2}, kThird{3};

const char* name_of(State s) {
  constexpr const char* names[] = {"none",   "unassigned", "here",    "kept", "fetched", "freed",    "spent",
                                   "absent", "asked",      "evicted", "made", "copy",    "entrusted"};
  return names[static_cast<int>(s)];
}

struct Row {
  std::string name;
  Event event;
  bool waiting = false;
};

std::string rank_name(Rank r, Rank self) {
  if (r == self) return "self";
  return r == kOfHome ? "home" : r == kOther ? "*s*" : r == kThird ? "*t*" : "?";
}

std::string said(const Send& s, Rank self) {
  constexpr const char* words[] = {"Request",      "Fetch", "Give",    "Copied",  "Drop", "Drop, later,",
                                   "Used, later,", "Gone",  "Refetch", "Entrust", "Keep"};
  std::string text = std::string(words[static_cast<int>(s.say)]) + " to " + rank_name(s.to, self);
  if (s.whom != kNobody) text += " for " + rank_name(s.whom, self);
  return text;
}

// One cell: the state before has a plain past, *s* has a copy (or keeps the value), *t* is the rank that the event is
// about.
std::string cell(State before, Rank self, const Row& row) {
  if (std::holds_alternative<Wanted>(row.event) && has_value(before)) return "has it";
  if (std::holds_alternative<Wanted>(row.event) && is_freed(before)) return "an error of the program";
  if (std::holds_alternative<Evict>(row.event) && before != State::copy) return "·";  // it has only copies
  Entry e(before, false);
  const View v{.self = self, .home = kOfHome, .next_keeper = kThird, .waiting = row.waiting ? 1 : 0, .size = 50'000};
  if (before == State::kept || before == State::fetched || before == State::here) {
    e.others = std::make_unique<Others>();
    add(e.others->copies, kOther, self);
    if (before != State::here) e.others->keeper = kOther;
  }
  if (before == State::here || before == State::kept || before == State::fetched || before == State::made)
    e.assigned_by = 1;
  if (is_freed(before)) e.set_freed(before, 0);
  Actions a;
  step(e, row.event, v, a);
  if (a.fault != Fault::none) return "an error of the program";
  std::vector<std::string> parts;
  if (a.forget) {
    parts.push_back("→ none");
  } else if (e.state != before) {
    parts.push_back(std::string("→ ") + name_of(e.state));
  }
  for (const Send& s : a.sends) parts.push_back(said(s, self));
  if (a.publish.out) parts.push_back("Publish to home");
  if (std::holds_alternative<SeenOff>(row.event) || std::holds_alternative<GoesAlong>(row.event)) {
    parts.push_back(a.travels == Travels::along      ? "goes along"
                    : a.travels == Travels::promised ? "is promised"
                                                     : "stays");
  }
  if (parts.empty()) return "·";
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : "; ") + p;
  return text;
}

std::string table(Rank self, const std::vector<State>& states, const std::vector<Row>& rows) {
  std::string text = "| |", line = "|---|";
  for (const State s : states) {
    text += std::string(" ") + name_of(s) + " |";
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (const Row& row : rows) {
    text += "| " + row.name + " |";
    for (const State s : states) text += " " + cell(s, self, row) + " |";
    text += "\n";
  }
  return text;
}

std::string tables() {
  const std::vector<Row> at_home = {
      {"a fragment here wants it", Wanted{}, true},
      {"assigned here", Assigned{.block = 1}},
      {"its reader goes to *t*", SeenOff{kThird}},
      {"who holds it goes to *t*", GoesAlong{kThird, true}},
      {"Request of *t*", Request{kThird}},
      {"Publish of *t*, value", Publish{.from = kThird, .block = 1, .value = true}},
      {"Publish of *t*, none", Publish{.from = kThird, .block = 1}},
      {"Give", Give{}, true},
      {"with fragments of *t*", Shipped{kThird}},
      {"Copied of *t*", Copied{kThird}},
      {"DeleteHint", Free{1}},
      {"Keep of *s*", Keep{kOther}},
      {"the scope ends", End{}},
  };
  const std::vector<Row> elsewhere = {
      {"a fragment here wants it", Wanted{}, true},
      {"the same, promised", Wanted{true}, true},
      {"assigned here", Assigned{.block = 1}},
      {"who holds it goes to *t*", GoesAlong{kThird, true}},
      {"Give", Give{}, true},
      {"with fragments of *t*", Shipped{kThird}, true},
      {"Fetch for *t*", Fetch{kThird}},
      {"Drop of home", Drop{kOfHome}},
      {"Drop of *s*", Drop{kOther}},
      {"Gone", Gone{}},
      {"Entrust of home", Entrust{kOfHome}},
      {"the cache is full", Evict{}},
      {"this rank leaves", Leave{}},
  };
  return "### At its home\n\n" +
         table(kOfHome, {State::none, State::unassigned, State::here, State::kept, State::fetched, State::freed},
               at_home) +
         "\n### Elsewhere\n\n" +
         table(kHere,
               {State::none, State::absent, State::asked, State::evicted, State::made, State::copy, State::entrusted},
               elsewhere);
}

TEST(ProtocolTable, IsThatOfTheDocumentation) {
  const std::string path = TESSERA_SOURCE_DIR "/docs/protocol.md", begin = "<!-- tables -->\n",
                    end = "<!-- /tables -->";
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  std::string text = all.str();
  const auto from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string now = "\n" + tables() + "\n";
  if (std::getenv("TESSERA_WRITE") != nullptr) {
    text.replace(from + begin.size(), to - from - begin.size(), now);
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text.substr(from + begin.size(), to - from - begin.size()), now) << "TESSERA_WRITE=1 writes it";
}

}  // namespace
}  // namespace tessera::protocol
