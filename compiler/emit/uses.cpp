#include "compiler/emit/uses.hpp"

namespace tessera::compiler::emit {
namespace {

using block::Uses;
using semantics::Variable;

std::string function_name(const Variable* base, std::size_t dimensions) {
  return "uses" + std::to_string(base->id) + "_" + std::to_string(dimensions);
}

std::string variable_name(const Variable* v) { return "v" + std::to_string(v->id); }

// Parameters of all functions of one Uses: the indices, what else is needed, where to put the places.
std::string parameters(const Uses& u) {
  std::string out;
  for (std::size_t k = 0; k < u.dimensions; ++k) {
    out += (out.empty() ? "" : ", ") + std::string("[[maybe_unused]] std::int64_t k") +
           std::to_string(k);
  }
  for (const Variable* v : u.parameters) {
    out += (out.empty() ? "" : ", ") + std::string("[[maybe_unused]] ") +
           (v->letter == 'r' ? "double " : "int ") + variable_name(v);
  }
  if (u.sends()) out += std::string(out.empty() ? "" : ", ") + "[[maybe_unused]] Places* to";
  return out;
}

class ReaderWriter {
 public:
  ReaderWriter(const Context& context, const block::Chain& nothing, const Uses& u,
               const Uses::Reader& r)
      : environment_(nothing), expr_(context, environment_, 0), r_(r) {
    for (const Variable* v : u.parameters) environment_.set(v, variable_name(v));
    for (const Uses::Around& a : r.around) {
      if (a.counter != nullptr) environment_.set(a.counter, "int(" + variable_name(a.counter) + ")");
    }
  }

  std::string body() {
    std::string out;
    for (const Uses::Solved& s : r_.solved) {
      const std::string v = variable_name(s.counter);
      out += "  const std::int64_t " + v + " = ";
      if (s.divisor == 1) {
        out += rest(s) + ";\n";
      } else {
        const std::string divisor = "(" + std::to_string(s.divisor) + ")";
        out += "(" + rest(s) + ") / " + divisor + ";\n";
        out += "  if (" + v + " * " + divisor + " != " + rest(s) + ") return 0;\n";
      }
    }
    for (const Uses::Solved& s : r_.checks) out += "  if (" + rest(s) + " != 0) return 0;\n";
    out += "  std::int64_t n = 1;\n";
    for (const Uses::Around& a : r_.around) {
      if (a.counter == nullptr) {
        out += "  if (!" + expr_.condition(*a.condition) + ") return 0;\n";
        continue;
      }
      const std::string first = expr_.integer(*a.first);
      const std::string last = expr_.integer(*a.last);
      if (solved(a.counter)) {
        const std::string v = variable_name(a.counter);
        out += "  if (" + v + " < " + first + " || " + v + " > " + last + ") return 0;\n";
      } else {
        out += "  if (const std::int64_t f = " + first + ", l = " + last +
               "; f <= l) {\n    n *= l - f + 1;\n  } else {\n    return 0;\n  }\n";
      }
    }
    if (r_.when != nullptr) out += "  if (!" + expr_.condition(*r_.when) + ") return 0;\n";
    if (r_.sent) out += "  if (to != nullptr) to->add(" + expr_.integer(*r_.locator) + ");\n";
    return out + "  return n;\n";
  }

 private:
  bool solved(const Variable* counter) const {
    for (const Uses::Solved& s : r_.solved) {
      if (s.counter == counter) return true;
    }
    return false;
  }
  // k - constant - sum of factor * variable
  static std::string rest(const Uses::Solved& s) {
    std::string out = "k" + std::to_string(s.index);
    if (s.constant != 0) out += " - (" + std::to_string(s.constant) + ")";
    for (const auto& [v, factor] : s.terms) {
      out += " - std::int64_t{" + std::to_string(factor) + "} * " + variable_name(v);
    }
    return out;
  }

  Environment environment_;
  ExpressionWriter expr_;
  const Uses::Reader& r_;
};

}  // namespace

std::string uses_text(const Context& context, const block::Program& program) {
  std::string out;
  const block::Chain nothing;
  for (const auto& [base, list] : program.uses) {
    for (const Uses& u : list) {
      const std::string name = function_name(base, u.dimensions);
      std::string arguments;
      for (std::size_t k = 0; k < u.dimensions; ++k) {
        arguments += (arguments.empty() ? "k" : ", k") + std::to_string(k);
      }
      for (const Variable* v : u.parameters) {
        arguments += (arguments.empty() ? "" : ", ") + variable_name(v);
      }
      if (u.sends()) arguments += arguments.empty() ? "to" : ", to";
      std::string sum;
      for (std::size_t r = 0; r < u.readers.size(); ++r) {
        const std::string one = name + "_" + std::to_string(r);
        out += "// `" + base->name + "` read at " + std::string(context.written(u.readers[r].at)) + "\n";
        out += "[[maybe_unused]] TESSERA_HOT std::int64_t " + one + "(" + parameters(u) + ") {\n" +
               ReaderWriter(context, nothing, u, u.readers[r]).body() + "}\n";
        sum += (sum.empty() ? "" : " + ") + one + "(" + arguments + ")";
      }
      out += "TESSERA_HOT std::int64_t " + name + "(" + parameters(u) + ") { return " +
             (sum.empty() ? "0" : sum) + "; }\n";
    }
  }
  return out.empty() ? out : out + "\n";
}

std::string uses_call(const Uses& uses, const semantics::NameUse& assigned,
                      const ExpressionWriter& expr, const Environment& environment) {
  std::string list;
  for (const auto& i : assigned.indices) list += (list.empty() ? "" : ", ") + expr.integer(*i);
  for (const Variable* v : uses.parameters) list += (list.empty() ? "" : ", ") + environment[v];
  if (uses.sends()) list += list.empty() ? "to" : ", to";
  return function_name(assigned.base, uses.dimensions) + "(" + list + ")";
}

}  // namespace tessera::compiler::emit
