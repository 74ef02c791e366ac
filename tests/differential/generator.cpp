#include "generator.hpp"

#include <algorithm>

#include "tests/reference/kernels.hpp"
#include "writer.hpp"

namespace tessera::differential {
namespace {

// Macros, conditions and what the preprocessor must keep its hands off.
const char* const kMacros = R"fa(#define FIVE 5
#define LESS(a, b) (($a) - ($b))
#define TWICE(x) $LESS($x, \
  -($x))
#ifdef MISSING
sub broken( { this is not read
#else
#define HERE 1
#endif
#ifndef HERE
sub broken2(
#endif
#define GONE 1
#undef GONE
)fa";

}  // namespace

Generated generate(std::uint64_t seed, int size, Fault fault, int swept) {
  Random random(seed * 0x9E3779B97F4A7C15u + 1);
  const bool macros = random.chance(60);
  Writer writer(random, macros, fault, random.between(1, std::max(2, size / 3)));
  std::vector<std::string> subs;
  const int count = random.below(5);
  for (int k = 0; k < count; ++k) {
    subs.push_back(random.chance(25) ? writer.recursive_sub() : writer.sub(random.between(0, size / 6)));
  }
  Generated result;
  Visible v;
  std::string list;
  const auto parameter = [&](Kind kind, const std::string& type, const std::string& argument, double value) {
    const std::string name = "arg" + std::to_string(result.arguments.size());
    list += (list.empty() ? "" : ", ") + type + " " + name;
    v.scalars.push_back({name, kind, value, value});
    result.arguments.push_back(argument);
  };
  if (random.chance(40)) {
    const int n = random.below(50);
    parameter(Kind::integer, n % 4 == 0 ? "long" : "int", std::to_string(n), n);
  }
  if (random.chance(20)) parameter(Kind::real, "real", "2.5", 2.5);
  if (random.chance(20)) parameter(Kind::string, "string", "--a word", 0);
  // A stream of its own: programs that are known by their seeds stay what they are.
  std::string shapes, called;
  const auto shape = [&](const std::string& sub, std::uint64_t stream, std::string (Writer::*write)(const Visible&),
                         int percent = 40) {
    Random own(seed * 0x9E3779B97F4A7C15u + stream);
    if (!own.chance(percent)) return;
    Writer of_shape(own, false, fault, -1, sub);
    shapes += "sub " + sub + "(int arg0) {\n" + (of_shape.*write)({{}, {{"arg0", Kind::integer, 3, 3}}}) + "}\n";
    shapes += of_shape.beside();
    called += sub + "(3);\n";
  };
  shape("around", 3, &Writer::rings);
  shape("turning", 5, &Writer::turns);
  shape("triangular", 7, &Writer::triangles);
  shape("celled", 9, &Writer::cells);
  shape("dropping", 4, &Writer::dropped);
  shape("single", 6, &Writer::single);
  shape("rowed", 8, &Writer::rows);
  for (int k = 0; k < swept; ++k) {
    shape("swept" + std::to_string(k), 11 + 2 * static_cast<std::uint64_t>(k), &Writer::sweeps, 75);
  }
  subs.push_back(writer.main(list, v, std::max(3, size / 2), called));
  random.shuffle(subs);
  // Of what is declared more than once the last counts, and what only says the same again is nothing new.
  const std::string repeated = random.chance(10) && subs.size() > 1 ? random.one_of(subs) : "";
  if (repeated.find("sub main(") == std::string::npos) subs.push_back(repeated);
  std::string hidden;
  if (random.chance(10))
    hidden = "sub main() { show(\"hidden\", 1); }\nC++ sub mix(int a, name x) ${<END} x = a; END\n";
  result.text = random.chance(20) ? "#! /usr/bin/env tessera\n" : "";
  result.text += hidden + reference::kernels_text();
  if (macros) result.text += kMacros;
  for (const std::string& s : subs) result.text += s;
  result.text += shapes;
  return result;
}

}  // namespace tessera::differential
