// Compilation happens when something changed, and only then. A compiler that leaves a note in a file
// tells whether it was called.
#include "command.hpp"

namespace tessera::tests {
namespace {

class Cached : public Command {
 protected:
  Cached() {
    cache_ = path("cache");
    write("compiler", "#!/bin/sh\necho x >> '" + path("calls").string() + "'\nexec g++ \"$@\"\n");
    std::filesystem::permissions(path("compiler"), std::filesystem::perms::owner_all);
    environment_ = {"CXX='" + path("compiler").string() + "'"};
    write("p.fa", "#define K 0\nimport number(name) as number;\n"
                  "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\n"
                  "sub main() { df x; number(x); show(x + $K); }\n");
    write("number.h", "#define NUMBER 1\n");
    write("k.cpp", "#include \"ucenv.h\"\n#include \"number.h\"\n"
                   "extern \"C\" void number(OutputDF &x) { x = NUMBER; }\n");
    run({"sleep", "0.05"});  // what is younger than the run is not trusted to be the same
  }
  // How often the compiler was called by this run.
  int calls(const Words& words, const std::string& expected) {
    std::filesystem::remove(path("calls"));
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, expected);
    return static_cast<int>(read("calls").size() / 2);
  }
  void change(const std::string& name, const std::string& text) {
    write(name, text);
    run({"sleep", "0.05"});
  }
};

TEST_F(Cached, AnUnchangedProgramIsNotCompiled) {
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 4);  // program, in-place kernels, k.cpp, link
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 0);
  EXPECT_EQ(calls({"run", "p.fa", "-q", "-t", "1"}, "1\n"), 0);
}

TEST_F(Cached, OnlyWhatChangedIsCompiled) {
  calls({"run", "p.fa", "-q"}, "1\n");
  change("number.h", "#define NUMBER 2\n");
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "2\n"), 2) << "a kernel's header: k.cpp and the link";
  change("number.h", "#define NUMBER 2\n");
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "2\n"), 0) << "the same contents again";
  change("p.fa", read("p.fa") + "// a comment\n");
  EXPECT_LE(calls({"run", "p.fa", "-q"}, "2\n"), 2) << "the program and the link, at most";
  EXPECT_GE(calls({"run", "p.fa", "-q", "--cxxflags", "-DX"}, "2\n"), 2);
}

TEST_F(Cached, ANewKernelFileCounts) {
  calls({"run", "p.fa", "-q"}, "1\n");
  change("other.cpp", "extern \"C\" int other() { return 0; }\n");
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 2);
}

TEST_F(Cached, WarningsAreShownAgain) {
  write("k.cpp", "#include \"ucenv.h\"\n#warning take care\nextern \"C\" void number(OutputDF &x) { x = 1; }\n");
  run({"sleep", "0.05"});
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0, {"take care"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0, {"take care"}));
  EXPECT_EQ(tessera({"run", "p.fa", "-q"}).err, "");
}

TEST_F(Cached, ManyAtOnce) {
  const std::string one = "'" TESSERA_COMMAND "' run -q p.fa";
  const Outcome o = run({"sh", "-c", one + " & " + one + " & " + one + " & " + one + " & wait"});
  EXPECT_EQ(o.out, "1\n1\n1\n1\n") << o.err;
  EXPECT_EQ(read("calls").size() / 2, 4u) << "three waited for the first";
}

TEST_F(Cached, ADamagedEntryIsMadeAgain) {
  calls({"run", "p.fa", "-q"}, "1\n");
  run({"sh", "-c", "for f in cache/tessera/entries/*.txt; do head -c 40 \"$f\" > x; mv x \"$f\"; done"});
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 4);
}

}  // namespace
}  // namespace tessera::tests
