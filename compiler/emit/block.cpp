#include "compiler/emit/block.hpp"

#include <algorithm>
#include <map>

#include "compiler/block/walk.hpp"
#include "compiler/emit/body.hpp"
#include "compiler/emit/expression.hpp"
#include "compiler/emit/tables.hpp"
#include "compiler/emit/uses.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::emit {
namespace {

using block::Kind;
using semantics::ParameterType;

// Writer holds what the functions of one block share.
class Writer {
 public:
  Writer(const Context& context, const block::Chain& chain, std::size_t position)
      : context_(context),
        chain_(chain),
        position_(position),
        block_(*chain.blocks[position]),
        number_(std::to_string(block_.index)),
        own_(hole(Hole::index, number_)),
        environment_(chain),
        expr_(context, environment_, block_.index) {}

  std::string functions() {
    const std::string out = inputs() + locator() + series() + maker() + indices() + hulls();
    return out + (block_.kind == Kind::range ? iterate() : run_function());
  }
  std::string declarations(const std::string& of) const {
    std::string out;
    const auto declare = [&](bool present, const char* start, const char* list) {
      if (present) out += start + of + list + ";\n";
    };
    const bool range = block_.kind == Kind::range;
    declare(!block_.inputs.empty(), "void in", "(const Cf*, Name*)");
    declare(chain_.locator != nullptr, "std::int64_t loc", "(const Cf*)");
    declare(!chain_.series.empty(), "std::uint64_t se", "(const Cf*)");
    declare(block_.has_makers(), "std::int64_t mk", "(const Cf*, std::uint32_t)");
    declare(block_.index_count() != 0, "void ix", "(const Cf*, std::int64_t*)");
    declare(!block_.hulls.empty(), "void hu", "(const Cf*, std::int64_t, std::int64_t, Hulls*)");
    declare(range, "void it", "(Worker*, Cf*, std::int64_t)");
    declare(!range, "Next run", "(Worker*, Cf*)");
    return out;
  }

 private:
  // What several inputs are elements of (a row of x) is found once, if one of them always is: its index may fail.
  std::string inputs() const {
    if (block_.inputs.empty()) return "";
    struct Shared {
      int times = 0;
      bool always = false;
      std::string text;
    };
    std::map<std::string, Shared> shared;
    for (const block::Input& in : block_.inputs) {
      semantics::NameUse part{in.name.base, {}, in.name.at};
      for (const semantics::ExprPtr& i : in.name.indices) {
        part.indices.push_back(i);
        Shared& s = shared[semantics::key(part)];
        ++s.times;
        s.always = s.always || in.when == nullptr;
      }
    }
    std::string rows, list;
    int found = 0;
    for (std::size_t k = 0; k < block_.inputs.size(); ++k) {
      const block::Input& in = block_.inputs[k];
      semantics::NameUse part{in.name.base, {}, in.name.at};
      std::string name = environment_[in.name.base];
      for (const semantics::ExprPtr& i : in.name.indices) {
        part.indices.push_back(i);
        Shared& s = shared[semantics::key(part)];
        const std::string text = s.text.empty() ? "index(" + name + ", " + expr_.integer(*i) + ")" : s.text;
        if (s.text.empty() && s.times > 1 && s.always) {
          s.text = "x" + std::to_string(found++);
          rows += "  const Name " + s.text + " = " + text + ";\n";
        }
        name = s.text.empty() ? text : s.text;
      }
      list += "  n[" + std::to_string(k) +
              "] = " + (in.when == nullptr ? name : expr_.condition(*in.when) + " ? " + name + " : not_needed()") +
              ";\n";
    }
    return "void in" + own_ + "(const Cf* c, Name* n) {\n" + rows + list + "}\n";
  }

  std::string locator() const {
    if (chain_.locator == nullptr) return "";
    return "std::int64_t loc" + own_ + "([[maybe_unused]] const Cf* c) { return " + expr_.integer(*chain_.locator) +
           "; }\n";
  }

  std::string series() const {
    if (chain_.series.empty()) return "";
    std::string key = hole(Hole::number, std::to_string(chain_.group()));
    for (const semantics::Variable* v : chain_.series) key = "series_key(" + key + ", " + environment_[v] + ")";
    return "std::uint64_t se" + own_ + "(const Cf* c) { return " + key + "; }\n";
  }

  std::string maker() const {
    if (!block_.has_makers()) return "";
    std::string out =
        "std::int64_t mk" + own_ + "([[maybe_unused]] const Cf* c, std::uint32_t input) {\n  switch (input) {\n";
    for (std::size_t k = 0; k < block_.makers.size(); ++k) {
      const block::Maker& m = block_.makers[k];
      if (m.place == nullptr) continue;
      const std::string unless = m.unless == nullptr ? "" : expr_.condition(*m.unless) + " ? kAnywhere : ";
      out += "    case " + std::to_string(k) + ": return " + unless + expr_.integer(*m.place) + ";\n";
    }
    return out + "    default: return kAnywhere;\n  }\n}\n";
  }

  std::string indices() const {
    if (block_.index_count() == 0) return "";
    std::string out = "void ix" + own_ + "([[maybe_unused]] const Cf* c, std::int64_t* o) {\n";
    std::size_t k = 0;
    std::size_t slot = 0;
    for (const auto* n : block_.slots()) {
      const bool always = slot >= block_.inputs.size() || block_.inputs[slot].when == nullptr;
      const std::string when = always || n->indices.empty() ? "" : expr_.condition(*block_.inputs[slot].when) + " ? ";
      for (const auto& i : n->indices) {
        out += "  o[" + std::to_string(k++) + "] = " + when + expr_.integer(*i) + (when.empty() ? "" : " : 0") + ";\n";
      }
      ++slot;
    }
    return out + "}\n";
  }

  // Of a range: of those of its iterations that are asked about.
  std::string hulls() const {
    if (block_.hulls.empty()) return "";
    Environment environment(chain_);
    if (block_.kind == Kind::range) {
      environment.set(chain_.parameters[0], "first");
      environment.set(chain_.parameters[1], "last");
    }
    std::string out = "void hu" + own_ +
                      "([[maybe_unused]] const Cf* c, [[maybe_unused]] std::int64_t first, "
                      "[[maybe_unused]] std::int64_t last, Hulls* h) {\n";
    for (const block::Hull& h : block_.hulls) out += "  h->add(" + hull(environment, h) + ");\n";
    return out + "}\n";
  }

  std::string hull(const Environment& environment, const block::Hull& h) const {
    std::string out = environment[context_.program.swept.at(h.base.base).horizon];
    for (const block::Side& s : h.sides) {
      out += ", " + (s.first == nullptr ? "kLeast" : bound(environment, *s.first)) + ", " +
             (s.last == nullptr ? "kMost" : bound(environment, *s.last));
    }
    return out;
  }

  // Before anybody knows the index.
  std::string stays() const {
    const auto list = [&](const std::vector<block::Hull>& hulls, const std::string& until) {
      if (hulls.empty()) return std::string();
      std::string out = "    {\n      Hulls stays;\n";
      for (const block::Hull& h : hulls) out += "      stays.add(" + hull(environment_, h) + ");\n";
      return out + "      hulls_stay(stays, " + until + ");\n    }\n";
    };
    if (block_.handed.empty()) return list(block_.stays, "0");
    return list(block_.stays, "0") +
           list(block_.handed, environment_[context_.program.swept.at(block_.out[0].base).horizon]);
  }

  // Nothing in it can fail: it is only a bound.
  static std::string bound(const Environment& environment, const semantics::Expr& e) {
    switch (e.kind) {
      case semantics::Expr::Kind::integer:
        return "std::int64_t{" + hole(Hole::number, std::to_string(e.integer)) + "}";
      case semantics::Expr::Kind::variable:
        return "std::int64_t{" + environment[e.variable] + "}";
      case semantics::Expr::Kind::choice:
        return "(" + bound(environment, *e.kids[0]) + " ? " + bound(environment, *e.kids[1]) + " : " +
               bound(environment, *e.kids[2]) + ")";
      case semantics::Expr::Kind::extreme:
        return (e.integer != 0 ? "greater(" : "lesser(") + bound(environment, *e.kids[0]) + ", " +
               bound(environment, *e.kids[1]) + ")";
      default:
        return "(" + bound(environment, *e.kids[0]) + " " + syntax::spelling(e.op) + " " +
               bound(environment, *e.kids[1]) + ")";
    }
  }

  std::string iterate() {
    environment_.set(block_.counter, "(int)i");  // `int(i)` can read as a declaration
    return "void it" + own_ +
           "([[maybe_unused]] Worker* w, [[maybe_unused]] Cf* c, std::int64_t i) {\n"
           "  [[maybe_unused]] const Id id = mix(c->id, i);\n" +
           BodyWriter(context_, environment_, block_.index).write(*block_.body) + "}\n";
  }

  std::string run_function() {
    std::string out = "Next run" + own_ + "([[maybe_unused]] Worker* w, [[maybe_unused]] Cf* c) {\n";
    out += reads_done();
    for (const block::Set& s : block_.sets) out += set(s);
    if (block_.locate != nullptr) {
      out += "  cf_locate(w, c, " + expr_.integer(*block_.locate) + ");\n";
    }
    if (block_.call) out += call();
    if (block_.condition != nullptr && block_.kind != Kind::loop) {
      const std::string none = "  if (!" + expr_.condition(*block_.condition) + ") ";
      out += block_.otherwise.empty()
                 ? none + "return Next::finished;\n"
                 : none + "{\n" + taking_back(block_.otherwise) + "    return Next::finished;\n  }\n";
    }
    if (block_.kind == Kind::loop) {
      const std::string counter = expr_.integer(*semantics_counter());
      out += "  if (!" + expr_.condition(*block_.condition) + ") {\n" + stays() + "    assign_value(w, c, 0, " +
             expr_.name(block_.out[0]) + ", value_int(" + counter + ")" +
             spot(context_, expr_, environment_, block_.out[0]) + ");\n" + taking_back(block_.otherwise) +
             "    return Next::finished;\n  }\n" + taking_back(block_.each_turn);
    }
    if (block_.body) {
      const bool loop = block_.kind == Kind::loop;
      out += "  [[maybe_unused]] const Id id = " +
             std::string(loop ? "mix(c->id, " + environment_[block_.counter] + ")" : "c->id") + ";\n" +
             BodyWriter(context_, environment_, block_.index).write(*block_.body);
    }
    if (!block_.call) {
      for (const auto& n : block_.deletes) out += deleting(context_, expr_, n, "hint_delete", "w, c", "  ");
    }
    return out + next() + "}\n";
  }

  // Two mentions may mean the same element, which the statement reads once: x[(i + n - 1) % n] and x[(i + 1) % n] of
  // two.
  std::string reads_done() const {
    const auto number = [](std::uint32_t k) { return std::to_string(k); };
    if (block_.counted.size() == 1) {
      const std::uint32_t k = block_.counted.front();
      return "  read_done(w, c, " + expr_.name(block_.inputs[k].name) + ", " + number(k) + ");\n";
    }
    std::string out;
    for (std::size_t at = 0; at < block_.counted.size(); ++at) {
      const std::uint32_t k = block_.counted[at];
      std::string other;
      for (std::size_t before = 0; before < at; ++before) {
        other += (before == 0 ? "if (" : " && ") + ("read" + number(block_.counted[before])) + ".id != read" +
                 number(k) + ".id";
      }
      out += "  const Name read" + number(k) + " = " + expr_.name(block_.inputs[k].name) + ";\n  " + other +
             (at == 0 ? "" : ") ") + "read_done(w, c, read" + number(k) + ", " + number(k) + ");\n";
    }
    return out;
  }

  std::string taking_back(const std::vector<block::TakenBack>& list) const {
    return emit::taking_back(context_, environment_, block_.index, list, "    ");
  }

  semantics::ExprPtr semantics_counter() const {
    auto e = std::make_shared<semantics::Expr>();
    e->kind = semantics::Expr::Kind::variable;
    e->type = semantics::Type::integer;
    e->variable = block_.counter;
    e->at = chain_.at;
    return e;
  }

  std::string next() const {
    if (block_.kind == Kind::loop) {
      return "  " + slot(chain_.place(block_.counter), "c") + " = add(" + environment_[block_.counter] + ", 1, " +
             hole(Hole::place, context_.pos(chain_.at)) + ");\n" + wait_for(*chain_.blocks.front());
    }
    if (block_.last != nullptr) {
      return "  if (" + environment_[block_.counter] + " == " + environment_[block_.last] +
             ") return Next::finished;\n  ++" + slot(chain_.place(block_.counter), "c") + ";\n" +
             wait_for(*chain_.blocks.front());
    }
    if (position_ + 1 < chain_.blocks.size()) return wait_for(*chain_.blocks[position_ + 1]);
    return "  return Next::finished;\n";
  }

  static std::string wait_for(const block::Block& b) {
    return "  c->block = &" + hole(Hole::block, "B" + std::to_string(b.index)) + ";\n  return Next::wait;\n";
  }

  // A loop comes here again: what the word held goes first.
  std::string set(const block::Set& s) const {
    const std::string to = slot(chain_.place(s.variable), "c");
    if (s.variable->letter == 'i') return "  " + to + " = " + expr_.integer(*s.value) + ";\n";
    return "  replace(" + to + ", " + expr_.new_value(*s.value) + ");\n";
  }

  std::string call() const {
    std::string before;  // what only the kernel needs
    std::string list;
    std::string outputs;
    std::string after;
    std::size_t output = 0;
    for (std::size_t k = 0; k < block_.call->arguments.size(); ++k) {
      const semantics::Argument& a = block_.call->arguments[k];
      const std::string name = "a" + std::to_string(k);
      if (k != 0) list += ", ";
      switch (a.type) {
        case ParameterType::integer:
          before += "  const int " + name + " = " + expr_.integer(*a.value) + ";\n";
          list += name;
          break;
        case ParameterType::longint:
          before += "  const long " + name + " = " + expr_.longint(*a.value) + ";\n";
          list += name;
          break;
        case ParameterType::real:
          before += "  const double " + name + " = " + expr_.real(*a.value) + ";\n";
          list += name;
          break;
        case ParameterType::string:
          if (a.value->kind == semantics::Expr::Kind::string) {
            list += hole(Hole::text, literal(a.value->text));
            break;
          }
          before += "  const Hold " + name + "(" + expr_.new_string(*a.value) + ");\n";
          list += name + ".c_str()";
          break;
        case ParameterType::value: {
          std::string value = expr_.borrowed(*a.value);
          if (value.empty()) {
            before += "  const Hold h" + name + "(" + expr_.new_value(*a.value) + ");\n";
            value = "h" + name + ".v";
          }
          before += "  DfHold " + name + "(" + value + ", " + hole(Hole::text, context_.written(a.value->at)) + ");\n";
          list += "&" + name;
          break;
        }
        case ParameterType::name:
          outputs += "  DfHold " + name + "(" + hole(Hole::text, context_.written(a.name.at)) + ");\n";
          list += "&" + name;
          after += assign(a.name, output++, name);
          break;
      }
    }
    std::string out =
        outputs + "  if (!recalled(c)) {\n" + before + "  k_" + block_.call->kernel->symbol + "(" + list + ");\n  }\n";
    for (const auto& c : block_.counts) {
      out += "  hint_reads(w, c, " + expr_.name(c.name) + ", " + expr_.integer(*c.count) + ");\n";
    }
    // Before the outputs: what they set going is to find it gone, on every run. A swept name has to be there first.
    for (const auto& n : block_.deletes) {
      const bool dropped = is_output(n) && context_.program.swept_of(n.base) != nullptr;
      (dropped ? after : out) += deleting(context_, expr_, n, "hint_delete", "w, c", "  ");
    }
    out += after;
    for (const auto& n : block_.done) {
      out += "  assign_value(w, c, " + std::to_string(output++) + ", " + expr_.name(n) + ", value_int(1)" +
             spot(context_, expr_, environment_, n) + ");\n";
    }
    return out;
  }

  bool is_output(const semantics::NameUse& n) const {
    const auto& all = block_.call->arguments;
    return std::any_of(all.begin(), all.end(), [&](const semantics::Argument& a) {
      const auto &x = a.name.indices, &y = n.indices;
      return a.type == ParameterType::name && a.name.base == n.base &&
             std::equal(x.begin(), x.end(), y.begin(), y.end(), block::equal);
    });
  }

  std::string assign(const semantics::NameUse& to, std::size_t output, const std::string& df) const {
    const std::string start = "(w, c, " + std::to_string(output) + ", " + expr_.name(to) + ", " + df;
    if (context_.program.swept_of(to.base) != nullptr)
      return "  assign_swept" + start + spot(context_, expr_, environment_, to) + ");\n";
    const block::Uses* uses = context_.program.uses_of(to);
    if (uses == nullptr) return "  assign" + start + ");\n";
    const std::string used = "assign_used" + start + ", " + uses_call(context_, *uses, to, expr_, environment_);
    return uses->sends() ? "  {\n    Places* const to = places(w);\n    " + used + ", to);\n  }\n"
                         : "  " + used + ");\n";
  }

  const Context& context_;
  const block::Chain& chain_;
  const std::size_t position_;
  const block::Block& block_;
  const std::string number_;
  const std::string own_;  // the same in names of functions
  Environment environment_;
  ExpressionWriter expr_;
};

}  // namespace

std::string block_functions(const Context& context, const block::Chain& chain, std::size_t position) {
  return Writer(context, chain, position).functions();
}

BlockText block_text(const Context& context, const block::Chain& chain, std::size_t position, const Alike& alike) {
  Writer writer(context, chain, position);
  const Alike::Written written = alike.write(chain.blocks[position]->index, writer.functions());
  return {written.functions, block_tables(context, chain, position, written), written.of,
          writer.declarations(std::to_string(written.of))};
}

}  // namespace tessera::compiler::emit
