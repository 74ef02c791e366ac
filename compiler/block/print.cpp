// The block program as text, for people and goldens.
//
//   sub main() names(x#0)
//     B1 atomic init(int 5, name x) #1 frame(x n@0)
#include "compiler/block/program.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::block {
namespace {

class Printer {
 public:
  std::string run(const Program& program) {
    program_ = &program;
    for (const auto& sub : program.subs) {
      out_ += sub->text + "(" + names(sub->parameters) + ")\n";
      chain(*sub, 1);
    }
    return out_;
  }

 private:
  static std::string names(const std::vector<const Variable*>& list) {
    std::string out;
    for (const Variable* v : list) {
      out += (out.empty() ? "" : ", ") + std::string(1, v->letter) + " " + v->name;
    }
    return out;
  }

  static std::string show(const NameUse& n) {
    std::string out = n.base->name;
    for (const ExprPtr& i : n.indices) out += "[" + show(i) + "]";
    return out;
  }

  static std::string show(const ExprPtr& p) {
    using semantics::Expr;
    const Expr& e = *p;
    switch (e.kind) {
      case Expr::Kind::integer:
        return std::to_string(e.integer);
      case Expr::Kind::real:
        return e.text;
      case Expr::Kind::string:
        return "\"" + e.text + "\"";
      case Expr::Kind::variable:
        return e.variable->name;
      case Expr::Kind::read:
        return "read " + show(e.name);
      case Expr::Kind::input:
        return "in" + std::to_string(e.integer);
      case Expr::Kind::negate:
        return "-" + show(e.kids[0]);
      case Expr::Kind::binary:
        return "(" + show(e.kids[0]) + " " + syntax::spelling(e.op) + " " + show(e.kids[1]) + ")";
      case Expr::Kind::choice:
        return "(" + show(e.kids[0]) + " ? " + show(e.kids[1]) + " : " + show(e.kids[2]) + ")";
      case Expr::Kind::cast:
        return std::string(semantics::spelling(e.type)) + "(" + show(e.kids[0]) + ")";
      case Expr::Kind::extreme:
        return (e.integer != 0 ? "max(" : "min(") + show(e.kids[0]) + ", " + show(e.kids[1]) + ")";
    }
    return "?";
  }

  static std::string show(const semantics::Argument& a) {
    return a.type == semantics::ParameterType::name ? "&" + show(a.name) : show(a.value);
  }

  static std::string show(const std::vector<semantics::Argument>& list) {
    std::string out;
    for (const auto& a : list) out += (out.empty() ? "" : ", ") + show(a);
    return out;
  }

  static std::string show(const std::vector<NameUse>& list) {
    std::string out;
    for (const auto& n : list) out += (out.empty() ? "" : ", ") + show(n);
    return out;
  }

  static std::string show(const std::vector<Input>& list) {
    std::string out;
    for (const Input& in : list) {
      out += (out.empty() ? "" : ", ") + show(in.name);
      if (in.when != nullptr) out += " if " + show(in.when);
    }
    return out;
  }

  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<std::size_t>(depth) * 2, ' ') + text + "\n";
  }

  void chain(const Chain& c, int depth) {
    if (!c.frame.empty()) {
      std::string frame;
      for (const FrameVariable& f : c.frame) {
        frame += (frame.empty() ? "" : ", ") + std::string(1, f.variable->letter) + " " + f.variable->name + "@" +
                 std::to_string(f.word);
      }
      line(depth, "frame(" + frame + ")");
    }
    if (c.locator != nullptr) line(depth, "locator " + show(c.locator));
    if (c.stealable) line(depth, "stealable");
    if (c.placed) line(depth, "all that it makes has a place");
    if (!c.series.empty()) {
      std::string text;
      for (const Variable* v : c.series) text += (text.empty() ? "" : ", ") + v->name;
      line(depth, "series of " + text);
    }
    if (!c.waiting.empty())
      line(depth,
           "waits for other iterations: " + labels(c.waiting) + (c.free.empty() ? "" : "; not " + labels(c.free)));
    for (const auto& b : c.blocks) block(*b, depth);
  }
  static std::string labels(const std::vector<const Chain*>& list) {
    std::string out;
    for (const Chain* c : list) out += (out.empty() ? "" : ", ") + c->label;
    return out;
  }

  void block(const Block& b, int depth) {
    std::string head = "B" + std::to_string(b.index) + " " + spelling(b.kind);
    if (b.kind == Kind::range) head += " " + b.counter->name;
    if (b.last != nullptr) head += " repeated for " + b.counter->name;
    if (!b.inputs.empty()) head += " in(" + show(b.inputs) + ")";
    line(depth, head);
    ++depth;
    for (std::size_t k = 0; k < b.makers.size(); ++k) {
      const Maker& m = b.makers[k];
      if (m.place == nullptr) continue;
      line(depth, "in" + std::to_string(k) + " is made at " + show(m.place) +
                      (m.unless == nullptr ? "" : " unless " + show(m.unless)));
    }
    for (std::size_t k = 0; k < b.inputs.size(); ++k) {
      if (b.is_sent(k)) line(depth, "in" + std::to_string(k) + " is sent here");
    }
    for (const std::uint32_t k : b.counted) line(depth, "counts the read of in" + std::to_string(k));
    for (const Set& s : b.sets) line(depth, s.variable->name + " := " + show(s.value));
    if (b.locate != nullptr) line(depth, "locate " + show(b.locate));
    if (b.call) line(depth, "call " + b.call->kernel->symbol + "(" + show(b.call->arguments) + ")");
    if (b.condition != nullptr) line(depth, "condition " + show(b.condition));
    taken_back(b.otherwise, "else", depth);
    taken_back(b.each_turn, "then", depth);
    hulls("may still read ", b.hulls, depth);
    hulls("then stays ", b.stays, depth);
    hulls("then is held for who reads that ", b.handed, depth);
    for (const auto& c : b.counts) line(depth, "reads " + show(c.name) + " = " + show(c.count));
    if (!b.out.empty()) line(depth, "out " + show(b.out));
    if (!b.done.empty()) line(depth, "done " + show(b.done));
    if (!b.deletes.empty()) line(depth, "delete " + show(b.deletes));
    if (b.body) body(*b.body, depth);
  }

  void body(const Body& b, int depth) {
    for (const Declared& d : b.names) {
      line(depth, "df " + d.variable->name + " #" + std::to_string(d.ordinal));
      if (const auto it = program_->uses.find(d.variable); it != program_->uses.end()) {
        for (const Uses& u : it->second) uses(u, depth + 1);
      }
    }
    if (!b.deletes.empty()) line(depth, "at its end delete " + show(b.deletes));
    if (!b.holds.empty()) line(depth, "while it is run holds " + show(b.holds));
    for (const Step& step : b.steps) {
      if (const auto* s = std::get_if<Spawn>(&step)) {
        std::string text =
            "spawn #" + std::to_string(s->ordinal) + " " + spelling(s->chain->kind) + " " + s->chain->label;
        if (!s->arguments.empty()) text += "(" + show(s->arguments) + ")";
        if (!s->done.empty()) text += " >> (" + show(s->done) + ")";
        if (!s->deletes.empty()) text += " --> (" + show(s->deletes) + ")";
        if (!s->holds.empty()) text += " holds " + show(s->holds);
        if (s->locator != nullptr) text += " locator " + show(s->locator);
        if (s->rank != nullptr) text += " if placed on rank";
        line(depth, text);
        if (s->owned != nullptr) chain(*s->owned, depth + 1);
      } else if (const auto* r = std::get_if<CountReads>(&step)) {
        line(depth, "reads " + show(r->name) + " = " + show(r->count));
      } else if (const auto* e = std::get_if<Evaluate>(&step)) {
        line(depth, "evaluate " + show(e->value));
      } else {
        const When& w = *std::get<std::unique_ptr<When>>(step);
        line(depth,
             "when #" + std::to_string(w.ordinal) + " " + (w.condition == nullptr ? "always" : show(w.condition)));
        body(w.body, depth + 1);
      }
    }
  }

  // " + 1 - 2 i", each with `sign`
  static std::string linear(const Uses::Linear& l, int sign) {
    std::string out;
    const auto add = [&](std::int64_t by, const std::string& what) {
      const bool one = !what.empty() && std::abs(by) == 1;
      if (by != 0)
        out += (by > 0 ? " + " : " - ") + (one ? "" : std::to_string(std::abs(by))) + (one ? what.substr(1) : what);
    };
    add(sign * l.constant, "");
    for (const auto& [v, factor] : l.terms) add(sign * factor, " " + v->name);
    return out;
  }

  static std::string show(const Around& a) {
    if (a.counter == nullptr) return a.condition == nullptr ? "perhaps" : show(a.condition);
    return show(a.first) + " <= " + a.counter->name + (a.last == nullptr ? "" : " <= " + show(a.last));
  }

  void hulls(const char* what, const std::vector<Hull>& list, int depth) {
    for (const Hull& h : list) {
      std::string text = what + h.base.base->name;
      for (const Side& s : h.sides) {
        text += "[" + (s.first == nullptr ? "" : show(s.first)) + ".." + (s.last == nullptr ? "" : show(s.last)) + "]";
      }
      line(depth, text);
    }
  }

  void taken_back(const std::vector<TakenBack>& list, const std::string& when, int depth) {
    for (const TakenBack& t : list) {
      std::string text;
      for (const Around& a : t.around) text += (text.empty() ? " for " : ", ") + show(a);
      if (t.when != nullptr) text += (text.empty() ? " for " : ", ") + show(t.when);
      line(depth, when + " takes back " + show(t.name) + text);
    }
  }

  // "used where i = k0 - 1, 0 <= i <= 9"
  void uses(const Uses& u, int depth) {
    for (const Uses::Reader& r : u.readers) {
      std::string text;
      for (const auto* list : {&r.solved, &r.checks}) {
        for (const Uses::Solved& s : *list) {
          const std::string value = "k" + std::to_string(s.index) + linear(s.rest, -1);
          text += ", " + (s.counter == nullptr ? "0" : s.counter->name) + " = " +
                  (s.divisor == 1 ? value : "(" + value + ") / " + std::to_string(s.divisor));
        }
      }
      for (const Uses::Tried& t : r.tried) {
        text += t.once ? ", one " + t.counter->name : ", each " + t.counter->name;
        for (const Uses::Split& s : t.splits) {
          const std::string value = "k" + std::to_string(s.index) + linear(s.offset, -1);
          const std::string sum = linear({0, {{t.counter, s.factor}}}, 1) + linear(s.rest, 1);
          text += " with (" + sum.substr(sum.starts_with(" + ") ? 3 : 1) + ")" + (s.remainder ? " % " : " / ") +
                  show(s.by) + " = " + (s.sign < 0 ? "-(" + value + ")" : value);
        }
      }
      for (const Uses::Narrowed& n : r.narrowed) {
        const std::string bound = linear(n.bound, 1);
        text += ", " + n.counter->name + (n.least ? " >= " : " <= ") +
                (bound.empty() ? "0" : bound.substr(bound.starts_with(" + ") ? 3 : 1));
      }
      for (const auto& [index, value] : r.equal) text += ", k" + std::to_string(index) + " = " + show(value);
      for (const Around& a : r.around) {
        text += ", " + show(a);
      }
      if (r.when != nullptr) text += ", " + show(r.when);
      line(depth, (text.empty() ? "used once" : "used where" + text.substr(1)) +
                      (r.sent ? "; sent to " + show(r.locator) : ""));
    }
    if (u.readers.empty()) line(depth, "never used (" + std::to_string(u.dimensions) + " indices)");
  }

  const Program* program_ = nullptr;
  std::string out_;
};

}  // namespace

std::string print(const Program& program) { return Printer().run(program); }

}  // namespace tessera::compiler::block
