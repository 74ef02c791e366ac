// Writer: text that assigns one fragment, or an array, exactly once.
#include <algorithm>
#include <numeric>

#include "writer.hpp"

namespace tessera::differential {
namespace {

Visible with(Visible v, Scalar s) {
  v.hide(s.name);
  v.scalars.push_back(std::move(s));
  return v;
}

}  // namespace

std::string Writer::kernel(Kind kind, const std::string& target, const Visible& v) {
  const std::string text = right_kernel(kind, target, v);
  if (fault_ == Fault::none || --fault_at_ != 0) return text;
  return fault_ == Fault::never_assigned ? "nothing();\n" : text + text;
}

std::string Writer::right_kernel(Kind kind, const std::string& target, const Visible& v) {
  cost_ += weight_;
  const auto e = [&](Kind k) { return expressions_.text(k, v); };
  // A literal real is cut for an int parameter.
  const auto whole = [&] { return random_.chance(4) ? std::string("2.75") : e(Kind::integer); };
  const auto number = [&] { return e(random_.chance(30) ? Kind::integer : Kind::real); };
  const auto call = [&](const std::string& text) { return label(v) + text + ", " + target + ")" + advice(v) + ";\n"; };
  if (kind != Kind::bytes && random_.chance(25)) {
    const Expression a = expressions_.make(kind, v, 2);
    const Expression b = expressions_.make(kind, v, 2);
    if (std::min(a.low, b.low) >= 0 && std::max(a.high, b.high) <= 999) {
      return random_.chance(50) ? call("same(" + a.text)
                                : call("either(" + a.text + ", " + b.text + ", " + e(Kind::integer));
    }
  }
  switch (kind) {
    case Kind::integer:
      switch (random_.below(8)) {
        case 0:
          return call("cut(" + number());
        case 1:
          if (random_.chance(30)) {  // a long of some fragment, in another that is read as an int
            const std::string far = "far" + std::to_string(++names_);
            return "if 1 " + braces("far(" + whole() + ", " + far + ");\nmix(int(" + far + " % 900), " + far +
                                        " / 1000000, " + target + ");\nshow(\"far\", " + far + ");\n",
                                    far);
          }
          return call("measure(" + e(Kind::string));
        case 2: {
          if (const Fragment* b = find(Kind::bytes, 0, v)) {
            return call("total(" + expressions_.element(*b, 0, v));
          }
          [[fallthrough]];
        }
        default:
          return call("mix(" + whole() + ", " + e(Kind::integer));
      }
    case Kind::real:
      return random_.chance(40) ? call("eighth(" + expressions_.index(1000, v))
                                : call("blend(" + number() + ", " + number());
    case Kind::string:
      return random_.chance(40) ? call("word(" + e(Kind::integer))
                                : call("join(" + e(Kind::string) + ", " + e(Kind::string));
    case Kind::bytes: {
      const Fragment* b = random_.chance(30) ? find(Kind::bytes, 0, v) : nullptr;
      if (b != nullptr) return call("same(" + expressions_.element(*b, 0, v));
      // Above 4 kB values travel another way.
      return call("pack(" + expressions_.index(random_.chance(30) ? 2000 : 20, v) + ", " + e(Kind::integer));
    }
  }
  return "";
}

std::string Writer::produce(Kind kind, const std::string& target, const Visible& v, int depth) {
  const Protected no_new_name_hides(targets_, target);
  if (depth <= 0 || weight_ > kMostRuns) return kernel(kind, target, v);
  switch (random_.below(20)) {
    case 0:
      return both_ways(kind, target, v, depth - 1);
    case 1:
      return bound(kind, target, v, depth - 1);
    case 2:
      return through_local(kind, target, v, depth - 1);
    case 3:
      if (kind == Kind::integer) return counted(target, v, depth - 1);
      break;
    case 4:
    case 5:
    case 6:
    case 16:
    case 17:
    case 18: {
      Fragment wanted{target, kind, {}, 0, 999};
      std::vector<const Sub*> fitting;
      for (const Sub& s : subs_) {
        const Parameter& out = s.parameters.back();
        if (out.kind == kind && out.sizes.empty() && s.cost * weight_ < kMostRuns) fitting.push_back(&s);
      }
      if (!fitting.empty()) return by_sub(*random_.one_of(fitting), wanted, target, v);
      break;
    }
    case 7: {  // a loop that runs once
      const std::string at = std::to_string(random_.between(-3, 3));
      Visible inner = v;
      const std::string i = name("i", inner);
      const double n = std::stoi(at);
      return "for " + pragma() + i + " = " + at + " .. " + at + " " +
             as_body(produce(kind, target, with(inner, {i, Kind::integer, n, n}), depth - 1));
    }
    default:
      break;
  }
  return kernel(kind, target, v);
}

// The condition and its opposite: one of the two assigns.
std::string Writer::both_ways(Kind kind, const std::string& target, const Visible& v, int depth) {
  cost_ += 2 * weight_;
  const Expression c = expressions_.make(Kind::integer, v, 2);
  const std::string yes = produce(kind, target, v, depth);
  const std::string no = produce(kind, target, v, depth);
  if (random_.chance(50)) {  // in braces: an `else` belongs to the nearest `if`
    return "if " + c.text + " " + braces(yes) + "else " + as_body(no);
  }
  return "if " + c.text + " " + as_body(yes) + "if " +
         (random_.chance(50) ? "!(" + c.text + ") " : "(" + c.text + ") == 0 ") + as_body(no);
}

std::string Writer::bound(Kind kind, const std::string& target, const Visible& v, int depth) {
  Visible inner = v;
  std::string text = "let ";
  std::vector<Protected> bound;  // one `let` binds a name once
  const int n = random_.between(1, 2);
  for (int k = 0; k < n; ++k) {
    const Kind bound_kind = random_.one_of(Kinds{Kind::integer, Kind::real, Kind::string});
    const Expression e = expressions_.make(bound_kind, inner, 2);
    const std::string let = name("l", inner);
    bound.emplace_back(targets_, let);
    inner = with(inner, {let, bound_kind, e.low, e.high});
    text += (k == 0 ? "" : ", ") + let + " = " + e.text;
  }
  if (const Fragment* array = find(kind, 2, inner)) {
    // A part of an array under a name of its own.
    Fragment part = *array;
    const std::string prefix = expressions_.element(*array, 1, inner);
    part.text = name("row", inner);
    part.sizes.erase(part.sizes.begin(), part.sizes.end() - 1);
    inner.fragments.push_back(part);
    text += ", " + part.text + " = " + prefix;
  }
  return text + " " + braces(produce(kind, target, inner, depth) + show(inner));
}

std::string Writer::through_local(Kind kind, const std::string& target, const Visible& v, int depth) {
  // A block belongs to a statement: an `if` that is always taken.
  Visible inner = v;
  const std::string local = name("t", inner);
  cost_ += weight_;
  const std::string make = produce(kind, local, inner, depth);
  inner.fragments.push_back({local, kind, {}, 0, 999});
  std::vector<std::string> parts = {make, kernel(kind, target, inner), show(inner)};
  random_.shuffle(parts);
  return "if " + std::string(random_.chance(50) ? "1" : "2 > 1") + " " + braces(parts[0] + parts[1] + parts[2], local);
}

// while: the number of steps until a chain of values meets a condition. The chain has a first value, or the first
// turn does not look at one.
std::string Writer::counted(const std::string& target, const Visible& v, int depth) {
  const int start = random_.below(3);
  const int most = start + random_.between(0, 6);
  Visible inner = v;
  const std::string c = name("c", inner);
  const std::string first = kernel(Kind::integer, c + "[" + std::to_string(start) + "]", inner);
  const Protected no_new_name_hides(targets_, c);
  const std::string i = name("i", inner);
  inner = with(inner, {i, Kind::integer, double(start), double(most)});
  const bool skips = random_.chance(30);
  if (!skips) inner.fragments.push_back({c + "[" + i + "]", Kind::integer, {}, 0, 999});
  const std::string modulus = std::to_string(random_.between(2, 9));
  weight_ *= most - start + 1;
  cost_ += weight_;
  const std::string step = produce(Kind::integer, c + "[" + i + " + 1]", inner, std::min(depth, 1));
  const std::string seen = random_.chance(50) ? show(inner) : "";
  weight_ /= most - start + 1;
  const std::string begin = std::to_string(start);
  std::string goes_on = c + "[" + i + "] % " + modulus + " != 1";
  if (skips) {
    goes_on = random_.chance(50) ? "(" + i + " == " + begin + " || " + goes_on + ")"
                                 : "(" + i + " > " + begin + " ? " + goes_on + " : 1)";
  }
  const std::string loop = "while " + pragma() + goes_on + " && " + i + " < " + std::to_string(most) + ", " + i +
                           " = " + begin + " .. out " + target + " " + braces(step + seen);
  if (skips) return "if 1 " + braces(loop, c);
  return "if 1 " + braces(random_.chance(50) ? first + loop : loop + first, c);
}

std::string Writer::by_sub(const Sub& sub, const Fragment& wanted, const std::string& target, const Visible& all) {
  cost_ += weight_ * sub.cost;
  // Half of the calls wait for nothing.
  Visible v = all;
  const bool waits = random_.chance(50);
  if (!waits) v.fragments.clear();
  std::string list;
  for (const Parameter& p : sub.parameters) {
    std::string text;
    if (&p == &sub.parameters.back()) {
      text = target;
    } else if (p.way == Parameter::Way::value) {
      text = sub.recursion > 0 && &p == &sub.parameters.front() ? expressions_.index(sub.recursion + 1, v)
                                                                : expressions_.text(p.kind, v);
    } else {
      // Subs take names only of kinds and sizes that main has from its beginning.
      for (const Fragment& f : all.fragments) {
        const bool fits = f.kind == p.kind && f.sizes.size() >= p.sizes.size() &&
                          std::equal(p.sizes.rbegin(), p.sizes.rend(), f.sizes.rbegin());
        if (fits && (text.empty() || random_.chance(40))) {
          text = expressions_.element(f, p.sizes.size(), v);
        }
      }
      if (text.empty()) {
        return wanted.sizes.empty() ? kernel(wanted.kind, target, all) : produce_array(wanted, target, all, 1);
      }
    }
    list += (list.empty() ? "" : ", ") + text;
  }
  const std::string place =
      sub.place.empty() ? "" : "nfparam " + sub.place + " => " + expressions_.text(Kind::integer, v, 1) + ";";
  return label(v) + sub.name + "(" + list + ")" + (waits || !place.empty() ? advice(v, place) : "") + ";\n";
}

// All elements, by loops over the indices in one order or another.
std::string Writer::produce_array(const Fragment& array, const std::string& target, const Visible& v, int depth) {
  const Protected no_new_name_hides(targets_, target);
  if (array.sizes.size() == 1 && array.kind != Kind::bytes && random_.chance(30)) {
    return chain(array, target, v);
  }
  for (const Sub& s : subs_) {
    const Parameter& out = s.parameters.back();
    if (out.kind == array.kind && out.sizes == array.sizes && s.cost * weight_ < kMostRuns && random_.chance(60)) {
      return by_sub(s, array, target, v);
    }
  }
  std::vector<Protected> counters;
  Visible inner = v;
  std::string text;
  std::string indices;
  double runs = 1;
  for (const int size : array.sizes) {
    const std::string i = name("i", inner);
    counters.emplace_back(targets_, i);
    const int shift = random_.chance(20) ? random_.between(-2, 2) : 0;
    inner = with(inner, {i, Kind::integer, double(shift), double(shift + size - 1)});
    text += "for " + pragma() + i + " = " + std::to_string(shift) + " .. " +
            (random_.chance(30) ? std::to_string(shift + size) + " - 1" : std::to_string(shift + size - 1)) + " ";
    const std::string at = shift == 0 ? i : "(" + i + " - " + std::to_string(shift) + ")";
    const int stride = random_.between(1, 7);
    switch (random_.below(4)) {
      case 0:
        indices += "[" + std::to_string(size - 1) + " - " + at + "]";
        break;
      case 1:
        if (std::gcd(stride, size) == 1) {  // a permutation
          indices += "[(" + at + " * " + std::to_string(stride) + " + 1) % " + std::to_string(size) + "]";
          break;
        }
        [[fallthrough]];
      default:
        indices += "[" + at + "]";
    }
    runs *= size;
  }
  cost_ += weight_;
  weight_ *= runs;
  std::string inside = produce(array.kind, target + indices, inner, depth);
  if (random_.chance(20)) inside += show(inner);
  weight_ /= runs;
  return text + as_body(inside);
}

// Each element from the one before it.
std::string Writer::chain(const Fragment& array, const std::string& target, const Visible& v) {
  const int size = array.sizes[0];
  Visible inner = v;
  const std::string i = name("i", inner);
  inner = with(inner, {i, Kind::integer, 1, double(size - 1)});
  Fragment before{target + "[" + i + " - 1]", array.kind, {}, 0, 999};
  const std::string first = kernel(array.kind, target + "[0]", v);
  inner.fragments.push_back(before);
  weight_ *= size;
  cost_ += weight_;
  const std::string step = kernel(array.kind, target + "[" + i + "]", inner);
  weight_ /= size;
  const std::string loop = "for " + i + " = 1 .. " + std::to_string(size - 1) + " " + step;
  return random_.chance(50) ? first + loop : loop + first;
}

}  // namespace tessera::differential
