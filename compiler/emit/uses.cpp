#include "compiler/emit/uses.hpp"

#include <map>
#include <vector>

namespace tessera::compiler::emit {
namespace {

using block::Uses;
using semantics::Variable;

// Variables are called by where they come up, not by what they are: functions of different names that count alike are
// the same text.
using Numbers = std::map<const Variable*, std::size_t>;

Numbers numbers_of(const Uses& u) {
  Numbers n;
  const auto meet = [&](const Variable* v) { n.emplace(v, n.size()); };
  for (const Variable* v : u.parameters) meet(v);
  for (const Uses::Reader& r : u.readers) {
    for (const Uses::Around& a : r.around) {
      if (a.counter != nullptr) meet(a.counter);
    }
  }
  return n;
}

// Parameters of all functions of one Uses: the indices, what else is needed, where to put the places.
std::string parameters(const Uses& u, const Numbers& numbers) {
  std::string out;
  for (std::size_t k = 0; k < u.dimensions; ++k) {
    out += (out.empty() ? "" : ", ") + std::string("[[maybe_unused]] std::int64_t k") + std::to_string(k);
  }
  for (const Variable* v : u.parameters) {
    out += (out.empty() ? "" : ", ") + std::string("[[maybe_unused]] ") + (v->letter == 'r' ? "double v" : "int v") +
           std::to_string(numbers.at(v));
  }
  if (u.sends()) out += std::string(out.empty() ? "" : ", ") + "[[maybe_unused]] Places* to";
  return out;
}

class ReaderWriter {
 public:
  ReaderWriter(const Context& context, const block::Chain& nothing, const Uses& u, const Numbers& numbers,
               const Uses::Reader& r)
      : environment_(nothing), expr_(context, environment_, 0), numbers_(numbers), r_(r) {
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
  std::string variable_name(const Variable* v) const { return "v" + std::to_string(numbers_.at(v)); }
  // k - constant - sum of factor * variable
  std::string rest(const Uses::Solved& s) const {
    std::string out = "k" + std::to_string(s.index);
    if (s.constant != 0) out += " - (" + std::to_string(s.constant) + ")";
    for (const auto& [v, factor] : s.terms) {
      out += " - std::int64_t{" + std::to_string(factor) + "} * " + variable_name(v);
    }
    return out;
  }

  Environment environment_;
  ExpressionWriter expr_;
  const Numbers& numbers_;
  const Uses::Reader& r_;
};

}  // namespace

UsesFunctions uses_functions(const Context& context, const block::Program& program) {
  UsesFunctions out;
  const block::Chain nothing;
  std::map<std::string, std::string> known;  // names of functions by their texts
  for (const auto& [base, list] : program.uses) {
    for (const Uses& u : list) {
      const Numbers numbers = numbers_of(u);
      std::string arguments;
      for (std::size_t k = 0; k < u.dimensions; ++k) {
        arguments += (arguments.empty() ? "k" : ", k") + std::to_string(k);
      }
      for (const Variable* v : u.parameters) {
        arguments += (arguments.empty() ? "v" : ", v") + std::to_string(numbers.at(v));
      }
      if (u.sends()) arguments += arguments.empty() ? "to" : ", to";
      std::vector<std::string> bodies;
      std::string key = parameters(u, numbers);
      for (const Uses::Reader& r : u.readers) {
        bodies.push_back(without_holes(ReaderWriter(context, nothing, u, numbers, r).body()));
        key += "\n" + bodies.back();
      }
      const auto [it, fresh] =
          known.emplace(key, "uses" + std::to_string(base->id) + "_" + std::to_string(u.dimensions));
      const std::string& name = out.names[&u] = it->second;
      if (!fresh) continue;
      std::string sum;
      for (std::size_t r = 0; r < u.readers.size(); ++r) {
        const std::string one = name + "_" + std::to_string(r);
        out.text += "// `" + base->name + "` read at " + std::string(context.written(u.readers[r].at)) + "\n";
        out.text += "[[maybe_unused]] TESSERA_HOT std::int64_t " + one + "(" + parameters(u, numbers) + ") {\n" +
                    bodies[r] + "}\n";
        sum += (sum.empty() ? "" : " + ") + one + "(" + arguments + ")";
      }
      out.text += "TESSERA_HOT std::int64_t " + name + "(" + parameters(u, numbers) + ") { return " +
                  (sum.empty() ? "0" : sum) + "; }\n";
    }
  }
  if (!out.text.empty()) out.text += "\n";
  return out;
}

std::string uses_call(const Context& context, const block::Uses& uses, const semantics::NameUse& assigned,
                      const ExpressionWriter& expr, const Environment& environment) {
  std::string list;
  for (const auto& i : assigned.indices) list += (list.empty() ? "" : ", ") + expr.integer(*i);
  for (const Variable* v : uses.parameters) list += (list.empty() ? "" : ", ") + environment[v];
  if (uses.sends()) list += list.empty() ? "to" : ", to";
  return context.uses->at(&uses) + "(" + list + ")";
}

}  // namespace tessera::compiler::emit
