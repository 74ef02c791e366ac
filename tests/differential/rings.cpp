// Writer: indices that are remainders and quotients of counters.
#include "writer.hpp"

namespace tessera::differential {

// Steps over a row or a grid, read at neighbours around the end, by blocks, in rows and columns of one number, more
// than once each, not at all, or where another counter says; `by` is written out or bound.
std::string Writer::rings(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), t = declared("i", inner, kept), i = declared("i", inner, kept),
                    j = declared("i", inner, kept), q = declared("l", inner, kept);
  const int rows = random_.between(1, 4), size = random_.between(1, 5), steps = random_.between(1, 4);
  const int low = random_.chance(40) ? 1 - size : 0;  // of a row's indices
  const std::string n = random_.chance(30) ? q : std::to_string(size), m = std::to_string(rows);
  const auto loop = [](const std::string& counter, int first, int last) {
    return "for " + counter + " = " + std::to_string(first) + " .. " + std::to_string(last) + " ";
  };
  const auto plus = [](const std::string& counter, int by) {
    return by == 0 ? counter : "(" + counter + (by < 0 ? " - " : " + ") + std::to_string(std::abs(by)) + ")";
  };
  // An index from `low` to size - 1, for a counter from `first` on.
  const auto around = [&](const std::string& counter, int first) -> std::string {
    const int by = random_.between(std::max(-first, -2), 3);
    switch (random_.below(5)) {
      case 2:
        if (low < 0) return plus(counter, -first - random_.between(1, size)) + " % " + n;
        [[fallthrough]];
      case 0:
        return n + " - 1 - " + plus(counter, by) + " % " + n;
      case 1:  // of what is negative
        return plus(counter, -first - 40 * size) + " % " + n + " + " + n + " - 1";
      default:
        return plus(counter, by) + " % " + n;
    }
  };
  const auto reader = [&](const std::string& step, const std::string& to) -> std::string {
    const int first = random_.between(0, 3);
    std::string loops = loop(i, first, first + random_.between(1, 3) * size - random_.between(0, 1));
    std::string at = "[" + step + "]", more = "[" + around(i, first) + "]";
    switch (random_.below(7)) {
      case 0: {  // rows and columns of one number
        loops = loop(i, 0, rows * size - 1);
        at += "[" + i + " / " + n + "]";
        more = "[" + i + " % " + n + "]";
        break;
      }
      case 1: {  // blocks
        const int block = random_.between(1, 3);
        loops = loop(j, 0, rows * block - random_.between(0, 1)) + loops;
        at += "[" + j + " / " + std::to_string(block) + (rows * block > 1 ? " % " + m : " * 0") + "]";
        break;
      }
      case 2:  // the column waits for the row
        loops = loop(j, 0, rows - 1) + loops;
        at += "[" + j + "]";
        more = "[(" + i + " + " + j + " * 2) % " + n + "]";
        break;
      case 4:  // in both
        at += "[" + i + " % " + m + "]";
        break;
      case 3:  // a product of what is known
        loops = loop(j, 0, rows - 1);
        at += "[" + j + "]";
        more = "[" + j + " * " + j + " % " + n + "]";
        break;
      default:
        loops += loop(j, 0, rows - 1);
        at += random_.chance(50) ? "[" + j + "]" : "[(" + j + " + " + std::to_string(rows - 1) + ") % " + m + "]";
    }
    cost_ += 9.0 * rows * size * weight_;
    const std::string condition = random_.chance(20) ? "if " + i + " % 2 == 0 " : "";
    const bool has_i = loops.find(i) != std::string::npos;
    return loops + (has_i ? condition : "") + "show(\"" + to + "\", " + x + at + more + ")" + advice(inner) + ";\n";
  };
  const std::string fill = loop(i, 0, rows - 1) + loop(j, low, size - 1);
  const std::string at = "[" + i + "][" + j + "]";
  cost_ += (steps + 1.0) * rows * size * weight_;
  const std::string before = x + "[" + t + " - 1]";
  std::vector<std::string> parts = {
      fill + "mix(" + i + " * 10 + " + j + ", " + expressions_.text(Kind::integer, inner, 1) + ", " + x + "[0]" + at +
          ")" + advice(inner) + ";\n",
      loop(t, 1, steps) + fill + "mix(" + before + "[(" + i + " + 1) % " + m + "][" + j + "] + " + before + at + ", " +
          before + "[" + i + "][(" + j + " + " + std::to_string(size - 1) + ") % " + n + "], " + x + "[" + t + "]" +
          at + ")" + (steps % 2 == 0 ? " @ { locator_cyclic: " + i + " + " + j + "; }" : advice(inner)) + ";\n",
      reader(std::to_string(steps), "last")};
  if (random_.chance(60)) parts.push_back(loop(t, 0, steps) + reader(t, "each"));
  if (random_.chance(30)) parts.push_back(loop(t, 0, 2 * steps + 1) + reader(t + " / 2", "half"));
  random_.shuffle(parts);
  std::string all;
  for (const std::string& part : parts) all += part;
  return "let " + q + " = " + std::to_string(size) + " " + braces(all, x);
}

// One row of elements, made by loops around loops and read by others, which are divided in another way: around its end,
// from behind, below zero, or several times.
std::string Writer::rows(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), y = declared("x", inner, kept), i = declared("i", inner, kept),
                    j = declared("i", inner, kept), k = declared("i", inner, kept), q = declared("l", inner, kept);
  const int size = random_.one_of(std::vector<int>{12, 24, 36});
  const std::string n = random_.chance(30) ? q : std::to_string(size), last = std::to_string(size - 1);
  const auto number = [](int a) { return std::to_string(a); };
  const auto loop = [](const std::string& counter, int from, int to) {
    return "for " + counter + " = " + std::to_string(from) + " .. " + std::to_string(to) + " ";
  };
  // Loops over all elements; and which one they are at.
  const auto all = [&](std::string& at) {
    const int block = random_.one_of(std::vector<int>{1, 2, 3, 4, 6}), from = random_.between(0, 2);
    const std::string outer = from == 0 ? i : "(" + i + " - " + number(from) + ")";
    at = "(" + outer + " * " + number(block) + " + " + j + ")";
    const std::string around = loop(i, from, from + size / block - 1);
    if (block % 2 != 0 || random_.chance(70)) return around + loop(j, 0, block - 1);
    return around + loop(k, 0, block / 2 - 1) + "for " + j + " = " + k + " * 2 .. " + k + " * 2 + 1 ";
  };
  const auto index = [&](const std::string& at) -> std::string {
    const std::string by = number(random_.between(1, 3));
    switch (random_.below(6)) {
      case 0:
        return last + " - " + at;
      case 1:
        return "(" + at + " + " + number(size) + " - " + by + ") % " + n;
      case 2:  // of what is negative
        return last + " + (" + at + " - " + number(random_.between(1, 3) * size) + ") % " + n;
      case 3:  // several times around
        return "(" + at + " * " + by + ") % " + n;
      case 4:
        return last + " - (" + at + " + " + by + ") % " + n;
      default:
        return "(" + at + " + " + by + ") % " + n;
    }
  };
  cost_ += 60.0 * size * weight_;
  std::string at;
  std::vector<std::string> parts;
  const auto part = [&](const std::string& call) { parts.push_back(call + advice(inner) + ";\n"); };
  std::string loops = all(at);
  part(loops + "mix(" + at + ", " + expressions_.text(Kind::integer, inner, 1) + ", " + x + "[" + at + "])");
  loops = all(at);
  part(loops + "mix(" + x + "[" + at + "], " + x + "[" + index(at) + "], " + y + "[" + at + "])");
  for (int r = random_.between(1, 2); r > 0; --r) {
    loops = all(at);
    const std::string other = random_.chance(50) ? x : y;
    part(loops + "show(\"row\", " + y + "[" + index(at) + "] + " + other + "[" + at + "])");
  }
  random_.shuffle(parts);
  std::string text;
  for (const std::string& p : parts) text += p;
  return "let " + q + " = " + number(size) + " " + braces(text, x + ", " + y);
}

// Loops whose bounds are counters of loops around them, as factorisations have them; indices that tell of all counters,
// or only of some.
std::string Writer::triangles(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), y = declared("x", inner, kept), i = declared("i", inner, kept),
                    j = declared("i", inner, kept), k = declared("i", inner, kept);
  const auto bound = [&](const std::string& of) -> std::string {
    switch (random_.below(7)) {
      case 0:
        return "-" + of;
      case 1:
        return "3 - " + of;
      case 2:
        return of + " + " + std::to_string(random_.between(1, 2));
      case 3:
        return of + " - " + std::to_string(random_.between(1, 2));
      case 4:
        return std::to_string(random_.between(0, 3));
      default:
        return of;
    }
  };
  const auto loop = [](const std::string& counter, const std::string& first, const std::string& last) {
    return "for " + counter + " = " + first + " .. " + last + " ";
  };
  const std::string all = loop(i, "-9", "12");
  std::string text = all + "mix(" + i + " * 3 + 30, 1, " + x + "[" + i + "])" + advice(inner) + ";\n" +
                     loop(i, "-5", "5") + loop(j, "-5", "8") + "mix(" + i + " + 9, " + j + " + 9, " + y + "[" + i +
                     "][" + j + "])" + advice(inner) + ";\n";
  cost_ += 400 * weight_;
  const int readers = random_.between(1, 3);
  for (int r = 0; r < readers; ++r) {
    std::string loops = loop(i, std::to_string(random_.between(0, 1)), std::to_string(random_.between(1, 3)));
    loops += loop(j, bound(i), bound(i));
    if (random_.chance(40)) loops += loop(k, bound(random_.chance(50) ? i : j), bound(j));
    const bool three = loops.find(k + " = ") != std::string::npos;
    const std::string counters[] = {i, j, three ? k : j};
    const auto one = [&] { return counters[random_.below(3)]; };
    const std::string a = one(), b = one();
    const bool grid = random_.chance(60) && !three;
    const std::string element =
        grid ? y + "[" + (random_.chance(50) ? "-" : "") + i + "][" + j + "]" : x + "[" + a + "]";
    const std::string more =
        random_.chance(30) ? " + " + x + "[" + b + " + " + std::to_string(random_.between(0, 1)) + "]" : "";
    const std::string condition = random_.chance(20) ? "if " + one() + " != 1 " : "";
    cost_ += 100 * weight_;
    text += loops + condition + "show(\"triangle\", " + element + more + ")" + advice(inner) + ";\n";
  }
  return "if 1 " + braces(text, x + ", " + y);
}

}  // namespace tessera::differential
