#include "compiler/emit/uses.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace tessera::compiler::emit {
namespace {

using block::Around;
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
    for (const Around& a : r.around) {
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
    out += (out.empty() ? "" : ", ") + std::string("[[maybe_unused]] ") +
           (v->letter == 'r'   ? "double v"
            : v->letter == 'l' ? "std::int64_t v"
                               : "int v") +
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
    for (const Around& a : r.around) {
      if (a.counter != nullptr) environment_.set(a.counter, "int(" + variable_name(a.counter) + ")");
    }
  }

  std::string body() {
    sums(Uses::kBefore);
    line("std::int64_t n = 1;");
    std::size_t next = 0;  // of those tried
    for (const Around& a : r_.around) {
      if (a.counter == nullptr) {
        if (a.condition != nullptr) unless(expr_.condition(*a.condition));
        continue;
      }
      const bool any_first = Uses::is_narrowed(r_, a.counter, true), any_last = Uses::is_narrowed(r_, a.counter, false);
      const std::string first = any_first ? "" : expr_.integer(*a.first);
      const std::string last = any_last || a.last == nullptr ? "" : expr_.integer(*a.last);
      if (next < r_.tried.size() && r_.tried[next].counter == a.counter) {
        try_all(r_.tried[next], first, last);
        sums(static_cast<int>(next++));
      } else if (solved(a.counter)) {
        const std::string v = variable_name(a.counter);
        const std::string low = first.empty() ? "" : v + " < " + first, high = last.empty() ? "" : v + " > " + last;
        if (!first.empty() || !last.empty()) fail_if(low + (low.empty() || high.empty() ? "" : " || ") + high);
      } else {
        line("if (const std::int64_t f = " + narrowed(a.counter, first, true) +
             ", l = " + narrowed(a.counter, last, false) + "; f <= l) {");
        line("  n *= l - f + 1;");
        line("} else {");
        line(std::string("  ") + fail());
        line("}");
      }
    }
    if (r_.when != nullptr) unless(expr_.condition(*r_.when));
    for (const auto& [k, value] : r_.equal) fail_if(index(k) + " != " + expr_.integer(*value));
    if (r_.sent) line("if (to != nullptr) to->add(" + expr_.integer(*r_.locator) + ");");
    if (loops_ == 0) {
      line("return n;");
      return out_;
    }
    line("all += n;");
    for (; loops_ > 0; --loops_) out_ += std::string(2 * loops_, ' ') + "}\n";
    return "  std::int64_t all = 0;\n" + out_ + "  return all;\n";
  }

 private:
  void line(const std::string& text) { out_ += std::string(2 * (loops_ + 1), ' ') + text + "\n"; }
  const char* fail() const { return loops_ == 0 ? "return 0;" : "continue;"; }
  void fail_if(const std::string& condition) { line("if (" + condition + ") " + fail()); }
  void unless(const std::string& condition) { fail_if("!" + condition); }

  // What is known after number `waited` of those tried.
  void sums(int waited) {
    for (const Uses::Solved& s : r_.solved) {
      if (s.after != waited) continue;
      const std::string v = variable_name(s.counter);
      const std::string value = index(s.index) + minus(s.rest);
      if (s.divisor == 1) {
        line("const std::int64_t " + v + " = " + value + ";");
      } else {
        const std::string divisor = "(" + std::to_string(s.divisor) + ")";
        line("const std::int64_t " + v + " = (" + value + ") / " + divisor + ";");
        fail_if(v + " * " + divisor + " != " + value);
      }
    }
    for (const Uses::Solved& s : r_.checks) {
      if (s.after == waited) fail_if(index(s.index) + minus(s.rest) + " != 0");
    }
  }

  // Tries the values of a counter, or the only one.
  void try_all(const Uses::Tried& t, const std::string& first, const std::string& last) {
    const std::string v = variable_name(t.counter);
    std::string each = "Trial e" + v + "{" + first + ", " + last + "};";
    for (const Uses::Split& s : t.splits) {
      each += " e" + v + (s.remainder ? ".remainder(" : ".quotient(") + offset(s) + ", " + std::to_string(s.factor) +
              ", " + total(s.rest) + ", " + expr_.integer(*s.by) + ");";
    }
    line(each);
    const auto holds = [&](const std::string& v) {
      std::string out;
      for (const Uses::Split& s : t.splits) {
        if (!s.remainder) continue;
        out += (out.empty() ? "" : " && ") + std::string("(") + v + " * " + std::to_string(s.factor) + " + " +
               total(s.rest) + ") % " + expr_.integer(*s.by) + " == " + offset(s);
      }
      return out.empty() ? "true" : out;
    };
    if (t.once) {
      line("while (e" + v + ".first <= e" + v + ".last && !(" + holds("e" + v + ".first") + ")) e" + v + ".first += e" +
           v + ".step;");
      line("const std::int64_t " + v + " = e" + v + ".first;");
      fail_if(v + " > e" + v + ".last");
    } else {
      line("const std::int64_t n" + v + " = n;");
      line("for (std::int64_t " + v + " = e" + v + ".first; " + v + " <= e" + v + ".last; " + v + " += e" + v +
           ".step) {");
      ++loops_;
      line("std::int64_t n = n" + v + ";");
      unless("(" + holds(v) + ")");
    }
  }

  // What else bounds a counter that runs freely.
  std::string narrowed(const Variable* counter, std::string bound, bool least) const {
    for (const Uses::Narrowed& n : r_.narrowed) {
      if (n.counter != counter || n.least != least) continue;
      bound = std::string(least ? "larger(" : "smaller(") + bound + ", " + total(n.bound) + ")";
    }
    return bound;
  }

  bool solved(const Variable* counter) const {
    for (const Uses::Solved& s : r_.solved) {
      if (s.counter == counter) return true;
    }
    return false;
  }
  std::string variable_name(const Variable* v) const { return "v" + std::to_string(numbers_.at(v)); }
  static std::string index(std::size_t k) { return "k" + std::to_string(k); }
  std::string minus(const Uses::Linear& l) const {
    std::string out;
    if (l.constant != 0) out += " - (" + std::to_string(l.constant) + ")";
    for (const auto& [v, factor] : l.terms) {
      out += " - std::int64_t{" + std::to_string(factor) + "} * " + variable_name(v);
    }
    return out;
  }
  std::string total(const Uses::Linear& l) const {
    std::string out = "(std::int64_t{" + std::to_string(l.constant) + "}";
    for (const auto& [v, factor] : l.terms)
      out += " + std::int64_t{" + std::to_string(factor) + "} * " + variable_name(v);
    return out + ")";
  }
  // What the remainder or quotient must be.
  std::string offset(const Uses::Split& s) const {
    return (s.sign < 0 ? "-(" : "(") + index(s.index) + minus(s.offset) + ")";
  }

  Environment environment_;
  ExpressionWriter expr_;
  const Numbers& numbers_;
  const Uses::Reader& r_;
  std::string out_;
  std::size_t loops_ = 0;  // around what is written
};

bool decided(const Uses::Reader& r) {
  return std::any_of(r.around.begin(), r.around.end(), [](const Around& a) { return a.decided != nullptr; });
}

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
        out.text += "// `" + base->name + "` read at " + std::string(context.written(u.readers[r].name.at)) + "\n";
        // Where the run decides against a reader, what it would do wrong is not done.
        const bool tries = decided(u.readers[r]);
        out.text += "[[maybe_unused]] TESSERA_HOT std::int64_t " + one + "(" + parameters(u, numbers) + ") " +
                    (tries ? "try {\n" : "{\n") + bodies[r] + (tries ? "} catch (...) {\n  return 0;\n}\n" : "}\n");
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

std::string taking_back(const Context& context, const Environment& environment, std::uint32_t block,
                        const std::vector<block::TakenBack>& list, const std::string& indent) {
  std::string out;
  for (const block::TakenBack& t : list) {
    Environment inside = environment;
    const ExpressionWriter expr(context, inside, block);
    std::string text, end;
    std::size_t depth = 0;
    const auto open = [&](const std::string& head) {
      text += indent + std::string(2 * ++depth, ' ') + head + " {\n";
      end = indent + std::string(2 * depth, ' ') + "}\n" + end;
    };
    for (const Around& a : t.around) {
      if (a.counter == nullptr) {
        open("if (" + expr.condition(*a.condition) + ")");
        continue;
      }
      const std::string i = "i" + std::to_string(depth), l = "l" + std::to_string(depth);
      const std::string first = expr.integer(*a.first), last = expr.integer(*a.last);
      open("for (std::int64_t " + i + " = " + first + ", " + l + " = " + last + "; " + i + " <= " + l + "; ++" + i +
           ")");
      inside.set(a.counter, "(int)" + i);
    }
    if (t.when != nullptr) open("if (" + expr.condition(*t.when) + ")");
    text += indent + std::string(2 * depth + 2, ' ') + "take_back(w, " + expr.name(t.name) + ");\n";
    // A fragment that would do something wrong is not made.
    out += indent + "try {\n" + text + end + indent + "} catch (...) {\n" + indent + "}\n";
  }
  if (!list.empty()) out += indent + "taken_back(w, c);\n";
  return out;
}

}  // namespace tessera::compiler::emit
