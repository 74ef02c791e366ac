// Writer: subs of one call, which are given data as ints and as indices.
#include "writer.hpp"

namespace tessera::differential {

// A row, and another that says which of its elements is read: by the sub's int, by the index of what it is given, by
// both, or through a sub around it. Which kernel waits for what is to be the same as if the sub were called.
std::string Writer::single(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), p = declared("p", inner, kept), y = declared("y", inner, kept),
                    i = declared("i", inner, kept), t = declared("i", inner, kept);
  const int cells = random_.between(1, 6), steps = random_.between(1, 4);
  const std::string n = std::to_string(cells);
  const std::string row = "for " + i + " = 0 .. " + std::to_string(cells - 1) + " ";
  const Visible in_sub{{}, {{"k", Kind::integer, 0, 5}}};
  cost_ += (steps + 3.0) * cells * 3 * weight_;

  const std::string index = random_.chance(50) ? p + "[" + i + "] % " + n : "(" + p + "[" + i + "] + 1) % " + n;
  const std::string known = random_.chance(50) ? i : "0";
  // Each has a way of its own to read a[k]; d is another int, which may be data too.
  const auto by = [&](int number) {
    static const char* const kCalls[] = {"mix(a[k], d, b);\n", "mix(a[k], k, b);\n", "either(a[k] + k, d, k, b);\n",
                                         "mix(k > 2 ? a[0] : a[k], d + k, b);\n"};
    const std::string own = sub_ + "single" + std::to_string(number);
    std::string call = kCalls[random_.below(4)];
    if (random_.chance(15)) call.insert(call.size() - 2, advice(in_sub));
    beside_ += "sub " + own + "(name a, int k, int d, name b) " + (random_.chance(50) ? braces(call) : call);
    if (!random_.chance(30)) return own;
    beside_ += "sub " + own + "_around(name a, int k, int d, name b) " + own + "(a, k, " +
               (random_.chance(50) ? "d" : "a[k]") + ", b);\n";
    return own + "_around";
  };
  const auto cell = [&](int number, const std::string& from, const std::string& to) {
    const std::string other = random_.chance(40) ? p + "[0]" : random_.chance(50) ? from + "[" + index + "]" : known;
    return by(number) + "(" + from + ", " + (random_.chance(70) ? index : known) + ", " + other + ", " + to + "[" + i +
           "])" + (random_.chance(20) ? advice(inner) : "") + ";\n";
  };
  // A part of a name, which is told by data.
  const auto part = [&](int number, const std::string& from, const std::string& to) {
    const std::string own = sub_ + "part" + std::to_string(number);
    beside_ += random_.chance(50) ? "sub " + own + "(name a, value k, name b) mix(a, k, b);\n"
                                  : "sub " + own + "(name a, int k, name b) mix(a + k, k, b);\n";
    return own + "(" + from + "[" + index + "], " + p + "[" + known + "], " + to + "[" + i + "]);\n";
  };
  const std::string before = x + "[" + t + " - 1]", now = x + "[" + t + "]";
  std::vector<std::string> parts = {
      row + "mix(" + i + ", " + expressions_.text(Kind::integer, inner, 1) + ", " + x + "[0][" + i + "])" +
          advice(inner) + ";\n",
      row + "mix(" + expressions_.text(Kind::integer, inner, 1) + ", " + i + ", " + p + "[" + i + "])" + advice(inner) +
          ";\n",
      "for " + t + " = 1 .. " + std::to_string(steps) + " " +
          braces(row + (random_.chance(60) ? cell(1, before, now) : part(1, before, now))),
      row + (random_.chance(50) ? cell(2, x + "[" + std::to_string(steps) + "]", y)
                                : part(2, x + "[" + std::to_string(steps) + "]", y)),
      row + "show(\"single\", " + y + "[" + i + "]);\n"};
  random_.shuffle(parts);
  std::string all;
  for (const std::string& s : parts) all += s;
  return "if 1 " + braces(all, x + ", " + p + ", " + y);
}

}  // namespace tessera::differential
