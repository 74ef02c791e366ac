#include "writer.hpp"

#include <algorithm>

namespace tessera::differential {
namespace {

std::string dimensions(const std::vector<int>& sizes, const std::vector<std::string>& indices) {
  std::string out;
  for (std::size_t k = 0; k < sizes.size(); ++k) out += "[" + indices[k] + "]";
  return out;
}

}  // namespace

// ---------------------------------------------------------------- small parts

std::string Writer::name(const std::string& prefix, Visible& v) {
  std::string result = prefix + std::to_string(++names_);
  if (random_.chance(8) && !v.scalars.empty()) {  // hides an outer declaration
    const std::string& other = random_.one_of(v.scalars).name;
    const bool needed = std::any_of(targets_.begin(), targets_.end(),
                                    [&](const std::string& t) { return t.find(other) != std::string::npos; });
    if (!needed) result = other;
  }
  v.hide(result);
  return result;
}

std::string Writer::comment() {
  static const std::vector<std::string> kAll = {"// a comment \"with a quote\n",
                                                "/* over\n two lines { */\n",
                                                "`one_word ",
                                                "`one\\ word\\; ",
                                                "`one_word\n",
                                                "// continued \\\n   here }\n",
                                                "/* // */ "};
  return random_.chance(6) ? random_.one_of(kAll) : "";
}

std::string Writer::braces(const std::string& statements, const std::string& names) {
  return "{\n" + (names.empty() ? "" : "df " + names + ";\n") + statements + "}\n";
}

std::string Writer::as_body(const std::string& statements) {
  int depth = 0;
  int ends = 0;
  for (const char c : statements) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (depth == 0 && (c == '}' || c == ';')) ++ends;
  }
  return ends > 1 || random_.chance(50) ? braces(statements) : statements;
}

std::string Writer::pragma() {
  static const std::vector<std::string> kAll = {"<< rush >> ", "<< static, 2 >> ", "<<unrolling>> ",
                                                "<<static_for, 1, 4>> "};
  return random_.chance(7) ? random_.one_of(kAll) : "";
}

std::string Writer::label(const Visible& v) {
  if (!random_.chance(10)) return "";
  const std::string text = "cf lab" + std::to_string(++names_);
  return text + (random_.chance(40) ? "[" + expressions_.text(Kind::integer, v, 1) + "]: " : ": ");
}

std::string Writer::advice(const Visible& v, const std::string& more) {
  std::string rules = more;
  const auto place = [&] { return expressions_.text(Kind::integer, v, 1); };
  if (random_.chance(25)) rules += " locator_cyclic: " + place() + ";";
  if (random_.chance(12)) rules += " stealable;";
  if (random_.chance(6)) {
    const Kind kind = random_.one_of(Kinds{Kind::integer, Kind::real, Kind::string});
    if (const Fragment* f = find(kind, 0, v)) rules += " request " + expressions_.element(*f, 0, v) + ";";
  }
  if (random_.chance(4)) {
    if (const Fragment* f = find(Kind::integer, 0, v)) {
      rules += " req_unlimited " + expressions_.element(*f, 0, v) + ";";
    }
  }
  return rules.empty() ? "" : " @ {" + rules + " }";
}

std::string Writer::block_advice(const std::vector<Fragment>& declared, const Visible& v) {
  std::string rules;
  for (const Fragment& f : declared) {
    const std::string ids = dimensions(f.sizes, {"i", "j"});
    if (random_.chance(20)) {
      rules += "  locator_cyclic " + f.text + ids + " => " +
               (f.sizes.empty() ? expressions_.text(Kind::integer, v, 0) : "i * 2 + 1") + ";\n";
    } else if (random_.chance(5)) {
      rules += "  locator_replicating " + f.text + ids + " => " + (random_.chance(50) ? "all" : "2") + ";\n";
    }
  }
  return rules.empty() ? "" : " @ {\n" + rules + "}";
}

const Fragment* Writer::find(Kind kind, std::size_t dimensions, const Visible& v) {
  std::vector<const Fragment*> all;
  for (const Fragment& f : v.fragments) {
    if (f.kind == kind && f.sizes.size() >= dimensions) all.push_back(&f);
  }
  return all.empty() ? nullptr : random_.one_of(all);
}

std::vector<int> Writer::sizes() {
  if (random_.chance(50)) return {};
  if (random_.chance(60)) return {random_.between(2, 6)};
  return {random_.between(2, 3), random_.between(2, 4)};
}

// ---------------------------------------------------------------- statements

std::string Writer::show(const Visible& v) {
  cost_ += weight_;
  const std::string what = "\"p" + std::to_string(++names_) + "\"";
  if (random_.chance(15)) {
    return "show3(" + expressions_.text(Kind::integer, v) + ", " + expressions_.text(Kind::real, v) + ", " +
           expressions_.text(Kind::string, v) + ")" + advice(v) + ";\n";
  }
  if (const Fragment* bytes = find(Kind::bytes, 0, v); bytes != nullptr && random_.chance(40)) {
    return "show(" + what + ", " + expressions_.element(*bytes, 0, v) + ")" + advice(v) + ";\n";
  }
  const Kind kind = random_.one_of(Kinds{Kind::integer, Kind::integer, Kind::real, Kind::string});
  return label(v) + "show(" + what + ", " + expressions_.text(kind, v) + ")" + advice(v) + ";\n";
}

std::string Writer::show_all(const Fragment& array, const Visible& v) {
  Visible inner = v;
  std::string text;
  std::vector<std::string> counters;
  std::vector<Protected> kept;
  double runs = 1;
  kept.emplace_back(targets_, array.text);
  for (const int size : array.sizes) {
    counters.push_back(name("i", inner));
    kept.emplace_back(targets_, counters.back());
    text += "for " + counters.back() + " = 0 .. " + std::to_string(size - 1) + " ";
    runs *= size;
  }
  cost_ += weight_ * runs;
  return text + "show(\"" + array.text + "\", " + array.text + dimensions(array.sizes, counters) + ");\n";
}

// A fragment freed when its last reader has read it.
std::string Writer::freed_early(const Visible& v) {
  Visible inner = v;
  const std::string t = name("t", inner);
  const Protected kept(targets_, t);
  const std::string a = name("t", inner);
  cost_ += 3 * weight_;
  std::string value = expressions_.text(Kind::integer, inner, 1);
  std::vector<std::string> parts;
  if (random_.chance(25)) {  // a ring: both neighbours may be one element
    const int n = random_.between(1, 4);
    const std::string i = name("i", inner), all = std::to_string(n);
    const Protected counter(targets_, i);
    if (value.find(i) != value.npos) value = expressions_.text(Kind::integer, inner, 1);  // the counter may hide it
    cost_ += 2 * n * weight_;
    const std::string loop = "for " + i + " = 0 .. " + std::to_string(n - 1) + " ";
    const std::string element = t + "[" + i + "]";
    const std::string left = t + "[(" + i + " + " + std::to_string(n - 1) + ") % " + all + "]";
    const std::string right = t + "[(" + i + " + 1) % " + all + "]";
    parts = {loop + "mix(" + value + ", " + i + ", " + element + ")" +
                 advice(inner, " req_count " + element + " = " + (n < 3 ? "1;" : "2;")) + ";\n",
             loop + "mix(" + left + ", " + right + ", " + a + "[" + i + "])" + advice(inner) + ";\n",
             loop + "show(\"ring\", " + a + "[" + i + "])" + advice(inner) + ";\n"};
  } else if (random_.chance(50)) {  // the last reader needs what the other ones made
    parts = {"mix(" + value + ", 1, " + t + ")" + advice(inner) + ";\n",
             "mix(" + t + ", 2, " + a + ")" + advice(inner) + ";\n"};
    const std::string last = "show(\"freed\", " + t + " + " + a + ")";
    parts.push_back(random_.chance(50) ? last + advice(inner, " delete " + t + ";") + ";\n"
                                       : last + " --> (" + t + ");\n");
  } else {
    parts = {"mix(" + value + ", 1, " + t + ")" +
                 advice(inner, " req_count " + t + " = " +
                                   (random_.chance(50) ? "3;" : "(" + t + " > " + a + " ? 3 : 4 - 1);")) +
                 ";\n",
             "mix(" + t + ", 2, " + a + ")" + advice(inner) + ";\n",
             "show(\"counted\", " + t + ")" + advice(inner) + ";\n",
             "show(\"both\", " + t + " + " + a + ")" + advice(inner) + ";\n"};
  }
  random_.shuffle(parts);
  std::string all;
  for (const std::string& p : parts) all += p;
  return "if 1 " + braces(all, t + ", " + a);
}

// Hints between a producer and a consumer, and an output that nobody wants.
std::string Writer::pushed(const Visible& v) {
  Visible inner = v;
  const std::string t = name("t", inner);
  const Protected kept(targets_, t);
  const std::string unwanted = name("u", inner);
  const std::string to = "lab" + std::to_string(++names_);
  cost_ += 2 * weight_;
  const std::string first = "split(" + expressions_.text(Kind::integer, inner, 1) + ", " + t + ", " + unwanted +
                            ") @ { " + (random_.chance(50) ? "push " : "afterpush ") + t + " => " + to + "; drop " +
                            unwanted + "; };\n";
  const std::string second = "cf " + to + ": show(\"pushed\", " + t + ") @ { wait " + t + "; };\n";
  return "if 1 " + braces(random_.chance(50) ? first + second : second + first, t + ", " + unwanted);
}

// `x`, `x[i]` and `x[i][j]` are different fragments.
std::string Writer::mixed_indices(const Visible& v) {
  Visible inner = v;
  const std::string x = name("x", inner);
  const Protected kept(targets_, x);
  cost_ += 4 * weight_;
  std::vector<std::string> parts = {
      "mix(" + expressions_.text(Kind::integer, inner, 1) + ", 1, " + x + ")" + advice(inner) + ";\n",
      "mix(" + x + ", 2, " + x + "[0])" + advice(inner) + ";\n",
      "mix(" + x + "[0], " + x + ", " + x + "[0][1])" + advice(inner) + ";\n",
      "show(\"mixed\", " + x + " + " + x + "[0] + " + x + "[0][1])" + advice(inner) + ";\n"};
  random_.shuffle(parts);
  return "if 1 " + braces(parts[0] + parts[1] + parts[2] + parts[3], x);
}

std::string Writer::declared(const std::string& prefix, Visible& v, std::vector<Protected>& kept) {
  std::string text = name(prefix, v);
  kept.emplace_back(targets_, text);
  return text;
}

// Values that fragments read which may be moved meanwhile, and others when those have ended: these are the last uses.
std::string Writer::read_again(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string t = declared("t", inner, kept), a = declared("t", inner, kept), b = declared("t", inner, kept),
                    i = declared("i", inner, kept);
  const int size = random_.between(3, 8);
  const auto each = [&](const std::string& from, const std::string& second, const std::string& to,
                        const std::string& advised) {
    return "for " + i + " = 0 .. " + std::to_string(size - 1) + " mix(" + from + ", " + second + ", " + to + "[" + i +
           "])" + advised + ";\n";
  };
  const std::string at = "[" + i + "]";
  cost_ += 4 * size * weight_;
  std::vector<std::string> parts = {
      each(i, expressions_.text(Kind::integer, inner, 1), t, advice(inner)), each(t + at, "1", a, advice(inner)),
      each(t + at, a + at, b, " @ { locator_cyclic: " + a + at + "; }"),
      "for " + i + " = 0 .. " + std::to_string(size - 1) + " show(\"again\", " + b + at + ");\n"};
  random_.shuffle(parts);
  return "if 1 " + braces(parts[0] + parts[1] + parts[2] + parts[3], t + ", " + a + ", " + b);
}

// Steps over a row whose elements stay on their ranks, where what makes and what reads them is placed alike.
std::string Writer::stencil(const Visible& v) {
  Visible inner = v;
  const std::string x = name("x", inner);
  const Protected kept_x(targets_, x);
  const std::string t = name("i", inner);
  const Protected kept_t(targets_, t);
  const std::string i = name("i", inner);
  const int steps = random_.between(2, 5);
  const int size = random_.between(2, 7);
  const std::string last = std::to_string(size - 1);
  const std::string along = "for " + i + " = 0 .. " + last + " ";
  const std::string during = "for " + t + " = 1 .. " + std::to_string(steps) + " ";
  static const std::vector<std::string> kShares = {"", " / 2", " / 3"};
  const std::string share = random_.one_of(kShares);
  const auto at = [&share](const std::string& place) { return " @ { locator_cyclic: " + place + share + "; };\n"; };
  const std::string before = x + "[" + t + " - 1][" + i;
  cost_ += (steps + 1) * (size + 2) * weight_;
  std::vector<std::string> parts = {
      along + "mix(" + i + ", " + expressions_.text(Kind::integer, inner, 1) + ", " + x + "[0][" + i + "])" + at(i),
      "for " + t + " = 0 .. " + std::to_string(steps) + " {\nmix(" + t + ", 1, " + x + "[" + t + "][-1])" + at("0") +
          "mix(" + t + ", 2, " + x + "[" + t + "][" + std::to_string(size) + "])" + at(last) + "}\n",
      during + along + "mix(" + before + " - 1] + " + before + " + 1], " + before + "], " + x + "[" + t + "][" + i +
          "])" + at(i),
      along + "show(\"row\", " + x + "[" + std::to_string(steps) + "][" + i + "]);\n"};
  random_.shuffle(parts);
  return "if 1 " + braces(parts[0] + parts[1] + parts[2] + parts[3], x);
}

// `>>`: something that happens after all of a call.
std::string Writer::with_end(const Visible& v) {
  Visible inner = v;
  const std::string done = name("y", inner);
  const Protected kept(targets_, done);
  const std::string t = name("t", inner);
  cost_ += 2 * weight_;
  std::vector<std::string> parts;
  std::vector<const Sub*> fitting;
  for (const Sub& s : subs_) {
    if (s.parameters.back().sizes.empty() && s.cost * weight_ < kMostRuns) fitting.push_back(&s);
  }
  std::string call;
  if (!fitting.empty()) {
    const Sub& s = *random_.one_of(fitting);
    call = by_sub(s, {t, s.parameters.back().kind, {}, 0, 999}, t, inner);
  } else {
    call = kernel(Kind::integer, t, inner);
  }
  // `call(...) @ {...};` or `call(...);`: the end stands before the advice.
  std::size_t at = call.find(" @ {");
  if (at == std::string::npos) at = call.rfind(';');
  call.insert(at, " >> (" + done + ")");
  parts = {call, "show(\"done\", " + done + " + 1);\n"};
  random_.shuffle(parts);
  return "if 1 " + braces(parts[0] + parts[1], done + ", " + t);
}

std::string Writer::only_if(const Visible& v, int depth) {
  cost_ += weight_;
  const auto inner = [&] { return random_.chance(50) ? show(v) : body(v, random_.between(1, 3), depth - 1); };
  const std::string head = "if " + expressions_.text(random_.chance(20) ? Kind::real : Kind::integer, v) + " ";
  const std::string yes = inner();
  return head + yes + (random_.chance(25) ? "else " + inner() : "");
}

std::string Writer::body(Visible v, int statements, int depth, const std::string& more) {
  std::vector<std::string> parts = {more};
  std::vector<Fragment> declared;
  const Visible outside = v;
  std::string names;
  for (int k = 0; k < statements; ++k) {
    const int what = random_.below(20);
    if (what < 9 || v.fragments.empty()) {
      Fragment f;
      f.kind =
          random_.one_of(Kinds{Kind::integer, Kind::integer, Kind::integer, Kind::real, Kind::string, Kind::bytes});
      f.sizes = sizes();
      // A name of a block is declared in all of it: it hides nothing that is used there.
      f.text = (f.kind == Kind::integer ? "x" : f.kind == Kind::real ? "r" : "s") + std::to_string(++names_);
      names += (names.empty() ? "" : ", ") + f.text;
      declared.push_back(f);
      parts.push_back(f.sizes.empty() ? produce(f.kind, f.text, v, depth) : produce_array(f, f.text, v, depth));
      v.fragments.push_back(f);
      if (random_.chance(60)) parts.push_back(f.sizes.empty() ? show(v) : show_all(f, v));
    } else if (what < 12) {
      parts.push_back(random_.chance(30) || weight_ > kMostRuns / 8 ? show(v)
                      : random_.chance(35)                          ? read_again(v)
                      : random_.chance(50)                          ? stencil(v)
                                                                    : cells(v));
    } else if (what < 13) {
      parts.push_back(random_.chance(50) ? freed_early(v) : held(v));
    } else if (what < 14) {
      parts.push_back(random_.chance(70) ? pushed(v) : mixed_indices(v));
    } else if (what < 15) {
      parts.push_back(with_end(v));
    } else if (what < 17 && depth > 0) {
      parts.push_back(only_if(v, depth));
    } else if (depth > 0 && weight_ < kMostRuns / 4) {
      Visible inner = v;
      const std::string i = name("i", inner);
      const int first = random_.between(-2, 2);
      const int runs = random_.chance(10) ? 0 : random_.between(1, 4);
      inner.scalars.push_back({i, Kind::integer, double(first), double(first + runs)});
      weight_ *= runs + 1;
      cost_ += weight_;
      parts.push_back("for " + pragma() + i + " = " + std::to_string(first) + " .. " +
                      std::to_string(first + runs - 1) + " " +
                      (random_.chance(30) ? show(inner) : body(inner, random_.between(1, 3), depth - 1)));
      weight_ /= runs + 1;
    } else {
      parts.push_back(show(v));
    }
    parts.back() = comment() + parts.back();
  }
  if (random_.chance(3)) parts.push_back("nothing();\n");
  random_.shuffle(parts);
  std::string all;
  for (const std::string& p : parts) all += p;
  std::string text = braces(all, names);
  text.pop_back();
  return text + block_advice(declared, outside) + "\n";
}

}  // namespace tessera::differential
