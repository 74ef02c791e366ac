#include <algorithm>
#include <unordered_map>

#include "compiler/analysis/lint.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Body;
using semantics::Call;
using semantics::Expr;
using semantics::Sub;

struct SureCall {
  const Sub* callee;
  Extent at;
};

bool is_number(const semantics::ExprPtr& e) { return e->kind == Expr::Kind::integer; }

// sure_calls lists the calls that a body makes whenever it runs.
void sure_calls(const Body& body, std::vector<SureCall>& out) {
  for (const auto& s : body.statements) {
    if (const auto* c = std::get_if<Call>(&s.node)) {
      if (c->sub != nullptr) out.push_back({c->sub, s.at});
    } else if (const auto* f = std::get_if<semantics::For>(&s.node)) {
      const bool runs = is_number(f->first) && is_number(f->last) && f->first->integer <= f->last->integer;
      if (runs) sure_calls(*f->body, out);
    } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
      if (is_number(i->condition) && i->condition->integer != 0) sure_calls(*i->body, out);
    }
  }
}

// RingSearch follows sure calls; a call of a sub that is on the way closes a ring.
class RingSearch {
 public:
  explicit RingSearch(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void visit(const Sub* s, bool runs) {
    state_[s] = State::open;
    way_.push_back(s);
    std::vector<SureCall> calls;
    sure_calls(s->body, calls);
    for (const SureCall& call : calls) {
      const auto it = state_.find(call.callee);
      if (it == state_.end()) {
        visit(call.callee, runs);
      } else if (it->second == State::open) {
        report(call, runs);
      }
    }
    way_.pop_back();
    state_[s] = State::closed;
  }
  bool seen(const Sub* s) const { return state_.count(s) != 0; }

 private:
  enum class State : std::uint8_t { open, closed };

  void report(const SureCall& call, bool runs) {
    const auto from = std::find(way_.begin(), way_.end(), call.callee);
    std::string through;
    for (auto it = from + 1; it < way_.end(); ++it) through += " -> " + quote((*it)->name);
    const std::string text =
        quote(call.callee->name) + " calls itself without a condition" +
        (through.empty() ? "" : ": " + quote(call.callee->name) + through + " -> " + quote(call.callee->name)) +
        "; it never ends";
    if (runs) {
      diagnostics_.error("T319", call.at, text);
    } else {
      diagnostics_.warning("T319", call.at, text);
    }
    diagnostics_.note(call.callee->at, "it is declared here; put the call into an `if`");
  }

  Diagnostics& diagnostics_;
  std::unordered_map<const Sub*, State> state_;
  std::vector<const Sub*> way_;
};

}  // namespace

void check_recursion(const semantics::Model& model, Diagnostics& diagnostics) {
  RingSearch search(diagnostics);
  search.visit(model.main, true);
  for (const Sub& s : model.subs) {
    if (s.used && !search.seen(&s)) search.visit(&s, false);
  }
}

}  // namespace tessera::compiler::analysis
