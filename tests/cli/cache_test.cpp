// Compilation happens when something changed, and only then. A compiler that leaves a note in a file
// tells whether it was called.
#include <unistd.h>

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
    write("p.fa",
          "#define K 0\nimport number(name) as number;\n"
          "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\n"
          "sub main() { df x; number(x); show(x + $K); }\n");
    write("number.h", "#define NUMBER 1\n");
    write("k.cpp",
          "#include \"ucenv.h\"\n#include \"number.h\"\n"
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

// As with a package, where nothing is precompiled: the first program makes the header in the cache, in a folder that is
// gone when others use it. These were compiled again by each run.
TEST_F(Cached, ProgramsThatUseTheHeaderOfAnotherAreNotCompiledAgain) {
  // A compiler of another name is not trusted to know precompiled headers.
  std::filesystem::rename(path("compiler"), path("g++-that-counts"));
  environment_ = {"CXX='" + path("g++-that-counts").string() + "'", "CXXFLAGS=-DOTHER_THAN_BUILT"};
  for (const std::string name : {"first", "second"}) {
    write(name + ".fa",
          "C++ sub " + name + "() ${{ printf(\"%s\\n\", __func__); $}}\nsub main() { " + name + "(); }\n");
  }
  run({"sleep", "0.05"});
  for (const std::string name : {"first", "second"}) {
    const Outcome o = tessera({"run", name + ".fa", "-q"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_NE(run({"find", "cache", "-name", "*.gch"}).out, "") << "nothing is precompiled: this tests nothing";
    EXPECT_EQ(calls({"run", name + ".fa", "-q"}, o.out), 0) << name;
  }
  EXPECT_GT(calls({"run", "p.fa", "-q"}, "1\n"), 0);
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 0) << "k.cpp, too";
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

// What a full disk or a machine that lost its power leaves: files of the right name and other contents. They were
// executed, or refused by the loader in every later run.
TEST_F(Cached, ADamagedResultIsMadeAgain) {
  for (const char* damage : {"truncate -s 1000 \"$f\"", "s=$(stat -c %s \"$f\"); rm \"$f\"; truncate -s $s \"$f\"",
                             "printf 'else' | dd of=\"$f\" bs=1 seek=4096 conv=notrunc 2> /dev/null"}) {
    calls({"run", "p.fa", "-q"}, "1\n");
    run({"sh", "-c",
         std::string("for f in cache/tessera/entries/*.so cache/tessera/entries/*.o; do ") + damage + "; done"});
    EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 4) << damage;
    EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 0) << damage;
  }
}

TEST_F(Cached, ItIsForItsUserOnly) {
  using fs_perms = std::filesystem::perms;
  const auto others = fs_perms::group_all | fs_perms::others_all;
  const std::filesystem::path cache = path("cache/tessera");
  calls({"run", "p.fa", "-q"}, "1\n");
  EXPECT_EQ(std::filesystem::status(cache).permissions() & others, fs_perms::none);
  // Whoever could write into it may have left something that looks like a result.
  std::filesystem::permissions(cache, fs_perms::all);
  EXPECT_EQ(calls({"run", "p.fa", "-q"}, "1\n"), 4);
  EXPECT_EQ(std::filesystem::status(cache).permissions() & others, fs_perms::none);
}

TEST_F(Cached, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  // Without HOME its name is known beforehand, and anybody can make it.
  environment_ = {"-u", "HOME", "-u", "XDG_CACHE_HOME", "TMPDIR=" + folder_.string(), "HOME=", "XDG_CACHE_HOME="};
  const std::string name = "tessera-" + std::to_string(geteuid());
  std::filesystem::create_directory(path(name));
  ASSERT_EQ(chown(path(name).c_str(), 65534, 65534), 0);
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {name, "belongs to another user (uid 65534)", "XDG_CACHE_HOME"}));
  EXPECT_TRUE(std::filesystem::is_empty(path(name)));
}

}  // namespace
}  // namespace tessera::tests
