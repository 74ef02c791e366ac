#include "steady.hpp"

#include "expressions.hpp"
#include "tests/reference/kernels.hpp"

namespace tessera::differential {
namespace {

std::string loop(const std::string& counter, const std::string& first, const std::string& last) {
  return "for " + counter + " = " + first + " .. " + last + " ";
}
std::string braces(const std::string& statements) { return "{\n" + statements + "}\n"; }

// Names of main, which subs take by the same: x[time][cell], or the other way round, is what steps; y, of one cell,
// goes along with it; z frees what it has read; l[i] is i, and nobody knows before the run. Times begin with `far`.
// How many cells there are is a number, or the argument n, which subs take by the same name.
const std::string kFew[] = {"x, y, z, l", "name x, name y, name z, name l, int t, int last, int k"};
const std::string kMany[] = {"x, y, z, l, n", "name x, name y, name z, name l, int n, int t, int last, int k"};

class Steady {
 public:
  Steady(std::uint64_t seed, bool known, bool wide) : r_(seed * 0x9E3779B97F4A7C15u + 99), known_(known), wide_(wide) {}

  std::string text() {
    std::vector<std::string> parts = {
        cells() + "same(i, l[i]);\n",
        loop("t", "0", std::to_string(far_ - 1)) + braces(cells() + "mix(t, i, " + at("t", "i") + ");\n"),
        loop("t", "0", std::to_string(far_ - 1)) + braces("mix(t, 1, y[t]);\nmix(t, 2, z[t]);\n"), steps()};
    at_the_end(parts);
    r_.shuffle(parts);
    std::string main = std::string("df x, y, z, l, half, more, out_w, go;\n");
    for (const std::string& part : parts) main += part;
    return reference::kernels_text() + subs_ + (wide_ ? "sub main(int steps, int n) " : "sub main(int steps) ") +
           braces("if 1 " + braces("let last = steps + " + std::to_string(far_ - 1) + " " + braces(main)));
  }

 private:
  std::string size() const { return wide_ ? "n" : std::to_string(n_); }
  std::string last_cell() const { return wide_ ? "n - 1" : std::to_string(n_ - 1); }
  std::string cells() const { return loop("i", "0", last_cell()); }
  std::string at(const std::string& time, const std::string& cell) const {
    const std::string row = "[" + (down_ ? "last - (" + time + ")" : time) + "]";
    return "x" + (time_last_ ? "[" + cell + "]" + row : row + "[" + cell + "]");
  }
  std::string column(const std::string& i) {
    const std::string n = size();
    switch (r_.below(meshed_ ? 4 : 3)) {
      case 0:
        return i;
      case 1:
        return "(" + i + " + " + std::to_string(r_.between(1, n_)) + ") % " + n;
      case 2:
        return n + " - 1 - (" + i + ") % " + n;
      default:
        return "l[" + i + "] % " + n;
    }
  }
  std::string advice(const std::string& cell = "t") {
    if (!placed_ || !r_.chance(30)) return "";
    static const std::vector<std::string> kWhere = {"", " / 2", " + t", " * 0 + 1"};
    return " @ { locator_cyclic: " + cell + r_.one_of(kWhere) + "; }";
  }

  // ---- what is done in each step

  std::string step(const std::string& i) {
    const auto before = [&] { return at(plus("t", -r_.between(1, far_)), column(i)); };
    const auto one = [&] { return "mix(" + before() + ", " + before() + ", " + at("t", i) + ")" + advice(i) + ";\n"; };
    if (!r_.chance(25)) return one();
    return "if l[" + i + "] % 2 == 0 " + one() + "if l[" + i + "] % 2 != 0 " + one();
  }
  std::string row() {
    switch (r_.below(7)) {
      case 0: {  // a sub that nobody inlines, for each cell
        subs_ += "sub cell(" + parameters_ + ", int i) " + braces(step("i"));
        return cells() + "cell(" + names_ + ", t, last, l[i], i);\n";
      }
      case 1: {  // a tree of subs
        if (!known_) break;
        const std::string half = "(from + to) / 2", names = "tree(" + names_ + ", t, last, k, ";
        subs_ += "sub tree(" + parameters_ + ", int from, int to) " +
                 braces("if from == to " + braces(step("from")) + "if from < to " +
                        braces(names + "from, " + half + ");\n" + names + half + " + 1, to);\n"));
        return "tree(" + names_ + ", t, last, 0, 0, " + last_cell() + ");\n";
      }
      case 2:
        return in_parts();
      default:
        break;
    }
    return cells() + braces(step("i"));
  }
  // In as many parts as the step before says, by a field of its own.
  std::string in_parts() {
    const std::string count = "(" + at("t - 1", "0") + " % 3 + 3) % 3 + 1", n = size();
    const bool by_name = r_.chance(50);
    const std::string aside = r_.chance(50) ? "f[j][i]" : at("t - 1", "i");
    const std::string begin = cells() + "mix(" + at("t - 1", "i") + ", t, f[0][i])" + advice("i") + ";\n";
    const std::string parts = loop("j", "0", "parts - 1") + cells() + "mix(" + aside + ", f[j][(i + 1) % " + n +
                              "], f[j + 1][i])" + advice("i") + ";\n";
    const std::string end = cells() + "mix(f[parts][i], 1, " + at("t", "i") + ")" + advice("i") + ";\n";
    if (!by_name) return "if 1 " + braces("df f;\n" + begin + "let parts = " + count + " " + braces(parts + end));
    return "if 1 " + braces("df f, parts;\nsame(" + count + ", parts);\n" + begin + parts + end);
  }
  // Fields of the step's own, and who looks at them, beside the way from step to step.
  std::string beside() {
    const std::string n = size(), now = at(plus("t", -r_.between(0, 1)), "i");
    std::string make = cells() + "mix(" + now + ", t, f[i])" + advice("i") + ";\n";
    std::string look = cells() + "mix(f[i], f[(i + 1) % " + n + "], g[i])" + advice("i") + ";\n";
    if (r_.chance(30)) look = cells() + "if f[i] % 2 == 0 mix(f[i], 3, g[i]);\n";
    if (r_.chance(30)) make += cells() + "same(g[i], h[i]);\n", look = cells() + "mix(f[i], 1, g[i]);\n";
    return "if 1 " + braces("df f, g, h;\n" + (r_.chance(50) ? make + look : look + make));
  }
  std::string parts_of_step() {
    std::vector<std::string> parts = {row()};
    const int more = r_.below(4);
    for (int k = 0; k < more; ++k) {
      switch (r_.below(6)) {
        case 0:
          parts.push_back(beside());
          break;
        case 1:
          if (y_goes_) break;
          y_goes_ = true;
          parts.push_back("mix(y[" + plus("t", -r_.between(1, far_)) + "], " +
                          at(plus("t", -r_.between(0, far_)), "0") + ", y[t])" + advice() + ";\n");
          break;
        case 2: {
          if (z_goes_) break;
          z_goes_ = true;
          const std::string read = "z[" + plus("t", -far_) + "]";
          if (r_.chance(40)) {
            parts.push_back("mix(" + read + ", t, z[t]) @ { delete " + read + "; };\n");
          } else {  // by a sub that is a call
            subs_ += "sub drops(name a, int t, name b) mix(a, t, b) @ { delete a; };\n";
            parts.push_back("drops(" + read + ", t, z[t]) @ { locator_cyclic: 0; };\n");
          }
          break;
        }
        case 3:  // as a sub that is not inlined, with loops of its own
        case 4: {
          const std::string name = "aside" + std::to_string(++asides_);
          subs_ += "sub " + name + "(" + parameters_ + ") " + braces(beside());
          parts.push_back(name + "(" + names_ + ", t, last, " + (r_.chance(50) ? "l[0]" : at("t - 1", "0")) + ");\n");
          break;
        }
        default: {  // reads and makes nothing that others need
          const std::string seen = at(plus("t", -r_.between(0, far_)), column("i"));
          parts.push_back("if 1 " +
                          braces("df seen;\n" + cells() + "mix(" + seen + ", 1, seen[i])" + advice("i") + ";\n"));
        }
      }
    }
    r_.shuffle(parts);
    std::string all;
    for (const std::string& part : parts) all += part;
    return all;
  }

  // ---- how they follow one another

  std::string steps() {
    const std::string first = std::to_string(far_), given = "(" + names_ + ", t, last, ";
    const auto as_sub = [&](const std::string& name) {
      subs_ += "sub " + name + "(" + parameters_ + ") " + braces(parts_of_step());
      return name + given + (r_.chance(70) ? "l[0]" : "t") + ");\n";
    };
    const auto body = [&] { return braces(r_.chance(35) ? as_sub("turn") : parts_of_step()); };
    switch (r_.below(5)) {
      case 0:
        return loop("t", first, "last") + body();
      case 1: {
        const std::string again =
            "next(" + names_ + ", t + 1, last, " + (!known_ || r_.chance(50) ? "k" : "l[0]") + ");\n";
        const std::string condition = known_ && r_.chance(50) ? "if t < last && l[0] >= 0 " : "if t < last ";
        const std::string now = parts_of_step();
        subs_ += "sub next(" + parameters_ + ") " +
                 braces(!known_ || r_.chance(80) ? now + condition + again : condition + again + now);
        return "next(" + names_ + ", " + first + ", last, 0);\n";
      }
      default: {
        static const std::vector<std::string> kKnown = {"l[0] >= 0", "1", "l[0] + l[1] < 10"};
        const std::string on = r_.chance(50) ? r_.one_of(kKnown) : at("t - 1", "0") + " >= 0";
        const std::string limit = "t <= last";
        turns_ = true;
        const std::string each = body();
        const auto turn = [&](const std::string& from, const std::string& limit, const std::string& out) {
          return "while " + (r_.chance(50) ? on + " && " + limit : limit + " && " + on) + ", t = " + from + " .. out " +
                 out + " " + each;
        };
        if (!r_.chance(40)) return turn(first, limit, "out_w");
        // One behind the other.
        const std::string half = turn(first, "t <= last / 2", "half");
        if (r_.chance(30)) return half + loop("t", "half", "last") + each + "same(last + 1, out_w);\n";
        if (r_.chance(50)) return half + turn("half", limit, "out_w");
        return half + turn("half", "t <= last / 4 * 3", "more") + turn("more", limit, "out_w");
      }
    }
  }

  void at_the_end(std::vector<std::string>& parts) {
    const std::string last = turns_ && !down_ && r_.chance(60) ? "out_w - 1" : "last";
    if (r_.chance(60)) parts.push_back(cells() + "show(\"last\", " + at(last, column("i")) + ");\n");
    if (r_.chance(40) && !time_last_ && !down_) {  // a sub that calls itself is passed the row
      const std::string half = "(from + to) / 2";
      subs_ += "sub rows(name x, int from, int to) " +
               braces("if from == to show(\"row\", x[from]);\nif from < to " +
                      braces("rows(x, from, " + half + ");\nrows(x, " + half + " + 1, to);\n"));
      parts.push_back("rows(x[" + last + "], 0, " + last_cell() + ");\n");
    }
    // Who looks on, at each step or some: not until a `while` has ended, for then all has to be there.
    if (r_.chance(40)) {
      const std::string far = std::to_string(far_);
      std::string each = loop("t", far, "last") + "mix(" + at("t", "0");
      if (r_.chance(40)) each = loop("t", far, "last / every") + "mix(" + at("t * every", "0");
      if (r_.chance(20)) each = loop("t", far, "last") + "mix(" + at("(t < every ? t : t - every)", "0");
      parts.push_back("let every = 2 + steps % 2 " + braces("df looked;\n" + each + ", 1, looked[t]);\n"));
    }
    if (y_goes_ && r_.chance(70)) parts.push_back("show(\"y\", y[" + last + "]);\n");
    if (z_goes_ && r_.chance(70)) parts.push_back("show(\"z\", z[last]);\n");
    if (z_goes_ && r_.chance(60)) {  // in a loop, for which deletes wait
      const bool all = known_ && r_.chance(50), first = r_.chance(50);
      parts.push_back("if 1 " +
                      braces("df seen;\n" + loop("t", all || first ? "0" : "last", all || !first ? "last" : "3") +
                             "mix(z[t], 1, seen[t]);\n"));
    }
  }

  Random r_;
  const bool known_;  // also what is known to grow
  const bool wide_;   // of any number of cells
  const std::string &names_ = (wide_ ? kMany : kFew)[0], &parameters_ = (wide_ ? kMany : kFew)[1];
  const int n_ = r_.between(2, 6), far_ = r_.between(1, 3);
  const bool down_ = r_.chance(15), time_last_ = r_.chance(20), meshed_ = r_.chance(40), placed_ = r_.chance(40);
  bool y_goes_ = false, z_goes_ = false, turns_ = false;
  int asides_ = 0;
  std::string subs_;
};

}  // namespace

Generated steady(std::uint64_t seed, bool known) { return {Steady(seed, known, false).text(), {"12"}}; }

Generated wide(std::uint64_t seed) { return {Steady(seed, true, true).text(), {"12", "5"}}; }

}  // namespace tessera::differential
