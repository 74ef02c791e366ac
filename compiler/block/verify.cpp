// verify: what must hold for the emitter's dumb walk to be right, after all passes.
#include <unordered_set>

#include "compiler/block/program.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

class Verifier {
 public:
  std::string run(const Program& program) {
    program_ = &program;
    for (const auto& sub : program.subs) {
      if (!sub->captured.empty()) {
        fail(*sub, "a sub captures " + sub->captured.front()->name);
      }
      chain(*sub);
    }
    return problem_;
  }

 private:
  using Visible = std::unordered_set<const Variable*>;

  void fail(const Chain& c, const std::string& what) {
    if (problem_.empty()) problem_ = c.label + ": " + what;
  }

  void expr(const Chain& c, const Block& b, const Visible& visible, const ExprPtr& e) {
    if (e == nullptr) return;
    if (e->kind == semantics::Expr::Kind::read) fail(c, "a read is left: " + e->name.base->name);
    if (e->kind == semantics::Expr::Kind::input && static_cast<std::size_t>(e->integer) >= b.inputs.size()) {
      fail(c, "an input that does not exist");
    }
    const bool run = e->variable != nullptr && e->variable->kind == Variable::Kind::run;
    if (e->variable != nullptr && !run && visible.count(e->variable) == 0) {
      fail(c, e->variable->name + " is neither captured nor declared");
    }
    for (const ExprPtr& k : e->kids) expr(c, b, visible, k);
  }
  void name(const Chain& c, const Block& b, const Visible& visible, const NameUse& n) {
    if (visible.count(n.base) == 0) fail(c, n.base->name + " is neither captured nor declared");
    for (const ExprPtr& i : n.indices) expr(c, b, visible, i);
  }

  void chain(Chain& c) {
    if (c.blocks.empty() || c.last().kind != c.kind) fail(c, "the last block has another kind");
    Visible frame;
    std::size_t words = 0;
    for (const FrameVariable& f : c.frame) {
      if (f.word != words) fail(c, "the frame has a gap before " + f.variable->name);
      words += f.variable->letter == 'n' ? 3 : 1;
      if (!frame.insert(f.variable).second) fail(c, f.variable->name + " is twice in the frame");
    }
    if (words != c.frame_words) fail(c, "frame_words is wrong");
    expr(c, Block(), frame, c.locator);
    for (const Variable* v : c.series) {
      if (frame.count(v) == 0) fail(c, v->name + " tells a series and is not captured");
    }
    if (c.spreads && (c.frame.size() < 4 || c.frame[2].word != 2 || c.frame[3].word != 3)) {
      fail(c, "`rank` and `ranks` are not words 2 and 3");
    }
    for (auto& b : c.blocks) {
      Visible visible = frame;
      if (b->kind == Kind::range) visible.insert(b->counter);
      for (const Input& in : b->inputs) {
        // Inputs are computed before the block runs: from the frame alone.
        Block nothing;
        name(c, nothing, frame, in.name);
        expr(c, nothing, frame, in.when);
      }
      for (const Maker& m : b->makers) {
        expr(c, Block(), frame, m.place);
        expr(c, Block(), frame, m.unless);
      }
      if (b->body && b->kind == Kind::eval) declare(*b->body, visible);
      visit(*b, {[&](ExprPtr& e) { expr(c, *b, visible, e); }, [&](NameUse& n) { name(c, *b, visible, n); }});
      for (const NameUse* n : b->outputs()) {
        Block nothing;  // their indices are shown to people while the block waits
        name(c, nothing, frame, *n);
      }
      for (const auto* list : {&b->otherwise, &b->each_turn}) {
        for (const TakenBack& t : *list) taken_back(c, frame, t);
      }
      for (const Hull& h : b->hulls) {
        for (const Side& side : h.sides) {
          expr(c, Block(), frame, side.first);
          expr(c, Block(), frame, side.last);
        }
      }
      if (b->body) body(c, *b, *b->body, visible);
    }
  }

  void taken_back(const Chain& c, Visible visible, const TakenBack& t) {
    const Block nothing;
    for (const Around& a : t.around) {
      expr(c, nothing, visible, a.first);
      expr(c, nothing, visible, a.last);
      if (a.counter != nullptr) visible.insert(a.counter);
      expr(c, nothing, visible, a.condition);
    }
    expr(c, nothing, visible, t.when);
    name(c, nothing, visible, t.name);
  }

  void declare(const Body& body, Visible& visible) const {
    for (const Declared& d : body.names) {
      visible.insert(d.variable);
      if (const auto it = program_->swept.find(d.variable); it != program_->swept.end())
        visible.insert(it->second.horizon);
    }
  }

  void body(const Chain& c, const Block& b, Body& body, Visible visible) {
    declare(body, visible);
    std::unordered_set<std::uint32_t> ordinals;
    const auto ordinal = [&](std::uint32_t k) {
      if (!ordinals.insert(k).second) fail(c, "ordinal " + std::to_string(k) + " is used twice");
    };
    for (const Declared& d : body.names) ordinal(d.ordinal);
    for (const NameUse& n : body.deletes) name(c, b, visible, n);
    for (const NameUse& n : body.holds) name(c, b, visible, n);
    for (Step& step : body.steps) {
      if (auto* s = std::get_if<Spawn>(&step)) {
        ordinal(s->ordinal);
        if (s->has_end()) ordinal(s->end_ordinal);
        if (s->locator != nullptr) fail(c, "a spawn still has a locator");
        if (!s->counts.empty()) fail(c, "a spawn still has counts");
        if (s->arguments.size() != s->chain->parameters.size()) fail(c, "arguments are missing");
        visit(*s, {[&](ExprPtr& e) { expr(c, b, visible, e); }, [&](NameUse& n) { name(c, b, visible, n); }});
        if (s->rank != nullptr) {
          if (visible.count(s->rank) == 0 || visible.count(s->ranks) == 0) fail(c, "`rank` is not captured");
          expr(c, b, visible, s->chain->locator);
        }
        if (s->owned == nullptr) continue;
        for (const Variable* v : s->owned->captured) {
          if (visible.count(v) == 0) fail(*s->owned, v->name + " can't be captured here");
        }
        chain(*s->owned);
      } else if (const auto* evaluate = std::get_if<Evaluate>(&step)) {
        expr(c, b, visible, evaluate->value);
      } else if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        ordinal((*when)->ordinal);
        expr(c, b, visible, (*when)->condition);
        this->body(c, b, (*when)->body, visible);
      }
    }
  }

  const Program* program_ = nullptr;
  std::string problem_;
};

}  // namespace

std::string verify(const Program& program) { return Verifier().run(program); }

}  // namespace tessera::compiler::block
