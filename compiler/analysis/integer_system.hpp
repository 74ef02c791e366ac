// Linear constraints over integers, decided exactly: the Omega test. Pure arithmetic; what the
// variables stand for is the caller's business.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::compiler::analysis {

using Integer = std::int64_t;

// Row is a[0] x0 + a[1] x1 + ... + c. Missing coefficients are zero.
struct Row {
  std::vector<Integer> a;
  Integer c = 0;

  Integer at(std::size_t v) const { return v < a.size() ? a[v] : 0; }
  Integer& ref(std::size_t v) {
    if (v >= a.size()) a.resize(v + 1);
    return a[v];
  }
};

// System: all of `zero` are 0, all of `positive` are >= 0, `congruent` are multiples of their
// number.
struct System {
  std::size_t variables = 0;
  std::vector<Row> zero;
  std::vector<Row> positive;
  std::vector<std::pair<Row, Integer>> congruent;

  std::size_t variable() { return variables++; }
  void add(const System& other);  // the constraints of a system over the same variables
};

enum class Answer : std::uint8_t { no, yes, unknown };

// Effort bounds the work of many questions together; when it is used up, answers are unknown. It
// counts steps, not time: the same program gets the same answers everywhere.
struct Effort {
  std::int64_t left = 0;
  bool spend(std::int64_t n) { return (left -= n) >= 0; }
  bool used_up() const { return left < 0; }
};
inline constexpr std::int64_t kOneQuestion = 20'000;  // small, so that no single question uses up what all have

// solve: has the system an integer solution? With yes, `witness` (if given) is one. `unknown` only
// when the effort is used up or numbers grow past 64 bits.
Answer solve(const System& system, Effort& effort, std::vector<Integer>* witness = nullptr);

// project removes the variables that are not kept. The result holds of a point of the kept
// variables when (over: at least when; under: at most when) the rest can be chosen. False: not
// found out.
enum class Shadow : std::uint8_t { over, under };
bool project(System system, const std::vector<bool>& keep, Shadow shadow, Effort& effort, System& result);

// outside: has `system` a solution that is in none of `covers`? These are constraints over the
// first variables of the system. `found` (if given) becomes the system with the constraints that
// put the solution outside.
Answer outside(const System& system, const std::vector<System>& covers, Effort& effort,
               std::vector<Integer>* witness = nullptr, System* found = nullptr);

}  // namespace tessera::compiler::analysis
