// Writer: values that move, are deleted, and are read late.
#include "writer.hpp"

namespace tessera::differential {

// Particles in cells: two calls a step for each cell, one with two outputs, one that reads nine values, of neighbours
// all around; what is deleted by its only reader, or by one of two. Placed alike or not, so that values are asked for,
// sent unasked, or neither.
std::string Writer::cells(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string p = declared("p", inner, kept), stay = declared("s", inner, kept),
                    leave = declared("l", inner, kept);
  const std::string t = declared("i", inner, kept), i = declared("i", inner, kept), j = declared("i", inner, kept);
  const int n = random_.between(2, 4), steps = random_.between(3, 6);
  const std::string size = std::to_string(n), at = "[" + i + "][" + j + "]";
  const std::string loops = "for " + i + " = 0 .. " + size + " - 1 for " + j + " = 0 .. " + size + " - 1 ";
  const auto place = [&] {
    const std::vector<std::string> all = {i, i + " + " + j, i + " * " + size + " + " + j, i + " + " + t};
    return random_.chance(30) ? std::string() : " locator_cyclic: " + random_.one_of(all) + ";";
  };
  const auto near = [&](const std::string& counter, int by) {
    return by == 0 ? counter : "(" + counter + " + " + std::to_string(by < 0 ? n - 1 : 1) + ") % " + size;
  };
  std::string first = stay + at, second = "0";
  for (int k = 0; k < 9; ++k) {
    if (k == 4) continue;
    const std::string neighbour = leave + "[" + near(i, k / 3 - 1) + "][" + near(j, k % 3 - 1) + "]";
    (k < 4 ? first : second) += " + " + neighbour;
  }
  cost_ += 3.0 * n * n * steps * weight_;
  const bool shown = random_.chance(50);  // a second reader
  const std::string freed = random_.chance(80) ? " delete " + p + "[" + t + "]" + at + ";" : "";
  const std::string begin = loops + "mix(" + i + " * 10 + " + j + ", " + expressions_.text(Kind::integer, inner, 1) +
                            ", " + p + "[0]" + at + ");\n";
  const std::string split =
      "split(" + p + "[" + t + "]" + at + ", " + stay + at + ", " + leave + at + ") @ {" + place() + freed + " };\n";
  const std::string merge =
      "mix(" + first + ", " + second + ", " + p + "[" + t + " + 1]" + at + ") @ {" + place() + " };\n";
  const std::string look = shown ? "" : "show(\"stays\", " + stay + at + ");\n";
  const std::string step =
      "for " + t + " = 0 .. " + std::to_string(steps - 1) + " " +
      braces(loops + braces(random_.chance(50) ? split + merge + look : merge + look + split), stay + ", " + leave);
  const std::string end = shown ? loops + "show(\"cell\", " + p + "[" + std::to_string(steps) + "]" + at + ");\n" : "";
  return "if 1 " + braces(random_.chance(50) ? begin + step + end : end + step + begin, p);
}

// Readers in loops beside a call that deletes: however late they are made, they come first.
std::string Writer::held(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), y = declared("x", inner, kept), i = declared("i", inner, kept),
                    j = declared("i", inner, kept);
  const int n = random_.between(2, 8);
  const std::string last = std::to_string(n);
  cost_ += 3.0 * n * weight_;
  const auto use = [&](const std::string& from, const std::string& to) {
    const std::string call = "mix(" + from + ", 1, " + to + ")";
    return random_.chance(50) ? call + " --> (" + from + ")" + advice(inner) + ";\n"
                              : call + advice(inner, " delete " + from + ";") + ";\n";
  };
  const auto loop = [&](const std::string& from) {
    return "for " + j + " = 1 .. " + last + " show(\"held\", " + from + ")" + advice(inner) + ";\n";
  };
  std::vector<std::string> parts;
  switch (random_.below(3)) {
    case 0:  // beside it, perhaps in another loop
      parts = {"mix(" + expressions_.text(Kind::integer, inner, 1) + ", 3, " + x + ");\n", use(x, y), loop(x),
               "for " + i + " = 0 .. 2 " + loop(x)};
      break;
    case 1:  // in the step before
      parts = {"mix(" + expressions_.text(Kind::integer, inner, 1) + ", 3, " + x + "[0]);\n",
               "while " + i + " < " + last + (random_.chance(50) ? " && " + x + "[" + i + "] >= 0" : "") + ", " + i +
                   " = 0 .. out " + y + " " +
                   braces(use(x + "[" + i + "]", x + "[" + i + " + 1]") + loop(x + "[" + i + " + 1]"))};
      break;
    default: {  // in another iteration of the same loop
      const std::string size = std::to_string(2 * n + 1);
      // Two indices, which are the same element for some i.
      const std::string again =
          random_.chance(50) ? " + " + x + "[(" + i + " + " + std::to_string(random_.below(n)) + ") % " + size + "]"
                             : "";
      parts = {"for " + i + " = 0 .. " + size + " - 1 mix(" + i + ", 3, " + x + "[" + i + "]);\n",
               "for " + i + " = 0 .. " + size + " - 1 " +
                   braces((random_.chance(50) ? "for " + j + " = 1 .. 2 " : "") + "show(\"held\", " + x + "[(" + i +
                          " * 2 + 1) % " + size + "]" + again + ")" + advice(inner) + ";\n" +
                          use(x + "[" + i + "]", y + "[" + i + "]"))};
    }
  }
  random_.shuffle(parts);
  std::string all;
  for (const std::string& part : parts) all += part;
  return "if 1 " + braces(all, x + ", " + y);
}

}  // namespace tessera::differential
