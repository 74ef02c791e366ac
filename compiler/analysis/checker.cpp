#include "compiler/analysis/checker.hpp"

#include <algorithm>

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostCalls = 3;

}  // namespace

Effort Checker::effort() {
  started_ = std::clamp<std::int64_t>(total_, 0, kOneQuestion);
  return {started_};
}

void Checker::done(const Effort& used) { total_ -= started_ - std::max<std::int64_t>(used.left, 0) + 1; }

Answer Checker::solve(const System& s, std::vector<Integer>* witness) {
  Effort e = effort();
  const Answer a = analysis::solve(s, e, witness);
  done(e);
  return a;
}

bool Checker::project(const System& s, const std::vector<bool>& keep, Shadow shadow, System& result) {
  Effort e = effort();
  const bool ok = analysis::project(s, keep, shadow, e, result);
  done(e);
  return ok;
}

Answer Checker::outside(const System& s, const std::vector<System>& covers, std::vector<Integer>* witness,
                        System* found) {
  Effort e = effort();
  const Answer a = analysis::outside(s, covers, e, witness, found);
  done(e);
  return a;
}

bool Checker::sure(NodeId node) {
  if (const auto it = sure_.find(node); it != sure_.end()) return it->second;
  Query q(flow, 0);
  const Domain d = q.domain(node, Query::one);
  bool result = d.guards.empty();
  if (result) {
    const std::vector<bool> given = q.given();
    std::vector<System> covers;
    for (const System& part : d.parts) {
      System s = q.empty();
      s.add(part);
      System cover;
      if (project(s, given, Shadow::under, cover)) covers.push_back(std::move(cover));
    }
    System anything;
    anything.variables = q.variables();
    result = outside(anything, covers) == Answer::no;
  }
  sure_[node] = result;
  return result;
}

bool Checker::fresh(const std::string& code, Extent a, Extent b) {
  return said_.emplace(code, std::min(a.begin, b.begin), std::max(a.begin, b.begin)).second;
}

Diagnostics& Checker::report(bool error, const char* code, Extent at, const std::string& text) {
  return error ? diagnostics.error(code, at, text) : diagnostics.warning(code, at, text);
}

void Checker::calls(NodeId node, NodeId around) {
  std::size_t n = 0;
  for (; node != around && node != 0; node = flow.nodes[node].parent) {
    if (flow.nodes[node].kind != Node::Kind::sub) continue;
    if (++n > kMostCalls) return;
    diagnostics.note(flow.nodes[node].at, quote(*flow.nodes[node].callee) + " is called here");
  }
}

// As it is written where it is that very name with as many indices; else, through parameters and `let`, what that comes
// to.
std::string Checker::written(const Access& a) const {
  const std::string& name = flow.names[a.name].variable->name;
  const std::string written(diagnostics.written(a.at));
  std::size_t indices = 0, depth = 0;
  for (const char c : written) {
    if (c == '[' && depth++ == 0) ++indices;
    if (c == ']') --depth;
  }
  const bool same = written == name || written.rfind(name + "[", 0) == 0 || written.rfind(name + " ", 0) == 0;
  if (same && indices == a.indices.size() && !diagnostics.from_macro(a.at) && written.find('\n') == written.npos)
    return quote(written);
  return element(a);
}

std::string Checker::element(const Access& a) const {
  std::string out = flow.names[a.name].variable->name;
  for (const Linear& i : a.indices) out += "[" + text_of(flow, i) + "]";
  return quote(out);
}

std::string Checker::element(const Access& a, const Query& q, Query::Tag tag, const std::vector<Integer>& point) const {
  std::string out = flow.names[a.name].variable->name;
  for (const Linear& i : a.indices) {
    out += "[" + (q.determined(i) ? std::to_string(q.value(i, tag, point)) : text_of(flow, i)) + "]";
  }
  return quote(out);
}

std::string Checker::when(NodeId node, NodeId around, const Query& q, Query::Tag tag,
                          const std::vector<Integer>& point) const {
  std::string out;
  for (; node != around; node = flow.nodes[node].parent) {
    const Symbol counter = flow.nodes[node].counter;
    if (counter == kNone) continue;
    const Linear l = linear_symbol(counter);
    out = flow.symbols[counter].text + " = " + std::to_string(q.value(l, tag, point)) + (out.empty() ? "" : ", ") + out;
  }
  return out;
}

std::size_t Checker::telling_index(const std::vector<AccessId>& accesses) const {
  std::vector<std::size_t> known;
  for (const AccessId id : accesses) {
    const Access& a = flow.accesses[id];
    known.resize(std::max(known.size(), a.indices.size()));
    for (std::size_t k = 0; k < a.indices.size(); ++k) {
      const Range r = range_of(flow, a.indices[k]);
      if (r.first && r.second) ++known[k];
    }
  }
  return known.empty() ? 0 : static_cast<std::size_t>(std::max_element(known.begin(), known.end()) - known.begin());
}

bool Checker::apart(const Access& a, const Access& b) const {
  if (!may_be_one(a, b)) return true;
  for (std::size_t k = 0; k < std::min(a.indices.size(), b.indices.size()); ++k) {
    const Range x = range_of(flow, a.indices[k]);
    const Range y = range_of(flow, b.indices[k]);
    if (x.second && y.first && *x.second < *y.first) return true;
    if (y.second && x.first && *y.second < *x.first) return true;
  }
  return false;
}

}  // namespace tessera::compiler::analysis
