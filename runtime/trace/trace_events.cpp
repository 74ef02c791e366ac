#include "runtime/trace/trace_events.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "runtime/trace/rank_events.hpp"

namespace tessera::runtime {
namespace {

namespace sim = balancer::simulator;

const std::size_t kRequest = Message(Request{}).index();

sim::Decided decision(const std::string& text, const TraceEvents::GroupOf& group_of) {
  sim::Decided d;
  std::istringstream in(text);
  std::int32_t from = -1, to = -1;
  in >> from >> to >> d.load_from >> d.load_to;
  d.from = Rank{from}, d.to = Rank{to};
  std::uint32_t group = 0;
  for (std::int64_t count = 0; in >> group >> count;) d.fragments.push_back({group_of(group), count});
  const std::size_t why = text.find(" : ");
  if (why != std::string::npos) d.why = text.substr(why + 3);
  return d;
}

}  // namespace

void TraceEvents::add(Rank self, const TracePart& part, const GroupOf& group_of, sim::Times& out) {
  for (std::size_t i = 0; i < part.words.size(); i += event_words(part.words[i])) {
    const std::uint64_t* w = &part.words[i];
    const auto word = static_cast<EventWord>(w[0] & 0xff);
    const std::uint64_t more = w[0] >> 8 & 0xff;
    const Rank from{static_cast<std::int32_t>(w[0] >> kEventShift)};
    const balancer::Time at =
        part.base_ns + static_cast<balancer::Time>(
                           static_cast<double>(static_cast<std::int64_t>(w[1] - part.base_ticks)) * part.ns_per_tick);
    switch (word) {
      case EventWord::message:
        out.messages.push_back({at - zero_, from, self, std::string(message_name(more)),
                                static_cast<std::int64_t>(w[2]), static_cast<std::int64_t>(w[3])});
        if (more == kRequest) ++requests_[from];
        break;
      case EventWord::value:
        came_.push_back({self, w[2], at, more != 0});
        break;
      case EventWord::asked:
        asked_.push_back({self, w[2], w[3], at, more != 0});
        break;
      case EventWord::arrived:
        arrived_.push_back({w[2], at - zero_, from, self, more != 0});
        break;
      case EventWord::part:
        arrived_.push_back({w[2], at - zero_, from, self, more != 0, true, static_cast<std::int64_t>(w[3]),
                            static_cast<std::int64_t>(w[4])});
        break;
      case EventWord::decision: {
        sim::Decided d = decision({reinterpret_cast<const char*>(w + 2), w[0] >> kEventShift}, group_of);
        d.at = at - zero_;
        d.rank = self;
        out.decisions.push_back(std::move(d));
        break;
      }
      case EventWord::memory:
        out.memory.push_back({at - zero_, self, static_cast<std::int64_t>(w[2]), static_cast<std::int64_t>(w[3])});
        break;
      case EventWord::clock: {
        sim::RankInfo& r = out.ranks.at(static_cast<std::size_t>(balancer::index(self)));
        r.same_host = more != 0;
        r.offset = static_cast<std::int64_t>(w[2]);
        r.error = static_cast<std::int64_t>(w[3]);
        break;
      }
    }
  }
}

std::vector<TraceGraph::Came> TraceEvents::came(TraceGraph& graph) {
  std::vector<TraceGraph::Question> questions = graph.questions();
  for (const Asked& a : asked_)
    questions.push_back({a.rank, a.value, a.at, a.by == 0 ? TraceGraph::kNone : graph.fragment_of(a.by), a.request});
  std::sort(came_.begin(), came_.end());
  std::sort(questions.begin(), questions.end());
  // To each belongs the first question after it had come the last time.
  auto ask = questions.begin();
  const auto unanswered = [&] {
    if (!graph.made_on(ask->rank, ask->value)) ++unattached_;
    ++ask;
  };
  for (TraceGraph::Came& c : came_) {
    const auto same = [&] { return std::tie(ask->rank, ask->value) <=> std::tie(c.rank, c.value); };
    while (ask != questions.end() && same() < 0) unanswered();
    const auto of_this = [&] { return ask != questions.end() && same() == 0 && ask->at <= c.at; };
    if (of_this()) c.asked = ask->at, c.by = ask->by;
    while (of_this()) ++ask;
  }
  while (ask != questions.end()) unanswered();
  for (const TraceGraph::Question& q : questions) requests_[q.rank] -= q.request ? 1 : 0;
  for (const auto& [rank, more] : requests_) unattached_ += std::max<std::int64_t>(0, more);
  return std::move(came_);
}

void TraceEvents::moves(TraceGraph& graph, const std::vector<TraceGraph::Came>& came, sim::Times& out) const {
  for (const Arrived& a : arrived_) {
    const auto put = [&](std::uint32_t f) {
      if (f == TraceGraph::kNone) return;
      sim::Moved m{f, a.at, a.from, a.to, a.by_policy};
      const auto last = a.part ? TraceGraph::LastInput{} : graph.inputs_on(f, a.from, a.at + zero_, came);
      if (last.since >= zero_) m.since = last.since - zero_, m.last = last.input;
      if (m.since >= 0 && last.asked >= zero_) m.asked = last.asked - zero_;
      if (m.asked >= 0 && last.by != TraceGraph::kNone) m.asked_by = last.by;
      out.moves.push_back(m);
    };
    if (a.part) {
      graph.iterations_of(a.key, a.first, a.last, put);
    } else {
      put(graph.fragment_of(a.key));
    }
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::stable_sort(out.moves.begin(), out.moves.end(), by_time);
  std::stable_sort(out.messages.begin(), out.messages.end(), by_time);
  std::stable_sort(out.decisions.begin(), out.decisions.end(), by_time);
  std::stable_sort(out.memory.begin(), out.memory.end(), by_time);
}

}  // namespace tessera::runtime
