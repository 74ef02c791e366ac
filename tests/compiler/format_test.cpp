// `tessera fmt`: the expected layout, and for many texts that a second formatting changes nothing
// and the translator reads what it read before.
#include "compiler/format/format.hpp"

#include <gtest/gtest.h>

#include <random>

#include "compiler/format/pieces.hpp"
#include "compiler/source/preprocessor.hpp"
#include "compiler/syntax/lexer.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

namespace fs = std::filesystem;
using format::Piece;

// What the translator reads, one token per line.
std::string tokens_of(const fs::path& file) {
  Sources sources;
  MappedText text;
  Diagnostics diagnostics(sources, text);
  if (!sources.load(file)) return "unreadable";
  Preprocessor(sources, diagnostics, {}, text).run(0);
  std::string out;
  for (const syntax::Token& t : syntax::lex(text, diagnostics)) {
    out += std::to_string(static_cast<int>(t.kind)) + " " + std::string(t.text) + "\n";
  }
  return out;
}

Options with_library() {
  Options options;
  options.library = fs::path(TESSERA_COMPILER_TESTS).parent_path().parent_path() / "stdlib";
  return options;
}

// All programs of the repository's examples and tests that parse.
std::vector<fs::path> corpus() {
  std::vector<fs::path> found;
  const fs::path root = fs::path(TESSERA_COMPILER_TESTS).parent_path().parent_path();
  for (const char* folder :
       {"examples", "bench/programs", "stdlib", "tests/program", "tests/stdlib", "tests/compiler/programs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".fa") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Formats `text` beside `original` (for its includes); "" when it is refused.
std::string formatted(const fs::path& original, const std::string& text) {
  Options options = with_library();
  options.unsaved[fs::canonical(original)] = text;
  return format::format(original, options).text;
}

void expect_laid_out(const std::string& from, const std::string& to) {
  EXPECT_EQ(format::laid_out(from), to);
  EXPECT_EQ(format::laid_out(to), to) << "not idempotent";
}

TEST(Format, ElseStandsUnderItsIf) {
  expect_laid_out(
      "sub main() {\nif ! a\nf( !x,! -1, !( b ) );\nelse\nif b {\ng();\n}   else  if !(c)&&! d h();\nelse {\n}\n"
      "for i = 1..2\nif a\nif b f();\nelse\ng();\nelse\n{\nh();\n} @ { delete x; }\nk();\n}",
      "sub main() {\n  if !a\n    f(!x, !-1, !(b));\n  else\n    if b {\n      g();\n    } else if !(c) && !d h();\n"
      "    else {\n    }\n"
      "  for i = 1..2\n    if a\n      if b f();\n      else\n        g();\n    else\n    {\n      h();\n"
      "    } @ { delete x; }\n  k();\n}\n");
}

TEST(Format, PutsBlanksAndIndentation) {
  expect_laid_out(
      "\n\n#define N   10\nimport  work(int , name)as w :CUDA,NOCPU ;\n"
      "C++ sub set(int v,value&x)${{ x  =v;\n   y; $}}\n\n\n"
      "sub main ( ) {\ndf x,y ;  \n"
      "for i=1 .. $N-1\nfor << unrolling,4>> j = 0..n\n{\nset( i *-2+j , x [i][ j ] "
      ")@{locator_cyclic:i?1:2;\n"
      "  stealable ;};\n} @ {delete x;}\n"
      "      if(a==1||b<2)\n  // why\n     set(1,y)>>(d)-->(x);\n"
      "while x[p]==0,p=s..out y  set(\n1,\n-1);\n"
      "let a = 1,\nb = int ( 2.5 ) { }\ncf l[i] : set(0,x);\n/* end */\n}",
      "#define N   10\nimport work(int, name) as w : CUDA, NOCPU;\n"
      "C++ sub set(int v, value &x) ${{ x  =v;\n   y; $}}\n\n"
      "sub main() {\n  df x, y;\n"
      "  for i = 1 .. $N-1\n    for << unrolling, 4 >> j = 0..n\n    {\n"
      "      set(i * -2+j, x[i][j]) @ { locator_cyclic: i ? 1 : 2;\n"
      "        stealable; };\n    } @ { delete x; }\n"
      "  if (a == 1 || b < 2)\n    // why\n    set(1, y) >> (d) --> (x);\n"
      "  while x[p] == 0, p = s .. out y set(\n      1,\n      -1);\n"
      "  let a = 1,\n      b = int(2.5) {}\n  cf l[i]: set(0, x);\n  /* end */\n}\n");
}

TEST(Format, KeepsWhatMayMeanSomething) {
  // Macro uses keep their neighbours, directives and foreign text their bytes.
  expect_laid_out("#!/usr/bin/env tessera\nsub main() { f(x$N,a $N,$N -1,$F (1,2),$G(a\\,b)); }\n",
                  "#!/usr/bin/env tessera\nsub main() { f(x$N, a $N, $N - 1, $F (1, 2), $G(a\\, b)); }\n");
  expect_laid_out("  # define X(a)  \\\n   $a   +1  \nC++ head ${<E}  \n  int  x ;E\nsub main() {}\n",
                  "  # define X(a)  \\\n   $a   +1  \nC++ head ${<E}  \n  int  x ;E\nsub main() {}\n");
  expect_laid_out("sub main() { say(\"a  ,\n b\" , `one_word 2) ; }  // c \\\n  still  \n",
                  "sub main() { say(\"a  ,\n b\", `one_word 2); }  // c \\\n  still\n");
  expect_laid_out("sub main()\r\n{\r\nf( );\r\n}", "sub main()\r\n{\r\n  f();\r\n}\r\n");
  expect_laid_out("", "");
}

TEST(Format, BranchesOfConditionsNeedNotBalance) {
  expect_laid_out(
      "#ifdef A\nsub f(int x) {\n#else\nsub f(int y) {\n#endif\ng();\n}\n$STATEMENT(1)\nsub main() "
      "f(1);\n",
      "#ifdef A\nsub f(int x) {\n#else\nsub f(int y) {\n#endif\n  g();\n}\n$STATEMENT(1)\nsub "
      "main() f(1);\n");
}

TEST(Format, CommentsBehindLinesStayTogether) {
  expect_laid_out("sub main() {\n f( a ) ;   // one\n gh(b);     // two\n x();// three\n}\n",
                  "sub main() {\n  f(a);    // one\n  gh(b);   // two\n  x(); // three\n}\n");
  expect_laid_out("sub main() {  // ü\n  f(\"ü\");  // é\n}\n", "sub main() {  // ü\n  f(\"ü\");  // é\n}\n");
}

TEST(Format, ProgramsOfTheRepositoryKeepTheirMeaning) {
  const Workspace w;
  int seen = 0;
  for (const fs::path& file : corpus()) {
    const format::Result result = format::format(file, with_library());
    if (!result.ok) continue;
    ++seen;
    EXPECT_EQ(format::laid_out(result.text), result.text) << file << " is not stable";
    // Written beside nothing: only programs without includes can be read elsewhere.
    if (read_file(file).find("#include") == std::string::npos) {
      EXPECT_EQ(tokens_of(w.write("p.fa", result.text)), tokens_of(file)) << file;
    }
  }
  EXPECT_GT(seen, 60);
}

TEST(Format, ExamplesAreFormatted) {
  for (const fs::path& file : corpus()) {
    const std::string name = file.string();
    if (name.find("/examples/") == name.npos && name.find("/stdlib/") == name.npos) continue;
    EXPECT_EQ(format::format(file, with_library()).text, read_file(file)) << file;
  }
}

// The same pieces with other blanks and line breaks between them.
std::string shuffled(const std::string& text, std::mt19937& random) {
  const std::vector<Piece> all = format::pieces(text);
  std::string out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Piece& p = all[k];
    const auto fixed = [](const Piece& q) {
      return q.kind == Piece::Kind::directive || q.kind == Piece::Kind::macro || q.kind == Piece::Kind::other ||
             q.is_space() || q.is_comment();
    };
    static const char* const kSpaces[] = {" ", "  ", "\t", "\n", "\n\n\n", " \n   ", "\r\n", "       "};
    const auto space = [&] { return std::string(kSpaces[random() % std::size(kSpaces)]); };
    if (p.kind == Piece::Kind::blank) {
      out += space();
      continue;
    }
    out += p.text;
    if (p.kind == Piece::Kind::newline && random() % 3 == 0) out += space();
    const bool glued = k + 1 < all.size() && !fixed(p) && !fixed(all[k + 1]);
    if (glued && random() % 3 == 0) out += space();
  }
  return out;
}

TEST(Format, RandomLayoutsKeepTheirMeaning) {
  const Workspace w;
  std::mt19937 random(20251121);
  const std::vector<fs::path> files = corpus();
  int seen = 0;
  for (int round = 0; round < 600; ++round) {
    const fs::path& file = files[static_cast<std::size_t>(round) % files.size()];
    if (read_file(file).find("#include") != std::string::npos) continue;
    const std::string text = shuffled(read_file(file), random);
    const std::string result = formatted(file, text);
    if (result.empty()) continue;
    ++seen;
    const fs::path before = w.write("before.fa", text);
    ASSERT_EQ(tokens_of(w.write("after.fa", result)), tokens_of(before)) << file << "\n" << text;
    ASSERT_EQ(format::laid_out(result), result) << file << "\n" << text;
  }
  EXPECT_GT(seen, 400);
}

TEST(Format, RefusesWhatDoesNotParse) {
  const Workspace w;
  const format::Result result = format::format(w.write("p.fa", "sub main() { f(; }\n"), {});
  EXPECT_FALSE(result.ok);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].code, "T131");
}

}  // namespace
}  // namespace tessera::compiler::testing
