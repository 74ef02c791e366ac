#include "expressions.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::differential {
namespace {

constexpr double kLargest = 1e9;

Expression limited(double low, double high, Expression e) {
  e.low = low;
  e.high = high;
  return e;
}

}  // namespace

std::string plus(const std::string& counter, int by) {
  return by == 0 ? counter : counter + (by < 0 ? " - " : " + ") + std::to_string(std::abs(by));
}

void Visible::hide(const std::string& name) {
  const auto begins = [&](const std::string& text) {
    return text == name || (text.compare(0, name.size(), name) == 0 && text[name.size()] == '[');
  };
  // `c[i]` is out of sight too when i is hidden.
  const auto mentions = [&](const std::string& text) {
    return begins(text) || text.find("[" + name + "]") != std::string::npos;
  };
  std::erase_if(fragments, [&](const Fragment& f) { return mentions(f.text); });
  std::erase_if(scalars, [&](const Scalar& s) { return s.name == name; });
}

std::string Expressions::in(const Expression& e, int level) {
  const bool extra = e.level < 7 && random_.chance(15);
  return e.level < level || extra ? "(" + e.text + ")" : e.text;
}

bool Expressions::read(Kind kind, const Visible& v, Expression& out) {
  std::vector<const Fragment*> all;
  for (const Fragment& f : v.fragments) {
    if (f.kind == kind) all.push_back(&f);
  }
  if (all.empty()) return false;
  const Fragment& f = *random_.one_of(all);
  out = {element(f, 0, v), 7, f.low, f.high, false};
  return true;
}

bool Expressions::scalar(Kind kind, const Visible& v, Expression& out) {
  std::vector<const Scalar*> all;
  for (const Scalar& s : v.scalars) {
    if (s.kind == kind) all.push_back(&s);
  }
  if (all.empty()) return false;
  const Scalar& s = *random_.one_of(all);
  out = {s.name, 7, s.low, s.high, false};
  return true;
}

std::string Expressions::element(const Fragment& array, std::size_t left, const Visible& v) {
  std::string text = array.text;
  for (std::size_t k = 0; k + left < array.sizes.size(); ++k) {
    text += "[" + index(array.sizes[k], v) + "]";
  }
  return text;
}

std::string Expressions::index(int size, const Visible& v, int depth) {
  if (depth <= 0 || random_.chance(25)) return std::to_string(random_.below(size));
  std::vector<std::string> fitting;
  for (const Scalar& s : v.scalars) {
    if (s.kind == Kind::integer && s.low >= 0 && s.high < size) fitting.push_back(s.name);
  }
  if (!fitting.empty() && random_.chance(50)) return random_.one_of(fitting);
  const Expression e = make(Kind::integer, v, depth - 1);
  if (e.low >= 0 && e.high < size) return e.text;
  const std::string rest = in(e, 5) + " % " + std::to_string(size);
  return e.low >= 0 ? rest : "(" + rest + " + " + std::to_string(size) + ") % " + std::to_string(size);
}

Expression Expressions::make(Kind kind, const Visible& v, int depth) {
  switch (kind) {
    case Kind::integer:
      return integer(v, depth);
    case Kind::real:
      return real(v, depth);
    default:
      return string(v, depth);
  }
}

Expression Expressions::choice(Kind kind, const Visible& v, int depth) {
  const Expression c = make(Kind::integer, v, depth - 1);
  const Expression a = make(kind, v, depth - 1);
  const Expression b = make(kind, v, depth - 1);
  return {in(c, 1) + " ? " + in(a, 1) + " : " + in(b, 1), 0, std::min(a.low, b.low), std::max(a.high, b.high),
          c.known && a.known && b.known};
}

Expression Expressions::longint(const Visible& v, int depth) {
  const Expression a = make(random_.chance(25) ? Kind::real : Kind::integer, v, depth - 1);
  const Expression b = make(Kind::integer, v, depth - 1);
  const std::string wide = "long(" + a.text + ")";
  const bool known = a.known && b.known;
  switch (random_.below(6)) {
    case 0:
      return {in(b, 4) + " - 5000000000", 4, 0, 0, b.known};
    case 1:  // below 2 to the 62nd
      return {wide + " * 3000000000 / 7", 5, 0, 0, a.known};
    case 2:
      return {wide + " * " + in(b, 6), 5, 0, 0, known};
    case 3:
      return {"-(" + wide + " + " + in(b, 5) + ")", 6, 0, 0, known};
    case 4:
      return {"long(\"-4000000000\")", 7, 0, 0, true};
    default:
      return {wide, 7, 0, 0, a.known};
  }
}

Expression Expressions::integer(const Visible& v, int depth) {
  Expression e;
  if (depth <= 0 || random_.chance(20)) {
    const int what = random_.below(10);
    if (what < 4 && read(Kind::integer, v, e)) return e;
    if (what < 8 && scalar(Kind::integer, v, e)) return e;
    if (macros_ && what == 8) return {"$FIVE", 7, 5, 5, true};
    if (random_.chance(4)) return {"ranks / ranks", 5, 1, 1, true};  // no result depends on how many
    if (random_.chance(4)) return {"ranks - ranks", 4, 0, 0, true};
    const int n = random_.chance(15) ? -random_.below(50) : random_.below(100);
    return {std::to_string(n), n < 0 ? 6 : 7, double(n), double(n), true};
  }
  if (random_.chance(8)) {
    const Expression l = longint(v, depth);
    const int n = random_.between(2, 900);
    if (random_.chance(50)) return {in(l, 4) + " < 4000000000", 3, 0, 1, l.known};
    return {"int(" + in(l, 5) + " % " + std::to_string(n) + ")", 7, 1.0 - n, n - 1.0, l.known};
  }
  switch (random_.below(12)) {
    case 0:
      return choice(Kind::integer, v, depth);
    case 1:
    case 2:
      return comparison(v, depth);
    case 3: {
      const Expression r = make(Kind::real, v, depth - 1);
      return limited(std::floor(r.low), std::ceil(r.high), {"int(" + r.text + ")", 7, 0, 0, r.known});
    }
    case 4: {
      const int n = random_.below(1000);
      return {"int(\"" + std::to_string(n) + "\")", 7, double(n), double(n), true};
    }
    case 5: {
      const Expression a = make(Kind::integer, v, depth - 1);
      return {"-" + in(a, 7), 6, -a.high, -a.low, a.known};
    }
    default:
      return arithmetic(v, depth);
  }
}

Expression Expressions::arithmetic(const Visible& v, int depth) {
  const Expression a = make(Kind::integer, v, depth - 1);
  const Expression b = make(Kind::integer, v, depth - 1);
  const bool known = a.known && b.known;
  const double products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  const auto [low, high] = std::minmax_element(std::begin(products), std::end(products));
  switch (random_.below(6)) {
    case 0:
      if (macros_ && b.high - a.low < kLargest && a.high - b.low < kLargest) {
        return {"$LESS(" + a.text + ", " + b.text + ")", 7, a.low - b.high, a.high - b.low, known};
      }
      [[fallthrough]];
    case 1:
      if (a.high + b.high < kLargest && a.low + b.low > -kLargest) {
        return {in(a, 4) + " + " + in(b, 5), 4, a.low + b.low, a.high + b.high, known};
      }
      break;
    case 2:
      if (a.high - b.low < kLargest && a.low - b.high > -kLargest) {
        return {in(a, 4) + " - " + in(b, 5), 4, a.low - b.high, a.high - b.low, known};
      }
      break;
    case 3:
      if (*low > -kLargest && *high < kLargest) {
        return {in(a, 5) + " * " + in(b, 6), 5, *low, *high, known};
      }
      break;
    case 4:
      if (b.low > 0 || b.high < 0) {
        const double most = std::max(std::fabs(a.low), std::fabs(a.high));
        return {in(a, 5) + " / " + in(b, 6), 5, -most, most, known};
      }
      break;
    default:
      break;
  }
  const int n = random_.between(2, 40);
  return {in(a, 5) + " % " + std::to_string(n), 5, a.low < 0 ? 1.0 - n : 0, n - 1.0, known};
}

Expression Expressions::comparison(const Visible& v, int depth) {
  static const std::vector<std::string> kCompare = {"<", ">", "<=", ">=", "==", "!="};
  const int what = random_.below(7);
  if (what == 6) {
    const Expression a = make(random_.chance(20) ? Kind::real : Kind::integer, v, depth - 1);
    return {"!" + in(a, 6), 6, 0, 1, a.known};
  }
  if (what == 0) {
    const Expression a = make(Kind::string, v, depth - 1);
    const Expression b = make(Kind::string, v, depth - 1);
    return {in(a, 4) + (random_.chance(50) ? " == " : " != ") + in(b, 4), 3, 0, 1, a.known && b.known};
  }
  if (what < 3) {
    const bool both = what == 1;
    const Expression a = make(Kind::integer, v, depth - 1);
    const Expression b = make(Kind::integer, v, depth - 1);
    return {in(a, both ? 2 : 1) + (both ? " && " : " || ") + in(b, both ? 3 : 2), both ? 2 : 1, 0, 1,
            a.known && b.known};
  }
  const Expression a = make(random_.chance(20) ? Kind::real : Kind::integer, v, depth - 1);
  const Expression b = make(random_.chance(20) ? Kind::real : Kind::integer, v, depth - 1);
  return {in(a, 4) + " " + random_.one_of(kCompare) + " " + in(b, 4), 3, 0, 1, a.known && b.known};
}

Expression Expressions::real(const Visible& v, int depth) {
  Expression e;
  if (depth <= 0 || random_.chance(25)) {
    const int what = random_.below(10);
    if (what < 5 && read(Kind::real, v, e)) return e;
    if (what < 7 && scalar(Kind::real, v, e)) return e;
    const int n = random_.below(400);
    if (random_.chance(15)) return {std::to_string(n) + ".0e-1", 7, n * 0.1, n * 0.1, true};
    return {std::to_string(n / 4) + "." + std::to_string(n % 4 * 25), 7, 0, 100, true};
  }
  if (random_.chance(10)) return choice(Kind::real, v, depth);
  if (random_.chance(6)) {
    const Expression l = longint(v, depth);
    return {in(l, 5) + " % 1000 / 8.0", 5, -125, 125, l.known};
  }
  if (random_.chance(25)) {
    const Expression a = make(Kind::integer, v, depth - 1);
    return {"real(" + a.text + ")", 7, a.low, a.high, a.known};
  }
  const Expression a = make(Kind::real, v, depth - 1);
  const Expression b = make(random_.chance(40) ? Kind::integer : Kind::real, v, depth - 1);
  const bool known = a.known && b.known;
  const double most = std::max(std::fabs(a.low), std::fabs(a.high));
  const double other = std::max(std::fabs(b.low), std::fabs(b.high));
  if (most + other < kLargest && random_.chance(60)) {
    const bool plus = random_.chance(50);
    return {in(a, 4) + (plus ? " + " : " - ") + in(b, 5), 4, -most - other, most + other, known};
  }
  if (most * other < kLargest && random_.chance(60)) {
    return {in(b, 5) + " * " + in(a, 6), 5, -most * other, most * other, known};
  }
  return {in(a, 5) + " / 8.0", 5, -most, most, a.known};
}

Expression Expressions::string(const Visible& v, int depth) {
  static const std::vector<std::string> kLiterals = {"\"\"",
                                                     "\"a\"",
                                                     "\"two words\"",
                                                     "\"say \\\"hi\\\"\"",
                                                     "\"back\\\\slash\"",
                                                     "\"\xC3\xA9t\xC3\xA9\"",
                                                     "\"// no comment\"",
                                                     "\"a, (b\"",
                                                     "\"%d ?\?/\""};
  Expression e;
  if (depth <= 0 || random_.chance(30)) {
    const int what = random_.below(10);
    if (what < 5 && read(Kind::string, v, e)) return e;
    if (what < 7 && scalar(Kind::string, v, e)) return e;
    return {random_.one_of(kLiterals), 7, 0, 0, true};
  }
  if (random_.chance(10)) return choice(Kind::string, v, depth);
  if (random_.chance(6)) {
    const Expression l = longint(v, depth);
    return {"\"l\" + " + in(l, 5), 4, 0, 0, l.known};
  }
  if (random_.chance(30)) {
    const Expression a = make(random_.chance(40) ? Kind::real : Kind::integer, v, depth - 1);
    return {"string(" + a.text + ")", 7, 0, 0, a.known};
  }
  const Expression a = make(Kind::string, v, depth - 1);
  const Expression b = make(random_.chance(50) ? Kind::integer : Kind::string, v, depth - 1);
  const bool swap = random_.chance(30);
  return {swap ? in(b, 4) + " + " + in(a, 5) : in(a, 4) + " + " + in(b, 5), 4, 0, 0, a.known && b.known};
}

}  // namespace tessera::differential
