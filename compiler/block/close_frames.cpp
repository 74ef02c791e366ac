#include "compiler/block/close_frames.hpp"

#include <algorithm>
#include <unordered_set>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;

// A frame's size is a 16-bit number of words.
constexpr std::size_t kMostWords = 60000;

// Mentioned is a set of variables in order of first mention.
class Mentioned {
 public:
  void add(const Variable* v) {
    if (v->kind != Variable::Kind::run && seen_.insert(v).second) order_.push_back(v);
  }
  void add(const ExprPtr& e) {
    if (e == nullptr) return;
    if (e->variable != nullptr) add(e->variable);
    if (e->kind == Expr::Kind::read) add(e->name);
    for (const ExprPtr& k : e->kids) add(k);
  }
  void add(const NameUse& n) {
    add(n.base);
    for (const ExprPtr& i : n.indices) add(i);
  }
  // Of what it takes back, but for the counters.
  void add(const TakenBack& t) {
    std::unordered_set<const Variable*> counters;
    const auto outside = [&](const auto& what) {
      Mentioned of;
      of.add(what);
      for (const Variable* v : of.order()) {
        if (counters.count(v) == 0) add(v);
      }
    };
    for (const Around& a : t.around) {
      outside(a.first);
      outside(a.last);
      if (a.counter != nullptr) counters.insert(a.counter);
      outside(a.condition);
    }
    outside(t.when);
    outside(t.name);
  }
  void add(const semantics::Argument& a) {
    if (a.type == semantics::ParameterType::name) {
      add(a.name);
    } else {
      add(a.value);
    }
  }
  const std::vector<const Variable*>& order() const { return order_; }

 private:
  std::vector<const Variable*> order_;
  std::unordered_set<const Variable*> seen_;
};

class Closing {
 public:
  Closing(const Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

  void close(Chain& chain) {
    Mentioned uses;
    std::unordered_set<const Variable*> own(chain.parameters.begin(), chain.parameters.end());
    own.insert(chain.temporaries.begin(), chain.temporaries.end());
    for (const Hidden& h : chain.hidden) own.insert(h.variable);
    uses.add(chain.locator);
    for (const Variable* v : chain.series) uses.add(v);
    for (auto& b : chain.blocks) {
      if (b->kind == Kind::range) own.insert(b->counter);
      for (const Input& in : b->inputs) {
        uses.add(in.name);
        uses.add(in.when);
      }
      for (const Maker& m : b->makers) {
        uses.add(m.place);
        uses.add(m.unless);
      }
      visit(*b, {[&](ExprPtr& e) { uses.add(e); }, [&](NameUse& n) { uses.add(n); }});
      for (const NameUse* n : b->outputs()) {
        if (const Uses* u = program_.uses_of(*n)) {
          for (const Variable* v : u->parameters) uses.add(v);
        }
      }
      for (const auto* list : {&b->otherwise, &b->each_turn}) {
        for (const TakenBack& t : *list) uses.add(t);
      }
      for (const auto* list : {&b->hulls, &b->stays, &b->handed}) {
        for (const Hull& h : *list) {
          hidden(h.base, uses);
          for (const Side& side : h.sides) {
            uses.add(side.first);
            uses.add(side.last);
          }
        }
      }
      for (const NameUse* n : b->outputs()) hidden(*n, uses);
      if (b->body) body(*b->body, uses, own);
    }
    for (const Variable* v : uses.order()) {
      if (own.count(v) == 0) chain.captured.push_back(v);
    }
    lay_out(chain);
  }

 private:
  // What is known of a swept name.
  void hidden(const NameUse& n, Mentioned& uses) const {
    const auto it = program_.swept.find(n.base);
    if (it == program_.swept.end()) return;
    uses.add(it->second.horizon);
    for (const Variable* v : it->second.given) {
      if (v != nullptr) uses.add(v);
    }
  }

  void body(Body& b, Mentioned& uses, std::unordered_set<const Variable*>& own) {
    for (const Declared& d : b.names) {
      own.insert(d.variable);
      if (const auto it = program_.swept.find(d.variable); it != program_.swept.end()) own.insert(it->second.horizon);
    }
    for (const NameUse& n : b.deletes) uses.add(n);
    for (const NameUse& n : b.holds) uses.add(n);
    for (Step& step : b.steps) {
      if (auto* spawn = std::get_if<Spawn>(&step)) {
        visit(*spawn, {[&](ExprPtr& e) { uses.add(e); }, [&](NameUse& n) { uses.add(n); }});
        for (const NameUse& n : spawn->done) hidden(n, uses);
        for (const semantics::Argument& a : spawn->arguments) {
          if (a.type == semantics::ParameterType::name && !spawn->chain->hidden.empty()) hidden(a.name, uses);
        }
        if (spawn->rank != nullptr) {
          uses.add(spawn->rank);
          uses.add(spawn->ranks);
        }
        if (spawn->owned == nullptr) continue;
        close(*spawn->owned);
        for (const Variable* v : spawn->owned->captured) uses.add(v);
      } else if (auto* count = std::get_if<CountReads>(&step)) {
        uses.add(count->name);
        uses.add(count->count);
      } else if (auto* evaluate = std::get_if<Evaluate>(&step)) {
        uses.add(evaluate->value);
      } else {
        When& when = *std::get<std::unique_ptr<When>>(step);
        uses.add(when.condition);
        body(when.body, uses, own);
      }
    }
  }

  void lay_out(Chain& chain) {
    std::size_t word = 0;
    std::vector<const Variable*> hidden;
    for (const Hidden& h : chain.hidden) hidden.push_back(h.variable);
    for (const auto* list : {&chain.parameters, &chain.captured, &hidden, &chain.temporaries}) {
      for (const Variable* v : *list) {
        chain.frame.push_back({v, static_cast<std::uint16_t>(word)});
        word += v->letter == 'n' ? 3 : 1;
      }
    }
    std::size_t inputs = 0;
    for (const auto& b : chain.blocks) inputs = std::max(inputs, b->inputs.size());
    if (word + inputs > kMostWords) {
      diagnostics_.error("T230", chain.at,
                         "this uses too many variables and data fragments: split it, or use names with indices");
    }
    chain.frame_words = static_cast<std::uint16_t>(word);
  }

  const Program& program_;
  Diagnostics& diagnostics_;
};

}  // namespace

void close_frames(Program& program, Diagnostics& diagnostics) {
  for (auto& sub : program.subs) Closing(program, diagnostics).close(*sub);
}

}  // namespace tessera::compiler::block
