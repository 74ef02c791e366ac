#include "compiler/emit/body.hpp"

#include <algorithm>

#include "compiler/emit/uses.hpp"

namespace tessera::compiler::emit {
namespace {

std::string mixed(const std::string& id, std::uint32_t ordinal) {
  return "mix(" + id + ", " + std::to_string(ordinal) + ")";
}

}  // namespace

std::string slot(const block::FrameVariable& f, const std::string& cf) {
  const char l = f.variable->letter;
  const char* kind = l == 'n'                           ? "frame_name("
                     : l == 'i' || l == 'l' || l == 'h' ? "frame_int("
                     : l == 'r'                         ? "frame_real("
                                                        : "frame_value(";
  return kind + cf + ", " + std::to_string(f.word) + ")";
}

std::string index_at(const ExpressionWriter& expr, const Environment& environment, const block::Swept& swept,
                     const semantics::NameUse& name, std::size_t key) {
  if (swept.given[key] != nullptr) return environment[swept.given[key]];
  const std::size_t own = swept.keys[key] - swept.prefix;
  return own < name.indices.size() ? expr.integer(*name.indices[own]) : "kNoIndex";
}

std::string spot(const Context& context, const ExpressionWriter& expr, const Environment& environment,
                 const semantics::NameUse& name) {
  const block::Swept* swept = context.program.swept_of(name.base);
  if (swept == nullptr) return "";
  std::string out = ", Spot{" + environment[swept->horizon] + ", {";
  for (std::size_t k = 0; k < swept->keys.size(); ++k)
    out += (k == 0 ? "" : ", ") + index_at(expr, environment, *swept, name, k);
  return out + "}}";
}

std::string deleting(const Context& context, const ExpressionWriter& expr, const semantics::NameUse& name,
                     const std::string& function, const std::string& arguments, const std::string& indent) {
  if (context.program.held.count(name.base) == 0)
    return indent + function + "(" + arguments + ", " + expr.name(name) + ");\n";
  std::string parts;
  semantics::NameUse part{name.base, {}, name.at};
  for (std::size_t k = 0;; ++k) {
    parts += (k == 0 ? "" : ", ") + expr.name(part);
    if (k == name.indices.size()) break;
    part.indices.push_back(name.indices[k]);
  }
  // Whoever passed on a part may hold more than this sub knows the name of.
  const char* all = context.program.parts.count(name.base) != 0 ? ", true" : ", false";
  return indent + "{\n" + indent + "  const Name parts[] = {" + parts + "};\n" + indent + "  " + function + "_held(" +
         arguments + ", parts, " + std::to_string(name.indices.size() + 1) + all + ");\n" + indent + "}\n";
}

std::string BodyWriter::write(const block::Body& body) {
  out_.clear();
  depth_ = 0;
  statements(body, "id", "c->scope", "  ");
  return out_;
}

void BodyWriter::statements(const block::Body& body, const std::string& id, const std::string& outer_scope,
                            const std::string& indent) {
  std::string scope = outer_scope;
  const bool has_scope = !body.names.empty() || !body.deletes.empty();
  if (has_scope) {
    scope = "s" + std::to_string(depth_);
    out_ += indent + "Scope* " + scope + " = scope_open(w, " + outer_scope + ", " + id + ");\n";
    for (const block::Declared& d : body.names) {
      const std::string name = "scope_name(" + scope + ", " + std::to_string(d.ordinal) + ")";
      if (const auto swept = context_.program.swept.find(d.variable); swept != context_.program.swept.end()) {
        const std::string number = std::to_string(depth_) + "_" + std::to_string(d.ordinal);
        out_ += indent + "const std::int64_t h" + number + " = horizon_open(w, " + scope + ");\n";
        environment_.set(swept->second.horizon, "h" + number);
        if (!swept->second.keys.empty()) {
          out_ +=
              indent + "[[maybe_unused]] const Name x" + number + " = horizon_name(h" + number + ", " + name + ");\n";
          environment_.set(d.variable, "x" + number);
          continue;
        }
      }
      const bool known = context_.program.uses.count(d.variable) != 0;
      environment_.set(d.variable, known ? "uses_known(" + name + ")" : name);
    }
    for (const auto& n : body.deletes) {
      out_ += deleting(context_, expr_, n, "scope_delete", "w, " + scope, indent);
    }
  }
  const std::string by = "mix(" + id + ", kBodyHolds)";
  for (const auto& n : body.holds) out_ += indent + "hold(w, " + expr_.name(n) + ", " + by + ");\n";
  for (const block::Step& step : body.steps) {
    if (const auto* s = std::get_if<block::Spawn>(&step)) {
      spawn(*s, id, scope, indent);
    } else if (const auto* r = std::get_if<block::CountReads>(&step)) {
      out_ += indent + "hint_reads(w, c, " + expr_.name(r->name) + ", " + expr_.integer(*r->count) + ");\n";
    } else if (const auto* e = std::get_if<block::Evaluate>(&step)) {
      const semantics::Type type = e->value->type;
      const std::string value = type == semantics::Type::integer   ? expr_.integer(*e->value)
                                : type == semantics::Type::longint ? expr_.longint(*e->value)
                                                                   : expr_.real(*e->value);
      out_ += indent + "static_cast<void>(" + value + ");\n";
    } else {
      const block::When& when = *std::get<std::unique_ptr<block::When>>(step);
      ++depth_;
      const std::string inner = "id" + std::to_string(depth_);
      out_ += indent + (when.condition == nullptr ? "" : "if " + expr_.condition(*when.condition) + " ") + "{\n";
      out_ += indent + "  [[maybe_unused]] const Id " + inner + " = " + mixed(id, when.ordinal) + ";\n";
      statements(when.body, inner, scope, indent + "  ");
      out_ += indent + "}\n";
      --depth_;
    }
  }
  for (const auto& n : body.holds) out_ += indent + "hold_ends(w, " + expr_.name(n) + ", " + by + ");\n";
  for (const block::Declared& d : body.names) {
    const auto swept = context_.program.swept.find(d.variable);
    if (swept != context_.program.swept.end())
      out_ += indent + "horizon_close(w, " + environment_[swept->second.horizon] + ");\n";
  }
  if (has_scope) out_ += indent + "scope_close(w, " + scope + ");\n";
}

void BodyWriter::spawn(const block::Spawn& s, const std::string& id, const std::string& outer,
                       const std::string& indent) {
  const bool range = s.chain->kind == block::Kind::range || s.chain->last().last != nullptr;
  std::string scope = outer;
  out_ += indent;
  if (s.rank != nullptr) {
    const std::string& ranks = environment_[s.ranks];
    out_ += "if (" + ranks + " == 1 || belongs(" + expr_.integer(*s.chain->locator) + ", " + ranks + ", " +
            environment_[s.rank] + ")) ";
  }
  out_ += "{\n";
  if (range) {
    out_ += indent + "  const int first = " + expr_.integer(*s.arguments[0].value) +
            ", last = " + expr_.integer(*s.arguments[1].value) + ";\n" + indent + "  if (first <= last) {\n";
  }
  std::string inside = indent + (range ? "    " : "  ");
  const bool own_scope = s.has_end() || !s.holds.empty();
  if (own_scope) {
    scope = "d";
    out_ += inside + "Scope* d = scope_open(w, " + outer + ", " + mixed(id, s.has_end() ? s.end_ordinal : s.ordinal) +
            ");\n";
    for (const auto& n : s.holds) {
      out_ += inside + "scope_hold(w, d, " + expr_.name(n) + ");\n";
    }
    for (const auto& n : s.deletes) {
      out_ += deleting(context_, expr_, n, "scope_delete", "w, d", inside);
    }
    for (const auto& n : s.done) {
      out_ += inside + "scope_notify(w, d, " + expr_.name(n) + spot(context_, expr_, environment_, n) + ");\n";
    }
  }
  const auto block = [](const block::Block& b) { return hole(Hole::block, "B" + std::to_string(b.index)); };
  std::string made = block(*s.chain->blocks.front());
  const bool decided = !own_scope && s.rank == nullptr && decides(s, inside);
  if (decided) {
    out_ += inside + "if (holds) {\n";
    inside += "  ";
    made = "decided ? " + block(*s.chain->blocks[1]) + " : " + made;
  }
  out_ += inside + "Cf* t = cf_new(w, " + made + ", " + scope + ", " + mixed(id, s.ordinal) + ");\n";
  for (std::size_t k = 0; k < s.chain->parameters.size(); ++k) {
    const block::FrameVariable& to = s.chain->frame[k];
    out_ += inside;
    if (range && k < 2) {
      out_ += slot(to, "t") + (k == 0 ? " = first;\n" : " = last;\n");
    } else {
      argument(to, s.arguments[k]);
    }
  }
  for (std::size_t k = 0; k < s.chain->captured.size(); ++k) {
    out_ += inside;
    copy(s.chain->frame[s.chain->parameters.size() + k]);
  }
  for (std::size_t k = 0; k < s.chain->hidden.size(); ++k) {
    const block::FrameVariable& to = s.chain->frame[s.chain->parameters.size() + s.chain->captured.size() + k];
    out_ += inside + slot(to, "t") + " = " + hidden(s, s.chain->hidden[k]) + ";\n";
  }
  out_ += inside + "cf_submit(w, t);\n";
  if (decided) out_ += indent + "  }\n";
  if (own_scope) out_ += inside + "scope_close(w, d);\n";
  if (range) out_ += indent + "  }\n";
  out_ += indent + "}\n";
}

bool BodyWriter::decides(const block::Spawn& s, const std::string& indent) {
  const block::Chain& chain = *s.chain;
  const block::Block& first = *chain.blocks.front();
  const bool alone = chain.kind == block::Kind::atomic && first.kind == block::Kind::eval && chain.hold == nullptr &&
                     chain.hidden.empty() && chain.parameters.empty() && first.sets.empty() &&
                     first.locate == nullptr && first.counted.empty() && !first.inputs.empty();
  const bool always =
      std::all_of(first.inputs.begin(), first.inputs.end(), [](const block::Input& in) { return in.when == nullptr; });
  if (!alone || first.condition == nullptr || !always) return false;
  const std::string count = std::to_string(first.inputs.size()),
                    block = hole(Hole::block, "B" + std::to_string(first.index));
  std::string names;
  for (const block::Input& in : first.inputs) names += (names.empty() ? "" : ", ") + expr_.name(in.name);
  // What would be wrong in it is wrong in its fragment.
  out_ += indent + "bool decided = false, holds = true;\n" + indent + "try {\n" + indent + "  const Name n[] = {" +
          names + "};\n" + indent + "  Value v[" + count + "];\n" + indent + "  if (look(w, " + block + ", n, v)) {\n" +
          indent + "    holds = " + ExpressionWriter(context_, environment_, "v").condition(*first.condition) + ";\n" +
          indent + "    decided = true;\n" + indent + "    looked(w, " + block + ", n);\n" + indent + "  }\n" + indent +
          "} catch (...) {\n" + indent + "}\n";
  if (!first.otherwise.empty()) {
    out_ += indent + "if (!holds) {\n" +
            taking_back(context_, environment_, first.index, first.otherwise, indent + "  ") + indent + "}\n";
  }
  return true;
}

void BodyWriter::argument(const block::FrameVariable& to, const semantics::Argument& a) {
  out_ += slot(to, "t") + " = ";
  switch (a.type) {
    case semantics::ParameterType::integer:
      out_ += expr_.integer(*a.value);
      break;
    case semantics::ParameterType::longint:
      out_ += expr_.longint(*a.value);
      break;
    case semantics::ParameterType::real:
      out_ += expr_.real(*a.value);
      break;
    case semantics::ParameterType::string:
      out_ += expr_.new_string(*a.value);
      break;
    case semantics::ParameterType::value:
      out_ += expr_.new_value(*a.value);
      break;
    case semantics::ParameterType::name:
      out_ += expr_.name(a.name);
      break;
  }
  out_ += ";\n";
}

// What the callee is told of a name that it gets.
std::string BodyWriter::hidden(const block::Spawn& s, const block::Hidden& h) const {
  const semantics::NameUse& name = s.arguments[h.parameter].name;
  const block::Swept& swept = context_.program.swept.at(name.base);
  return h.key ? index_at(expr_, environment_, swept, name, *h.key) : environment_[swept.horizon];
}

void BodyWriter::copy(const block::FrameVariable& to) {
  const std::string& from = environment_[to.variable];
  const bool counted = to.variable->letter == 's' || to.variable->letter == 'v';
  out_ += slot(to, "t") + " = " + (counted ? "retain(" + from + ")" : from) + ";\n";
}

}  // namespace tessera::compiler::emit
