// Writer: uses that only the run decides about: in a `while`, by what it gave out, under conditions on data.
#include "writer.hpp"

namespace tessera::differential {

// Rows over rows until one meets a condition, for one cell or some; the steps, those who look on, and who reads the
// last rows are under conditions that read fragments, now and then. The `while` may not turn at all, or not even be
// reached.
std::string Writer::turns(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  kept.emplace_back(targets_, "arg0");
  const std::string x = declared("x", inner, kept), w = declared("w", inner, kept), f = declared("f", inner, kept),
                    t = declared("i", inner, kept), i = declared("i", inner, kept), j = declared("i", inner, kept),
                    c = declared("i", inner, kept);
  const int size = random_.between(1, 4), cells = random_.chance(25) ? random_.between(1, 3) : 0;
  const int start = random_.between(0, 3), most = start + random_.between(0, 6), far = random_.between(1, 2);
  const bool surely = random_.chance(40) && most > start;  // the first turn is made
  const std::string from = start == 3 && random_.chance(50) ? "arg0" : std::to_string(start);
  const std::string cell = cells > 0 ? "[" + c + "]" : "", n = std::to_string(size);
  const auto loop = [](const std::string& counter, int first, int last) {
    return "for " + counter + " = " + std::to_string(first) + " .. " + std::to_string(last) + " ";
  };
  const auto row = [&](const std::string& base, int by) {
    const std::string index = by == 0 ? base : base + (by < 0 ? " - " : " + ") + std::to_string(std::abs(by));
    return x + cell + "[" + index + "]";
  };
  const auto around = [&](const std::string& at) {
    return size > 1 && random_.chance(50)
               ? "[(" + at + " + " + std::to_string(random_.between(1, size - 1)) + ") % " + n + "]"
               : "[" + at + "]";
  };
  const std::string fill = loop(i, 0, size - 1);
  const auto flagged = [&](const std::string& yes, const std::string& no) {
    const std::string flag = random_.chance(30) ? f + "[0]" : f + "[" + i + "]";
    const std::string k = std::to_string(random_.between(0, 9));
    static constexpr const char* kPairs[][2] = {{"==", "!="}, {"<", ">="}, {">", "<="}};
    const auto& pair = kPairs[random_.below(3)];
    const std::string if_not = no.empty() ? "" : "if " + flag + " " + pair[1] + " " + k + " " + no;
    return "{\nif " + flag + " " + pair[0] + " " + k + " " + yes + if_not + "}\n";
  };
  cost_ += (most - start + 2.0) * size * 6 * std::max(1, cells) * weight_;
  const auto step = [&](int by) {
    const std::string to = row(t, far) + "[" + i + "]";
    return "mix(" + row(t, far - 1) + around(i) + " + " + row(t, by) + around(i) + ", " + row(t, far - 1) + "[" + i +
           "] % 7, " + to + ")" + advice(inner) + ";\n";
  };
  std::string body = fill + (random_.chance(40) ? flagged(step(0), step(random_.below(far))) : step(0));
  const auto look = [&](const std::string& to, const std::string& element) {
    return "show(\"" + to + "\", " + element + ")" + advice(inner) + ";\n";
  };
  if (random_.chance(50)) {
    const std::string one = look("turn", row(t, random_.below(far + 1)) + around(i));
    body += fill + (random_.chance(50) ? flagged(one, "") : one);
  }
  // Somebody's own row of a turn, beyond the others.
  if (random_.chance(40)) {
    body += "mix(" + t + ", 3, " + row(t, 0) + "[" + n + "])" + advice(inner) + ";\n" +
            look("own", row(t, 0) + "[" + n + "] + " + row(t, 0) + "[0]");
  }
  const std::string until =
      random_.chance(30) ? "" : row(t, random_.below(far)) + "[0] % " + std::to_string(random_.between(2, 6)) + " != 1";
  // Alone they are no less than a `for`, but for the real one.
  const std::string limits[] = {t + " < " + std::to_string(most), std::to_string(most) + " > " + t,
                                t + " <= " + std::to_string(most - 1), t + " < " + std::to_string(most - 1) + ".5"};
  const std::string limit = limits[until.empty() && random_.chance(40) ? 3 : random_.below(3)];
  std::string condition = until.empty() ? limit : random_.chance(50) ? until + " && " + limit : limit + " && " + until;
  if (surely) condition = t + " == " + from + " || " + condition;
  std::string turning =
      "while " + pragma() + condition + ", " + t + " = " + from + " .. out " + w + cell + " " + braces(body);
  const std::string out = w + cell;
  std::vector<std::string> parts;
  for (int k = 0; k < far; ++k) {
    parts.push_back(fill + "mix(" + i + " * 10 + " + std::to_string(k) + ", " +
                    expressions_.text(Kind::integer, inner, 1) + ", " +
                    row(k == 0 ? from : std::to_string(start + k), 0) + "[" + i + "])" + advice(inner) + ";\n");
  }
  std::vector<std::string> after;
  if (random_.chance(70)) after.push_back(fill + look("last", row(out, random_.below(far)) + around(i)));
  if (surely && random_.chance(50)) after.push_back(fill + look("before", row(out, -1) + around(i)));
  if (random_.chance(30)) after.push_back(look("one", row(out, 0) + "[0] + " + out));
  if (random_.chance(8))
    after.push_back(fill + "if " + out + " > " + std::to_string(start + 1) + " " +
                    look("late", row(out, 0) + "[" + i + "]"));
  if (random_.chance(40)) after.push_back(fill + look("first", row(from, 0) + "[" + i + "]"));
  if (random_.chance(30))
    after.push_back(loop(j, 0, 1) + fill + (random_.chance(50) ? "if " + i + " > " + j + " " : "") +
                    look("twice", row(out, 0) + "[" + i + "]"));
  for (std::string& a : after) {
    if (random_.chance(75)) {
      parts.push_back(std::move(a));
    } else {
      turning += a;  // with it, in loops and conditions
    }
  }
  if (random_.chance(12)) turning = "if " + f + "[0] " + (random_.chance(70) ? ">= 0 " : "< 0 ") + braces(turning);
  const bool all_there = turning.find("< 0 ") == std::string::npos;
  std::string all = loop(i, 0, std::max(size, 1)) + "mix(" + i + ", " + expressions_.text(Kind::integer, inner, 1) +
                    ", " + f + "[" + i + "])" + advice(inner) + ";\n";
  if (!all_there) parts.resize(static_cast<std::size_t>(far));
  parts.push_back(turning);
  random_.shuffle(parts);
  // Cells in one loop, or each statement in its own.
  const bool together = random_.chance(60);
  std::string statements;
  for (const std::string& p : parts) statements += cells > 0 && !together ? loop(c, 0, cells - 1) + braces(p) : p;
  if (cells > 0 && together) statements = loop(c, 0, cells - 1) + braces(statements);
  return "if 1 " + braces(all + statements, x + ", " + w + ", " + f);
}

}  // namespace tessera::differential
