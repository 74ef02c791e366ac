// Writer: names whose uses nobody counts, so that what of them can still be read is swept (pass sweep-names).
#include <array>

#include "writer.hpp"

namespace tessera::differential {
namespace {

std::string loop(const std::string& counter, int first, int last) {
  return "for " + counter + " = " + std::to_string(first) + " .. " + std::to_string(last) + " ";
}

}  // namespace

// Cells that step by what others held some steps ago: neighbours are data; time goes up or down, is the first index or
// the last; one loop makes the steps, or a sub for each cell, a tree of subs, a sub that calls itself, a `while`.
// Beside it: who looks on at each step, another name at half the speed, who reads the last row.
class Writer::Cells {
 public:
  explicit Cells(Writer& writer, const Visible& v) : w_(writer), r_(writer.random_), inner_(v) {
    x_ = w_.declared("x", inner_, kept_), y_ = w_.declared("x", inner_, kept_), l_ = w_.declared("l", inner_, kept_);
    out_ = w_.declared("w", inner_, kept_), p_ = w_.declared("p", inner_, kept_), d_ = w_.declared("d", inner_, kept_);
    for (std::string& out : more_outs_) out = w_.declared("w", inner_, kept_);
    t_ = w_.declared("i", inner_, kept_), i_ = w_.declared("i", inner_, kept_), j_ = w_.declared("i", inner_, kept_);
  }

  std::string text() {
    const std::string outs = out_ + ", " + more_outs_[0] + ", " + more_outs_[1];
    std::vector<std::string> parts = {loop(i_, 0, n_) + "mix(" + i_ + ", " +
                                          w_.expressions_.text(Kind::integer, inner_, 1) + ", " + l_ + "[" + i_ + "])" +
                                          w_.advice(inner_) + ";\n",
                                      loop(t_, 0, far_ - 1) + loop(i_, 0, n_ - 1) + "mix(" + t_ + ", " + i_ + ", " +
                                          at(x_, t_, i_) + ")" + w_.advice(inner_) + ";\n"};
    w_.cost_ += w_.weight_ * (steps_ + 2) * n_ * 8;
    const int way = r_.below(7);
    parts.push_back(steps(way));
    if (!after_turns_.empty()) parts.push_back(after_turns_);
    const bool turns = way == 6;
    const std::string last = turns ? out_ + " - 1" : std::to_string(steps_);
    if (r_.chance(80)) parts.push_back(loop(i_, 0, n_ - 1) + look("last", at(x_, last, column(i_, l_))));
    if (r_.chance(30)) parts.push_back(loop(i_, 0, n_ - 1) + look("first", at(x_, "0", column(i_, l_))));
    if (!turns) on_lookers(parts);
    const std::string cells = loop(i_, 0, n_ - 1);
    if (turns && r_.chance(50)) {  // who knows late what to read
      const std::string row = plus(out_, -r_.between(1, far_));
      parts.push_back(cells + "if " + l_ + "[" + i_ + "] % 2 == 0 " + look("some", at(x_, row, column(i_, l_))));
      if (r_.chance(50))
        parts.push_back(loop(t_, 0, 1) + cells + look("twice", at(x_, plus(out_, -1), column(i_, l_))));
    }
    if (turns && !time_last_ && !down_ && r_.chance(60)) {  // a sub that calls itself is passed what was found late
      const std::string tree = w_.sub_ + "row", half = "(from + to) / 2";
      sub("row", "name x, int from, int to",
          "if from == to show(\"row\", x[from]);\nif from < to {\n" + tree + "(x, from, " + half + ");\n" + tree +
              "(x, " + half + " + 1, to);\n}\n");
      parts.push_back(tree + "(" + x_ + "[" + plus(out_, -r_.between(1, far_)) + "], 0, " + std::to_string(n_ - 1) +
                      ");\n");
    }
    if (steps_ % 3 == 0) parts.push_back(handed_on());  // no number is drawn: the other programs stay as they are
    if (steps_ % 3 == 1) parts.push_back(chosen());
    if (w_.fault_ == Fault::assigned_twice) {
      parts.push_back("if " + l_ + "[0] >= 0 mix(1, 2, " + at(x_, std::to_string(r_.below(far_)), "0") + ");\n");
    }
    r_.shuffle(parts);
    std::string all;
    for (const std::string& part : parts) all += part;
    return "if 1 " + w_.braces(all, x_ + ", " + y_ + ", " + l_ + ", " + outs + ", " + p_ + ", " + d_);
  }

 private:
  std::string at(const std::string& name, const std::string& time, const std::string& cell) const {
    const std::string row = "[" + (down_ ? std::to_string(steps_) + " - (" + time + ")" : time) + "]";
    return name + (time_last_ ? "[" + cell + "]" + row : row + "[" + cell + "]");
  }
  std::string column(const std::string& i, const std::string& l) {
    const std::string n = std::to_string(n_);
    switch (r_.below(4)) {
      case 0:
        return i;
      case 1:
        return "(" + i + " + " + std::to_string(r_.between(1, 3)) + ") % " + n;
      default:
        return l + "[" + i + "] % " + n;
    }
  }
  std::string look(const std::string& to, const std::string& element) {
    return "show(\"" + to + "\", " + element + ")" + w_.advice(inner_) + ";\n";
  }
  // A cell's step to `time`, with braces.
  std::string step(const std::string& x, const std::string& l, const std::string& time, const std::string& i,
                   const std::string& more = "") {
    const auto before = [&] { return at(x, plus(time, -r_.between(1, far_)), column(i, l)); };
    const auto one = [&] { return "mix(" + before() + ", " + before() + more + ", " + at(x, time, i) + ")"; };
    if (!r_.chance(25)) return w_.braces(one() + ";\n");
    return "{\nif " + l + "[" + i + "] % 2 == 0 " + one() + ";\nif " + l + "[" + i + "] % 2 != 0 " + one() + ";\n}\n";
  }
  std::string sub(const std::string& name, const std::string& parameters, const std::string& statements) {
    w_.beside_ += "sub " + w_.sub_ + name + "(" + parameters + ") {\n" + statements + "}\n";
    return name;
  }

  std::string steps(int way) {
    const std::string times = loop(t_, far_, steps_), cells = loop(i_, 0, n_ - 1);
    switch (way) {
      case 0:
      case 1:
        return plain(times, cells);
      case 2: {
        if (r_.chance(35)) return deep(times + cells);
        sub("cell", "name a, name b, int i, int k, name to",
            "mix(a" + std::string(time_last_ ? "" : "[i]") + ", b" +
                (time_last_ ? "" : "[k % " + std::to_string(n_) + "]") + ", to);\n");
        if (time_last_) {
          return times + cells + w_.sub_ + "cell(" + at(x_, plus(t_, -1), column(i_, l_)) + ", " +
                 at(x_, plus(t_, -far_), column(i_, l_)) + ", " + i_ + ", " + l_ + "[" + i_ + "], " + at(x_, t_, i_) +
                 ");\n";
        }
        const auto row = [&](int by) {
          return x_ + "[" + (down_ ? std::to_string(steps_) + " - (" + plus(t_, by) + ")" : plus(t_, by)) + "]";
        };
        return times + cells + w_.sub_ + "cell(" + row(-1) + ", " + row(-far_) + ", " + i_ + ", " + l_ + "[" + i_ +
               "], " + at(x_, t_, i_) + ");\n";
      }
      case 3: {
        const std::string half = "(from + to) / 2";
        sub("tree", "name x, name l, int t, int from, int to",
            "if from == to " + step("x", "l", "t", "from") + "if from < to {\n" + w_.sub_ + "tree(x, l, t, from, " +
                half + ");\n" + w_.sub_ + "tree(x, l, t, " + half + " + 1, to);\n}\n");
        return times + w_.sub_ + "tree(" + x_ + ", " + l_ + ", " + t_ + ", 0, " + std::to_string(n_ - 1) + ");\n";
      }
      case 4:
      case 5:
        return recursive();
      default: {
        std::string body = cells + step(x_, l_, t_, i_);
        if (r_.chance(40)) {  // what only who knows the last turn reads
          const std::string at_turn = p_ + "[" + t_ + "]";
          body += "mix(" + t_ + ", 1, " + at_turn + ");\n";
          after_turns_ = loop(t_, 0, far_ - 1) + "mix(" + t_ + ", 2, " + at_turn + ");\n" +
                         look("only", p_ + "[" + plus(out_, -1) + "]");
        }
        const std::string more =
            r_.chance(40) ? cells + look("turn", at(x_, plus(t_, -r_.between(0, far_)), column(i_, l_))) : "";
        const std::string first =
            std::to_string(far_) + (r_.chance(40) ? " + " + l_ + "[0] % 1" : "");  // read, or known
        const bool more_behind = r_.chance(50);
        const int most = more_behind ? r_.between(far_, steps_) : steps_;
        const std::string turns = turn("", first, most, body + more);
        return more_behind ? turns + behind(cells) : turns;
      }
    }
  }
  // Turns until nobody knows when; out_ is where the next ones would begin.
  std::string turn(const std::string& on, const std::string& first, int last, const std::string& body) {
    return "while " + on + t_ + " <= " + std::to_string(last) + " && " + at(x_, plus(t_, -1), "0") + " % " +
           std::to_string(r_.between(5, 40)) + " != 1, " + t_ + " = " + first + " .. out " + out_ + " " +
           w_.braces(body);
  }
  // Turns, or so many steps, that begin where a `while` has ended; perhaps once more.
  std::string behind(const std::string& cells) {
    std::string text;
    const int times = r_.between(1, static_cast<int>(more_outs_.size()));
    for (int k = 0; k < times; ++k) {
      const std::string from = out_;
      const int more = down_ ? 0 : r_.below(8);
      const std::string seen =
          r_.chance(40) ? cells + look("turn", at(x_, plus(t_, -r_.between(0, far_)), column(i_, l_))) : "";
      const std::string body = cells + step(x_, l_, t_, i_) + seen;
      out_ = more_outs_[static_cast<std::size_t>(k)];
      w_.cost_ += w_.weight_ * (steps_ + more) * n_ * 8;
      if (!down_ && r_.chance(30)) {
        const std::string to = from + " + " + std::to_string(more);
        text +=
            "for " + t_ + " = " + from + " .. " + to + " " + w_.braces(body) + "same(" + to + " + 1, " + out_ + ");\n";
      } else {
        text += turn(r_.chance(30) ? l_ + "[0] - " + l_ + "[0] == 0 && " : "",
                     from + (r_.chance(30) ? " + " + l_ + "[0] % 1" : ""), steps_ + more, body);
      }
    }
    return text;
  }

  // A sub that calls itself, with names of its own in place of what it was passed.
  std::string deep(const std::string& each) {
    const std::string l = r_.chance(50) ? "l" : "l[d]", again = w_.sub_ + "deep(d - 1, " + l + ", ";
    const std::string call = r_.chance(50) ? again + "b, to);\n" : again + l + ", m);\nmix(m, b, to);\n";
    sub("deep", "int d, name a, name b, name to",
        "if d == 0 mix(a, b, to);\nif d > 0 {\ndf l, m;\nsame(a, " + l + ");\n" + call + "}\n");
    return each + w_.sub_ + "deep(" + std::to_string(r_.below(3)) + ", " + at(x_, plus(t_, -1), column(i_, l_)) + ", " +
           at(x_, plus(t_, -far_), column(i_, l_)) + ", " + at(x_, t_, i_) + ");\n";
  }

  std::string plain(const std::string& times, const std::string& cells) {
    if (r_.chance(20)) {  // a row whose number is a value
      std::string text = loop(t_, 0, steps_) + "same(" + t_ + ", " + p_ + "[" + t_ + "]);\n";
      const std::string from = at(x_, plus(t_, -1), column(i_, l_));
      return text + times + cells + "mix(" + from + ", " + i_ + ", " + at(x_, p_ + "[" + t_ + "]", i_) + ");\n";
    }
    if (r_.chance(25)) return ended(times, cells);
    return times + cells + step(x_, l_, t_, i_);
  }

  // Each step says that it has ended: a kernel's, or that of all in a sub. The next ones wait for that, or nobody does
  // before the last one.
  std::string ended(const std::string& times, const std::string& cells) {
    const bool waits = r_.chance(60), in_sub = r_.chance(50);
    if (in_sub) sub("ends", "name a, int d, name to", "mix(a, d, to);\n");
    const std::string before = d_ + "[" + t_ + " - 1][" + l_ + "[" + i_ + "] % " + std::to_string(n_) + "]";
    return loop(i_, 0, n_ - 1) + "same(1, " + d_ + "[" + std::to_string(far_ - 1) + "][" + i_ + "]);\n" + times +
           cells + (in_sub ? w_.sub_ + "ends" : "mix") + "(" + at(x_, plus(t_, -1), column(i_, l_)) + ", " +
           (waits ? before : i_) + ", " + at(x_, t_, i_) + ") >> (" + d_ + "[" + t_ + "][" + i_ + "]);\n" +
           (waits ? "" : cells + look("ended", d_ + "[" + std::to_string(steps_) + "][" + i_ + "]"));
  }

  std::string recursive() {
    const int by = r_.between(1, 2);
    const bool swaps = r_.chance(30), backwards = r_.chance(20);
    const std::string limit = std::to_string(steps_);
    const std::string cells = loop("i", 0, n_ - 1);
    std::string body = cells + step("x", "l", "t", "i");
    if (by == 2) body += "if t + 1 <= " + limit + " " + w_.braces(cells + step("x", "l", "t + 1", "i"));
    std::string more;
    if (swaps) {  // of two names one steps in each call; both are there from the beginning
      body = cells + "mix(" + at("y", "t - 1", column("i", "l")) + ", " + at("x", "t - 1", "i") + ", " +
             at("x", "t", "i") + ");\n" + cells + "same(" + at("y", "t - 1", "i") + ", " + at("y", "t", "i") + ");\n";
      more = loop(t_, 0, far_ - 1) + loop(i_, 0, n_ - 1) + "mix(" + t_ + ", 5, " + at(y_, t_, i_) + ");\n";
      y_taken_ = true;
    }
    const std::string next = plus("t", swaps ? 1 : by);
    const std::string names = swaps ? "y, x" : "x, y";
    const std::string again = "if t + " + std::to_string(swaps ? 1 : by) + " <= " + limit +
                              (r_.chance(30) ? " && l[0] >= 0 " : " ") + w_.sub_ + "go(" + names + ", l, " + next +
                              ");\n";
    const std::string shown = r_.chance(30) ? "show(\"deep\", " + at("x", "t - 1", "0") + ");\n" : "";
    sub("go", "name x, name y, name l, int t", backwards ? again + shown + body : body + shown + again);
    return more + w_.sub_ + "go(" + x_ + ", " + y_ + ", " + l_ + ", " + std::to_string(far_) + ");\n";
  }

  // Each level of a recursion declares what the next one reads, or that one's next.
  std::string handed_on() {
    const std::string last = std::to_string(2 * steps_), next = w_.sub_ + "hand(";
    const bool swaps = n_ % 2 == 0, late = far_ % 2 == 0;
    const std::string down =
        "if t < " + last + (late ? " && a >= 0 " : " ") +
        (swaps ? "{\nif b % 2 == 0 " + next + "b, d, a, t + 1);\nif b % 2 != 0 " + next + "d, b, c, t + 1);\n}\n"
               : next + "b, d, a, t + 1);\n");
    const std::string shown = "if t % 3 == 0 show(\"handed\", c);\n";
    sub("hand", "name a, name c, name g, int t",
        "df b, d;\n" + (late ? down + shown : shown) +
            "if g % 2 == 0 either(a, b, t, d);\nif g % 2 != 0 same(c, d);\n" + "mix(a, g, b);\n" + (late ? "" : down) +
            "if t == " + last + " show(\"handed\", d);\n");
    return "if 1 " + w_.braces("same(3, h0);\nsame(5, h1);\nsame(7, h2);\n" + next + "h0, h1, h2, 0);\n", "h0, h1, h2");
  }

  // What one branch of a choice deletes the other one reads, to know that it is not to be.
  std::string chosen() {
    const std::string freed = " --> (w[t])", left;
    const std::string yes = "mix(w[t], t, w[t + 1])" + (far_ % 2 == 0 || n_ % 2 == 0 ? freed : left) + ";\n",
                      no = "same(w[t] * 3 % 1001 + 2, w[t + 1])" + (n_ % 2 == 0 ? left : freed) + ";\n";
    sub("chosen", "name w, name k",
        "while t < " + std::to_string(2 * steps_) + " && w[t] == w[t], t = 0 .. out k {\nif w[t] % 2 == 0 " + yes +
            "else " + no + "}\n");
    return "if 1 " +
           w_.braces("same(3, w0[0]);\n" + w_.sub_ + "chosen(w0, k0);\nshow(\"chosen\", w0[k0]);\n", "w0, k0");
  }

  // Who reads other rows.
  void on_lookers(std::vector<std::string>& parts) {
    const std::string cells = loop(i_, 0, n_ - 1);
    if (r_.chance(40)) {
      const std::string condition = r_.chance(40) ? "if " + l_ + "[" + i_ + "] % 2 == 0 " : "";
      parts.push_back(loop(t_, 0, steps_) + cells + condition + look("each", at(x_, t_, column(i_, l_))));
    }
    if (!y_taken_ && r_.chance(40)) {
      parts.push_back(loop(t_, 1, steps_ / 2) + cells + "mix(" + at(x_, t_ + " * 2", column(i_, l_)) + ", " +
                      at(y_, plus(t_, -1), column(i_, l_)) + ", " + at(y_, t_, i_) + ");\n");
      parts.push_back(cells + "same(" + i_ + ", " + at(y_, "0", i_) + ");\n");
      parts.push_back(cells + look("half", at(y_, std::to_string(steps_ / 2), i_)));
    }
    if (r_.chance(10)) {
      parts.push_back(loop(j_, 0, 2) + look("any", at(x_, l_ + "[0] % " + std::to_string(steps_ + 1), "0")));
    }
    if (r_.chance(40)) strides(parts);
    if (r_.chance(15)) {
      sub("looks", "name a, int t, int k", "show(\"looked\", " + at("a", "t", "k % " + std::to_string(n_)) + ");\n");
      parts.push_back(loop(t_, 0, steps_) + w_.sub_ + "looks(" + x_ + ", " + t_ + ", " + l_ + "[0]);\n");
    }
  }

  // Rows by steps that are known where a loop is made, and not before; or by a choice.
  void strides(std::vector<std::string>& parts) {
    const int k = r_.between(1, 4);
    const std::string last = std::to_string(steps_), cells = r_.chance(50) ? loop(i_, 0, n_ - 1) : "";
    const std::string column = cells.empty() ? std::to_string(r_.below(n_)) : this->column(i_, l_);
    std::string row, to = last + " / " + std::to_string(k + 1);
    switch (r_.below(7)) {
      case 6:
        row = "(" + t_ + " + " + j_ + ") % -(-" + std::to_string(steps_ + 1) + ")";
        break;
      case 0:
        row = t_ + " * " + j_;
        break;
      case 1:
        row = last + " - " + j_ + " * " + t_;
        break;
      case 2:
        row = t_ + " / " + j_;
        to = last;
        break;
      case 3:
        row = t_ + " + " + j_ + " < " + last + " ? " + t_ + " + " + j_ + " : " + t_;
        to = last;
        break;
      case 4:
        row = t_ + " <= " + j_ + " ? 0 : " + t_ + " - " + j_;
        to = last;
        break;
      default:
        row = last + " + " + t_ + " * (0 - " + j_ + ")";
        break;
    }
    parts.push_back("for " + j_ + " = " + std::to_string(k) + " .. " + std::to_string(k + r_.below(2)) + " for " + t_ +
                    " = 0 .. " + to + " " + cells + look("stride", at(x_, row, column)));
    w_.cost_ += w_.weight_ * steps_ * n_ * 4;
  }

  Writer& w_;
  Random& r_;
  Visible inner_;
  std::vector<Protected> kept_;
  std::string x_, y_, l_, out_, p_, d_, t_, i_, j_, after_turns_;
  std::array<std::string, 2> more_outs_;
  const int n_ = r_.between(1, 4), far_ = r_.between(1, 3), steps_ = far_ + r_.between(1, 12);
  const bool down_ = r_.chance(25), time_last_ = r_.chance(25);
  bool y_taken_ = false;
};

std::string Writer::sweeps(const Visible& v) { return random_.chance(80) ? Cells(*this, v).text() : segments(v); }

// A `while` in a sub in a loop: each segment begins with what the one before has ended with.
std::string Writer::segments(const Visible& v) {
  Visible inner = v;
  std::vector<Protected> kept;
  const std::string x = declared("x", inner, kept), l = declared("l", inner, kept), o = declared("i", inner, kept);
  const int most = random_.between(1, 6), count = random_.between(1, 6);
  const std::string n = std::to_string(most);
  cost_ += weight_ * most * count * 4;
  beside_ += "sub " + sub_ + "segment(name x, name l, int o, name to) {\ndf w;\nwhile x[o][t] % " +
             std::to_string(random_.between(2, 9)) + " != 1 && t < " + n + ", t = 0 .. out w " +
             braces("mix(x[o][t], l[" + std::string(random_.chance(50) ? "o" : "t") + "], x[o][t + 1]);\n") +
             (random_.chance(50) ? "for i = 0 .. w show(\"segment\", x[o][i]);\n" : "") +
             "mix(x[o][w], x[o][0], to);\n}\n";
  std::vector<std::string> parts = {
      loop(o, 0, std::max(most, count)) + "mix(" + o + ", 3, " + l + "[" + o + "]);\n",
      "mix(1, " + expressions_.text(Kind::integer, inner, 1) + ", " + x + "[0][0])" + advice(inner) + ";\n",
      loop(o, 0, count - 1) + sub_ + "segment(" + x + ", " + l + ", " + o + ", " + x + "[" + o + " + 1][0]);\n",
      "show(\"end\", " + x + "[" + std::to_string(random_.between(0, count)) + "][0]);\n"};
  random_.shuffle(parts);
  std::string all;
  for (const std::string& part : parts) all += part;
  return "if 1 " + braces(all, x + ", " + l);
}

}  // namespace tessera::differential
