// Random expressions whose value can't go wrong: an interval is known for each, so that nothing
// overflows, no divisor is zero, and an index stays inside its array.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::differential {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  int between(int a, int b) { return a + below(b - a + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t k = all.size(); k > 1; --k) {
      std::swap(all[k - 1], all[static_cast<std::size_t>(below(static_cast<int>(k)))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

enum class Kind { integer, real, string, bytes };

// Fragment: a data fragment that will have a value, or an array of them when `sizes` is not empty.
struct Fragment {
  std::string text;  // `x`, `c[i]`, `A[2]`: as it is written here
  Kind kind = Kind::integer;
  std::vector<int> sizes;
  double low = 0, high = 999;
};

// Scalar: a counter, a parameter or a name bound by `let`.
struct Scalar {
  std::string name;
  Kind kind = Kind::integer;
  double low = 0, high = 0;
};

// Visible: what a statement may mention.
struct Visible {
  std::vector<Fragment> fragments;
  std::vector<Scalar> scalars;
  void hide(const std::string& name);  // an inner declaration of this name begins
};

// A counter and a number: `i - 2`.
std::string plus(const std::string& counter, int by);

// Expression: its text, how tightly it binds, and the values it can have.
struct Expression {
  std::string text;
  int level = 7;  // 7 primary, 6 unary, 5 product, 4 sum, 3 comparison, 2 and, 1 or, 0 choice
  double low = 0, high = 0;
  bool known = false;  // no fragment is read in it
};

class Expressions {
 public:
  Expressions(Random& random, bool macros) : random_(random), macros_(macros) {}

  Expression make(Kind kind, const Visible& v, int depth);
  std::string text(Kind kind, const Visible& v, int depth = 2) { return make(kind, v, depth).text; }

  // index is an int expression with values in 0..size-1.
  std::string index(int size, const Visible& v, int depth = 1);

  // element is the text of one fragment of the array, or of the part of it with `left` sizes left.
  std::string element(const Fragment& array, std::size_t left, const Visible& v);

 private:
  Expression integer(const Visible& v, int depth);
  Expression arithmetic(const Visible& v, int depth);
  Expression longint(const Visible& v, int depth);  // each value fits 64 bits; of 32 bits are few
  Expression comparison(const Visible& v, int depth);
  Expression real(const Visible& v, int depth);
  Expression string(const Visible& v, int depth);
  Expression choice(Kind kind, const Visible& v, int depth);
  bool read(Kind kind, const Visible& v, Expression& out);
  bool scalar(Kind kind, const Visible& v, Expression& out);
  std::string in(const Expression& e, int level);  // with brackets where they are needed

  Random& random_;
  bool macros_;
};

}  // namespace tessera::differential
