// Writer: statements and subs of one random program.
//
// Everything is made by `produce`: text that assigns a given fragment exactly once. What it may
// mention are fragments that were made before it, so that there is no cycle; statements of a block
// are shuffled at the end, since their order means nothing.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "expressions.hpp"
#include "generator.hpp"

namespace tessera::differential {

constexpr double kMostRuns = 300;  // of one statement, about

struct Parameter {
  enum class Way { value, in, out };
  Way way = Way::value;
  std::string name;
  Kind kind = Kind::integer;
  std::vector<int> sizes;  // in, out
};

struct Sub {
  std::string name;
  std::vector<Parameter> parameters;
  std::string place;  // its nfparam, if any
  double cost = 1;    // fragments that one call makes, about
  int recursion = 0;  // the first parameter is 0..recursion
};

// Protected: while it lives, no new name hides what this text mentions.
class Protected {
 public:
  Protected(std::vector<std::string>& all, std::string text) : all_(&all) { all.push_back(std::move(text)); }
  Protected(Protected&& o) noexcept : all_(std::exchange(o.all_, nullptr)) {}
  ~Protected() {
    if (all_ != nullptr) all_->pop_back();
  }

 private:
  std::vector<std::string>* all_;
};

class Writer {
 public:
  // With a fault, one call of a kernel is left out or stands twice: number `at`, if there are so
  // many.
  Writer(Random& random, bool macros, Fault fault, int at, std::string sub = "main")
      : random_(random), expressions_(random, macros), fault_(fault), fault_at_(at), sub_(std::move(sub)) {}

  std::string sub(int statements);  // declares one more and returns its text
  std::string recursive_sub();
  std::string rings(const Visible& v);  // statements by themselves
  std::string rows(const Visible& v);
  std::string turns(const Visible& v);
  std::string triangles(const Visible& v);
  std::string cells(const Visible& v);
  std::string sweeps(const Visible& v);
  std::string dropped(const Visible& v);
  std::string single(const Visible& v);
  const std::string& beside() const { return beside_; }  // subs that these need
  std::string main(const std::string& parameters, const Visible& v, int statements, const std::string& more);

 private:
  class Cells;
  using Kinds = std::vector<Kind>;

  // ---- producing
  std::string produce(Kind kind, const std::string& target, const Visible& v, int depth);
  std::string kernel(Kind kind, const std::string& target, const Visible& v);
  std::string right_kernel(Kind kind, const std::string& target, const Visible& v);
  std::string produce_array(const Fragment& array, const std::string& target, const Visible& v, int depth);
  std::string chain(const Fragment& array, const std::string& target, const Visible& v);
  std::string both_ways(Kind kind, const std::string& target, const Visible& v, int depth);
  std::string bound(Kind kind, const std::string& target, const Visible& v, int depth);
  std::string through_local(Kind kind, const std::string& target, const Visible& v, int depth);
  std::string counted(const std::string& target, const Visible& v, int depth);
  std::string by_sub(const Sub& sub, const Fragment& wanted, const std::string& target, const Visible& v);

  // ---- statements that assign nothing their surroundings see
  std::string show(const Visible& v);
  std::string show_all(const Fragment& array, const Visible& v);
  std::string freed_early(const Visible& v);
  std::string pushed(const Visible& v);
  std::string mixed_indices(const Visible& v);
  std::string read_again(const Visible& v);
  std::string stencil(const Visible& v);
  std::string held(const Visible& v);
  std::string with_end(const Visible& v);
  std::string segments(const Visible& v);
  std::string only_if(const Visible& v, int depth);
  std::string body(Visible v, int statements, int depth,
                   const std::string& more = "");  // with braces

  // ---- small parts
  std::string name(const std::string& prefix, Visible& v);  // of a new declaration, hidden in v
  // The same, protected as long as what is kept lives.
  std::string declared(const std::string& prefix, Visible& v, std::vector<Protected>& kept);
  std::string advice(const Visible& v, const std::string& more = "");
  std::string block_advice(const std::vector<Fragment>& declared, const Visible& v);
  std::string pragma();
  std::string label(const Visible& v);
  std::string braces(const std::string& statements, const std::string& names = "");
  std::string as_body(const std::string& statements);  // braces where they are needed, or by chance
  const Fragment* find(Kind kind, std::size_t dimensions, const Visible& v);
  std::vector<int> sizes();
  std::string comment();

  Random& random_;
  Expressions expressions_;
  std::vector<Sub> subs_;
  std::vector<std::string> targets_;  // what is being assigned
  Fault fault_;
  int fault_at_;
  double weight_ = 1;  // how often what is being written will run
  double cost_ = 0;
  int names_ = 0;
  std::string sub_;     // that is written: names of what is beside it begin so
  std::string beside_;  // subs
};

}  // namespace tessera::differential
