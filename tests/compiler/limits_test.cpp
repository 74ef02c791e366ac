// Programs made to be hard: what they cost is bounded, or grows as they do, and they are told why not.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

constexpr const char* kShow = "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n";

std::string first_text(const Output& out) { return out.diagnostics.empty() ? "" : out.diagnostics[0].text; }

TEST(Limits, DevicesFifosFoldersAndWhatCannotBeReadAreNotIncluded) {
  const Workspace w;
  ASSERT_EQ(mkfifo((w.folder() / "fifo").c_str(), 0600), 0);
  for (const auto& [name, is] : {std::pair{"/dev/zero", "a device"},
                                 {"/dev/full", "a device"},
                                 {"fifo", "a FIFO"},
                                 {".", "a folder"},
                                 {"/proc/self/mem", "unreadable (Input/output error)"}}) {
    const auto program =
        w.write("prog.fa", std::string("#include \"") + name + "\"\n" + kShow + "sub main() { show(1); }\n");
    const Output out = translate(program, {});
    EXPECT_EQ(codes(out), "T119") << name;
    EXPECT_NE(first_text(out).find(std::string("which is ") + is), std::string::npos) << first_text(out);
  }
  const Output fifo = translate(w.folder() / "fifo", {});
  EXPECT_EQ(codes(fifo), "T100");
  EXPECT_NE(first_text(fifo).find("a FIFO"), std::string::npos);
}

// One error, not one for each byte.
TEST(Limits, WhatIsNoTextIsSaidOnce) {
  const Workspace w;
  const Output out = translate(w.write("prog.fa", std::string("\x7f\x45LF\x02\x01\x00\x00\xe1\x90\x00", 11)), {});
  EXPECT_EQ(codes(out), "T121");
  EXPECT_EQ(first_text(out), "this is no text: bytes of value 0 follow; give a program (.fa)");
}

// Each file includes the next one twice: 2^40 includes.
TEST(Limits, IncludesThatDoubleAreEnded) {
  const Workspace w;
  for (int k = 0; k < 40; ++k) {
    const std::string next = "#include \"f" + std::to_string(k + 1) + ".fa\"\n";
    w.write("f" + std::to_string(k) + ".fa", next + next);
  }
  w.write("f40.fa", "");
  const auto program = w.write("prog.fa", std::string("#include \"f0.fa\"\n") + kShow + "sub main() { show(1); }\n");
  const Output out = translate(program, {});
  EXPECT_EQ(codes(out), "T122");
  EXPECT_NE(first_text(out).find("more than 10000 includes"), std::string::npos) << first_text(out);
}

// Editors of other systems begin a file with it.
TEST(Limits, AByteOrderMarkIsNoText) {
  EXPECT_EQ(codes(translate_text(std::string("\xEF\xBB\xBF") + "#define N 3\n" + kShow + "sub main() { show($N); }\n")),
            "");
}

// Each sub calls the one before, as many as take more than a usual stack.
TEST(Limits, SubsCallOneAnotherAsDeepAsTheyLike) {
  std::string subs = "C++ sub set(name x) ${{ x = 1; $}}\nsub s0(name x) { set(x); }\n";
  constexpr int kDeep = 40000;
  for (int k = 1; k < kDeep; ++k)
    subs += "sub s" + std::to_string(k) + "(name x) { s" + std::to_string(k - 1) + "(x); }\n";
  EXPECT_EQ(
      codes(translate_text(subs + kShow + "sub main() { df x; s" + std::to_string(kDeep - 1) + "(x); show(x); }\n")),
      "");
}

TEST(Limits, IncludedTextIsBounded) {
  const Workspace w;
  w.write("large.fa", std::string(9 << 20, '\n'));
  const auto program = w.write(
      "prog.fa", std::string("#include \"large.fa\"\n#include \"large.fa\"\n") + kShow + "sub main() { show(1); }\n");
  const Output out = translate(program, {});
  EXPECT_EQ(codes(out), "T122");
  EXPECT_NE(first_text(out).find("16 MiB"), std::string::npos) << first_text(out);
  EXPECT_EQ(codes(translate(w.write("huge.fa", std::string((16 << 20) + 1, '\n')), {})), "T100");
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds_for(const std::string& text) {
  const double begin = processor_seconds();
  const Output out = translate_text(text);
  const double seconds = processor_seconds() - begin;
  EXPECT_TRUE(out.ok) << first_text(out);
  return seconds;
}

// Four times the size is at most ten times the work; it would be sixteen if it grew with the square. Others on this
// machine take some of the caches, which costs the larger one more: who takes more than that is measured anew, and the
// least of each counts.
void expect_linear(const std::function<std::string(int)>& program, int n) {
  const std::string small = program(n), large = program(4 * n);
  double of_small = 1e9, of_large = 1e9;
  for (int k = 0; k < 8; ++k) {
    of_small = std::min(of_small, seconds_for(small));
    of_large = std::min(of_large, seconds_for(large));
    if (of_large < 10 * of_small) return;
  }
  ADD_FAILURE() << n << " take " << of_small << " s of processor time, four times as many " << of_large << " s";
}

TEST(Limits, SubsThatCallTheNextOne) {
  expect_linear(
      [](int n) {
        std::string text = kShow;
        for (int k = 0; k < n; ++k) {
          text += "sub s" + std::to_string(k) + "(int n) { s" + std::to_string(k + 1) + "(n); }\n";
        }
        return text + "sub s" + std::to_string(n) + "(int n) { show(n); }\nsub main() { s0(1); }\n";
      },
      5000);
}

TEST(Limits, SubsCalledOneAfterTheOther) {
  expect_linear(
      [](int n) {
        std::string text = kShow, calls;
        for (int k = 0; k < n; ++k) {
          text += "sub s" + std::to_string(k) + "(int n) { show(n); }\n";
          calls += "  s" + std::to_string(k) + "(" + std::to_string(k) + ");\n";
        }
        return text + "sub main() {\n" + calls + "}\n";
      },
      5000);
}

TEST(Limits, ManyIncludedFiles) {
  const Workspace w;
  std::string all = kShow;
  for (int k = 0; k < 2000; ++k) {
    const std::string name = "part" + std::to_string(k);
    w.write(name + ".fa", "sub " + name + "(int n) { show(n); }\n");
    all += "#include \"" + name + ".fa\"\n";
  }
  const Output out = translate(w.write("prog.fa", all + "sub main() { part0(1); }\n"), {});
  EXPECT_TRUE(out.ok);
  EXPECT_EQ(out.files.size(), 2001u);
}

// Statements that are alike share functions: the C++ grows by tables only.
TEST(Limits, StatementsThatAreAlikeShareFunctions) {
  const auto program = [](int n) {
    std::string text =
        "C++ sub add(int a, int b, name x) ${{ x = a + b; $}}\nsub main() {\n  df x;\n  add(0, 0, x[0]);\n";
    for (int k = 1; k <= n; ++k) {
      text += "  add(x[" + std::to_string(k - 1) + "], " + std::to_string(k * k) + ", x[" + std::to_string(k) + "]);\n";
    }
    return text + "  add(x[" + std::to_string(n) + "], 0, x[" + std::to_string(n + 1) + "]) @ { drop x[" +
           std::to_string(n + 1) + "]; };\n}\n";
  };
  const auto functions = [&](int n) {
    const std::string text = translate_text(program(n)).program_cpp;
    int count = 0;
    for (std::size_t at = text.find("\nNext run"); at != std::string::npos; at = text.find("\nNext run", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(functions(5), 8);  // few: each its own; main is one of them
  EXPECT_EQ(functions(100), functions(1000));
}

// What a process takes that translates so many statements, in kB.
double peak_memory(int statements) {
  constexpr int kOfASub = 100;
  std::string text = "C++ sub set(int v, name x) ${{ x = v; $}}\n", calls;
  for (int s = 0; s < statements; s += kOfASub) {
    text += "sub part" + std::to_string(s) + "(name x, int k) {\n";
    for (int k = 0; k < kOfASub; ++k)
      text += "  set(k + " + std::to_string(k) + ", x[k + " + std::to_string(k) + "]);\n";
    text += "}\n";
    calls += "  part" + std::to_string(s) + "(x, " + std::to_string(s) + ");\n";
  }
  text += std::string(kShow) + "sub main() {\n  df x;\n" + calls + "  show(x[0]);\n}\n";
  const pid_t child = fork();
  if (child == 0) _exit(translate_text(text).ok ? 0 : 1);
  int status = 0;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
  return static_cast<double>(used.ru_maxrss);
}

TEST(Limits, AStatementTakesSomeKilobytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer takes its own";
#endif
  EXPECT_LT((peak_memory(30000) - peak_memory(10000)) / 20000, 5);  // kB; 7.3 while all was kept to the end
}

}  // namespace
}  // namespace tessera::compiler::testing
