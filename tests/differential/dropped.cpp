// Writer: deletes in subs that are not inlined, of names that loops of the caller read, too.
#include <algorithm>

#include "writer.hpp"

namespace tessera::differential {

// Rows that follow one another, each made and deleted by a call, of one name or of two in turn; a `for` makes the
// steps, or a `while`. Beside it: who looks on, in loops that may come late.
std::string Writer::dropped(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), y = declared("x", inner, kept), s = declared("x", inner, kept),
                    w = declared("w", inner, kept), t = declared("i", inner, kept), i = declared("i", inner, kept),
                    j = declared("i", inner, kept);
  const int steps = random_.between(1, 12), cells = random_.chance(50) ? random_.between(1, 4) : 0;
  const bool bytes = random_.chance(25), turns = !bytes && random_.chance(35), two = random_.chance(30);
  const std::string n = std::to_string(cells), last = std::to_string(steps);
  const auto loop = [](const std::string& counter, const std::string& first, const std::string& end) {
    return "for " + counter + " = " + first + " .. " + end + " ";
  };
  const std::string row = cells == 0 ? "" : loop(i, "0", std::to_string(cells - 1));
  const auto at = [&](const std::string& of, const std::string& time) {
    return of + "[" + time + "]" + (cells == 0 ? "" : "[" + i + "]");
  };
  cost_ += (steps + 1.0) * (cells + 1) * 6 * weight_;

  const auto drops = [&](const std::string& name) {
    const std::string own = sub_ + name, cell = cells == 0 ? "" : "[i]";
    const std::string a = "a" + cell, b = "b" + cell;
    const std::string beside = cells > 0 && random_.chance(30) ? "a[(i + 1) % " + n + "]" : "k";
    const Visible in_sub{{}, {{"k", Kind::integer, 0, 20}}};
    const std::string call = bytes ? "same(" + a + ", " : "mix(" + a + ", " + beside + ", ";
    std::string one = call + b + ")" + advice(in_sub, " delete " + a + ";") + ";\n";
    switch (random_.below(4)) {
      case 0:
        one = "if 1 " + braces(call + "c) --> (" + a + ");\nsame(c, " + b + ");\n", "c");
        break;
      case 1:
        one = "if k >= 0 {\n" + call + b + ");\n} @ { delete " + a + "; }\n";
        break;
      default:
        break;
    }
    if (cells > 0) one = loop("i", "0", std::to_string(cells - 1)) + braces(one);
    if (random_.chance(25)) {  // not by who is called, but by who that calls
      one = "if d > 0 " + own + "(a, k, d - 1, b);\nif d == 0 " + braces(one);
    }
    beside_ += "sub " + own + "(name a, int k, int d, name b) " + braces(one);
    return own;
  };
  // With a place, a call is one.
  const auto step = [&](const std::string& by, const std::string& from, const std::string& to) {
    return by + "(" + from + ", " + t + ", " + std::to_string(random_.below(3)) + ", " + to + ")" +
           " @ { locator_cyclic: " + (random_.chance(60) ? t : expressions_.text(Kind::integer, inner, 1)) + "; };\n";
  };
  // `again`: what tells those apart that look at the same.
  const auto look = [&](const std::string& of, const std::string& time, const std::string& again = "0") {
    const std::string element = at(of, time);
    if (bytes || random_.chance(50)) return row + "show(\"seen\", " + element + ")" + advice(inner) + ";\n";
    const std::string place = s + "[" + std::to_string(++names_) + "][" + again + "]";
    return row + "mix(" + element + ", 3, " + at(place, time) + ");\n";
  };

  std::vector<std::string> parts = {
      row + (bytes ? "pack(" + std::string(random_.chance(30) ? "2000" : "9") + ", " : "mix(3, ") +
      expressions_.text(Kind::integer, inner, 1) + ", " + at(x, "0") + ")" + advice(inner) + ";\n"};
  const std::string first = drops("drops"), second = two ? drops("too") : first;
  const std::string before = turns ? t : t + " - 1", now = turns ? t + " + 1" : t;
  std::string body = two ? step(first, x + "[" + before + "]", y + "[" + now + "]") +
                               step(second, y + "[" + now + "]", x + "[" + now + "]")
                         : step(first, x + "[" + before + "]", x + "[" + now + "]");
  if (random_.chance(40)) body += loop(j, "0", "1") + look(random_.chance(50) && two ? y : x, two ? now : before, j);
  if (turns && cells > 0 && !two && random_.chance(40)) {
    // By loops of the turn: who looks at the new row deletes the old one, which the turn before may not have looked at.
    const std::string seen = s + "[" + std::to_string(++names_) + "][" + t + "][" + i + "]", old = at(x, before);
    body = row + "mix(" + old + ", 5, " + at(x, now) + ")" + advice(inner) + ";\n" + row + "mix(" + at(x, now) +
           ", 7, " + seen + ")" + (random_.chance(50) ? " --> (" + old + ");\n" : " @ { delete " + old + "; };\n");
  }
  if (turns) {
    parts.push_back("while " + x + "[" + t + "]" + (cells == 0 ? "" : "[0]") + " % " +
                    std::to_string(random_.between(3, 20)) + " != 1 && " + t + " < " + last + ", " + t +
                    " = 0 .. out " + w + " " + braces(body));
    if (random_.chance(70)) parts.push_back(row + "show(\"last\", " + at(x, w) + ");\n");
    if (random_.chance(70)) parts.push_back(loop(t, "0", "1") + look(x, "0", t));
  } else {
    parts.push_back(loop(t, "1", last) + braces(body));
    if (random_.chance(70)) parts.push_back(row + "show(\"last\", " + at(x, last) + ");\n");
    for (int k = random_.below(3); k > 0; --k) {
      const std::string& of = two && random_.chance(50) ? y : x;
      const std::string from = random_.chance(30) ? last : "1";
      if (random_.chance(30)) {
        const std::string looks = sub_ + "looks" + std::to_string(k);
        beside_ += "sub " + looks + "(name a, int t, int i) show(\"looked\", a[t]" +
                   std::string(cells == 0 ? "" : "[i]") + ");\n";
        parts.push_back(loop(t, from, last) + loop(i, "0", std::to_string(std::max(0, cells - 1))) + looks + "(" + of +
                        ", " + t + ", " + i + ") @ { stealable; };\n");
      } else if (random_.chance(50)) {
        parts.push_back(loop(j, "0", "1") + loop(t, from, last) + "if " + t + " % 2 == " + j + " " + look(of, t));
      } else {
        parts.push_back(loop(t, from, last) + look(of, t));
      }
    }
  }
  random_.shuffle(parts);
  std::string all;
  for (const std::string& part : parts) all += part;
  return "if 1 " + braces(all, x + ", " + y + ", " + s + ", " + w);
}

}  // namespace tessera::differential
