// Imports against the functions they mean: found before anything runs, with both places.
#include "command.hpp"

namespace tessera::tests {
namespace {

class Signatures : public Command {
 protected:
  // Runs `import f(<import>)` against a kernel file with the functions; the call gives `arguments`.
  Outcome with(const std::string& import, const std::string& functions, const std::string& arguments) {
    write("p.fa", "import f(" + import +
                      ") as work;\n"
                      "C++ sub init(name x) ${{ x = 1; $}}\n"
                      "sub main() { df x, y; init(x); work(" +
                      arguments + "); }\n");
    write("kernels.cpp", "#include \"ucenv.h\"\n" + functions + "\n");
    return tessera({"run", "-q", "p.fa"});
  }
  testing::AssertionResult refused(const Outcome& o, std::vector<std::string> parts, const char* code = "[T215]") {
    parts.insert(parts.end(), {"p.fa:1:8: error: the import of `f` does not fit", code, "kernels.cpp:2:"});
    if (o.out.find("ran") != std::string::npos) return testing::AssertionFailure() << "it ran";
    return ended(o, 1, parts);
  }
};

TEST_F(Signatures, AWrongTypeIsNamedWithBothPlaces) {
  const Outcome o = with("int, name", "extern \"C\" void f(double k, OutputDF &y) { puts(\"ran\"); y = k; }", "1, y");
  EXPECT_TRUE(
      refused(o, {"parameter 1 is imported as `int`, which a kernel takes as `int`; this one takes it as `double`",
                  "kernels.cpp:2:17: note: the function is `f(double, OutputDF &)`; the import means "
                  "`f(int, OutputDF &)`",
                  "extern \"C\" void f(double k"}));
}

TEST_F(Signatures, EveryKindOfMismatch) {
  const std::string run = " { puts(\"ran\"); }";
  const auto f = [&](const std::string& list) { return "extern \"C\" void f(" + list + ")" + run; };
  EXPECT_TRUE(refused(with("real", f("int"), "1.5"), {"as `real`", "this one takes it as `int`"}));
  EXPECT_TRUE(refused(with("real", f("float"), "1.5"), {"this one takes it as `float`"}, "[T217]"));
  EXPECT_TRUE(refused(with("int", f("long"), "1"), {"this one takes it as `long int`"}, "[T217]"));
  EXPECT_TRUE(refused(with("long", f("int"), "1"), {"as `long`, which a kernel takes as `long`", "takes it as `int`"},
                      "[T217]"));
  EXPECT_TRUE(refused(with("long", f("double"), "1"), {"this one takes it as `double`"}));
  EXPECT_TRUE(refused(with("int", f("int &"), "1"), {"this one takes it as `int &`"}, "[T217]"));
  EXPECT_TRUE(refused(with("int", f("int *"), "1"), {"this one takes it as `int *`"}, "[T217]"));
  EXPECT_TRUE(refused(with("real", f("const float &"), "1.5"), {"this one takes it as `const float &`"}));
  EXPECT_TRUE(refused(with("string", f("const std::string &"), "\"a\""), {"this one takes it as `const"}, "[T217]"));
  EXPECT_TRUE(
      refused(with("string", f("const InputDF &"), "\"a\""), {"this one takes it as `const InputDF &`"}, "[T217]"));
  EXPECT_TRUE(refused(with("value", f("int"), "x"), {"as `value`", "this one takes it as `int`"}, "[T217]"));
  EXPECT_TRUE(refused(with("value", f("const std::string &"), "x"), {"as `value`"}, "[T217]"));
  EXPECT_TRUE(refused(with("name", f("const OutputDF &"), "y"),
                      {"as `name`", "this one takes it as `const OutputDF &`"}, "[T217]"));
  EXPECT_TRUE(refused(with("int, int", f("int"), "1, 2"), {"imported with 2 parameters, and has 1"}, "[T217]"));
  EXPECT_TRUE(refused(with("int", f("int, int"), "1"), {"imported with 1 parameter, and has 2"}));
  const std::string in_pieces = "extern \"C\" void f(double k) { printf(\"ran %s\", std::to_string(k).c_str()); }";
  EXPECT_TRUE(refused(with("int", in_pieces, "1"), {"this one takes it as `double`"}))
      << "what may throw has a cold part";
  EXPECT_TRUE(refused(with("", f("int"), ""), {"imported with 0 parameters, and has 1"}));
}

TEST_F(Signatures, WhatDoesNoHarmUnlessLookedAtMayBeAllowed) {
  write("p.fa",
        "import f(int, name) as read;\nimport g(value, int, int) as more;\n"
        "sub main() { df x; read(0, x); more(x, 1, 2); }\n");
  write("kernels.cpp",
        "#include \"ucenv.h\"\nextern \"C\" {\nvoid f(const char *, OutputDF &x) { x = 4; }\n"
        "void g(const InputDF &x) { printf(\"%d\\n\", x.get_int()); }\n}\n");
  const Words run = {"run", "-q", "p.fa"};
  EXPECT_TRUE(
      ended(tessera(run), 1,
            {"p.fa:1:8: error: ", "kernels.cpp:3:6", "p.fa:2:8: error: ", "kernels.cpp:4:6", "[T217]", "2 errors"}));
  const Outcome allowed = tessera({"run", "-Wno-error=T217", "p.fa"});
  EXPECT_TRUE(ended(allowed, 0, {"p.fa:1:8: warning: ", "p.fa:2:8: warning: ", "[T217]"}));
  EXPECT_EQ(allowed.out, "4\n");
  EXPECT_TRUE(ended(tessera({"run", "-Wno-kernel-parameter", "p.fa"}), 0));
  const Outcome old = Command::run({LUNA_COMMAND, "p.fa"});
  EXPECT_TRUE(ended(old, 0, {"p.fa:1:8: warning: ", "[T217]"}));
  EXPECT_EQ(old.out, "4\n");
  // What is passed elsewhere stays an error.
  write("kernels.cpp",
        "#include \"ucenv.h\"\nextern \"C\" {\nvoid f(double, OutputDF &x) { x = 4; }\n"
        "void g(const InputDF &x) { printf(\"%d\\n\", x.get_int()); }\n}\n");
  EXPECT_TRUE(ended(Command::run({LUNA_COMMAND, "p.fa"}), 1, {"p.fa:1:8: error: ", "[T215]"}));
}

TEST_F(Signatures, WhatIsPassedAlikeIsAccepted) {
  const Outcome o = with(
      "int, real, string, value, value, value, name, int",
      "typedef double number;\n"
      "enum class Colour : int { red, green };\n"
      "namespace mine { typedef const luna::ucenv::InputDF in; struct Wrapped : OutputDF {}; }\n"
      "extern \"C\" int f(unsigned n, const number k, char *s, mine::in &a, InputDF &b, InputDF c,\n"
      "                   mine::Wrapped &y, Colour d) {\n"
      "  printf(\"%u %g %s %d %d %d %d\\n\", n, k, s, a.get_int(), b.get_int(), c.get_int(), d == Colour::green);\n"
      "  y.setValue(5);\n  return 3;\n}",
      "1, 2.5, \"s\", x, x, x, y, 1");
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "1 2.5 s 1 1 1 1\n");
}

TEST_F(Signatures, NumbersByReferenceArePassedSo) {
  const Outcome o =
      with("int, value, real, long, long, int",
           "extern \"C\" void f(const int &n, const InputDF &x, const double &k, const long &l, size_t s,\n"
           "                  int m) {\n"
           "  printf(\"%d %d %g %ld %zu %d\\n\", n, x.get_int(), k, l, s, m);\n}",
           "7, x, 2.5, -5000000000, 6, 9");
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "7 1 2.5 -5000000000 6 9\n");
}

TEST_F(Signatures, AModernKernelIsChecked) {
  write("modern.fa",
        "import f(value, name) as work;\nC++ sub init(name x) ${{ x = 1; $}}\n"
        "sub main() { df x, y; init(x); work(x, y); }\n");
  write("kernels.cpp",
        "#include <tessera.hpp>\nextern \"C\" void f(const tessera::Input &x, tessera::Output &y) {\n"
        "  y = x.get<int>();\n}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "modern.fa"}), 0));
  write("kernels.cpp", "#include <tessera.hpp>\nextern \"C\" void f(const tessera::Input &x, double y) {}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "modern.fa"}), 1,
                    {"modern.fa:1:8", "kernels.cpp:2:17", "this one takes it as `double`"}));
}

TEST_F(Signatures, ItIsTheDefinitionThatCounts) {
  // A declaration elsewhere, a C++ function and a local one of the same name are not meant.
  write("other.cpp",
        "#include \"ucenv.h\"\nnamespace { void f(double, double) {} }\nvoid f(double) {}\n"
        "void use() { f(1, 2); f(1); }\n");
  EXPECT_TRUE(ended(with("int", "extern \"C\" { void f(int n); void f(int n) { printf(\"%d\\n\", n); } }", "1"), 0));
}

TEST_F(Signatures, BuiltProgramsAreCheckedToo) {
  with("int", "extern \"C\" void f(double) {}", "1");
  EXPECT_TRUE(ended(tessera({"build", "p.fa"}), 1, {"p.fa:1:8", "kernels.cpp:2:17"}));
}

TEST_F(Signatures, WithAnotherCompiler) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another compiler has another sanitizer";
#endif
  environment_ = {"CXX=clang++"};
  if (run({"sh", "-c", "command -v clang++"}).exit_code != 0) GTEST_SKIP() << "no clang++";
  const Outcome o = with("int", "extern \"C\" void f(double) {}", "1");
  EXPECT_TRUE(refused(o, {"this one takes it as `double`"}));
  EXPECT_TRUE(ended(with("value, name", "extern \"C\" void f(InputDF x, OutputDF &y) { y = x; }", "x, y"), 0));
}

}  // namespace
}  // namespace tessera::tests
