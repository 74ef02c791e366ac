// Commands with a journal, and a program that is killed.
#pragma once

#include <filesystem>
#include <string>

#include "command.hpp"

namespace tessera::tests {

// Sums of rows, which a fragment kills at its element `at` of row 5, once: when the file `die` is there and the journal
// has something. Each kernel that runs leaves a line.
inline constexpr const char* kRows =
    "C++ sub begin(int i, name x) ${{ x = i; $}}\n"
    "C++ sub add(int row, int i, int s, name x) ${{\n"
    "  if (FILE* ran = fopen(\"ran\", \"a\")) { fprintf(ran, \"%d %d\\n\", row, i); fclose(ran); }\n"
    "  if (row == 5 && i == 40 && access(\"die\", F_OK) == 0) {\n"
    "    for (int n = 0; n < 5000 && system(\"test $(cat J/*.tsj | wc -c) -gt 900\") != 0; ++n) usleep(2000);\n"
    "    unlink(\"die\");\n"
    "    if (system(\"kill -9 $PPID\") == 0) sleep(60);\n"
    "  }\n"
    "  x = s + i * row;\n"
    "$}}\n"
    "C++ sub show(string what, int v) ${{ printf(\"%s %d\\n\", what, v); fflush(stdout); $}}\n"
    "sub row(int r, name out_) {\n"
    "  df x;\n"
    "  begin(r, x[0]);\n"
    "  for i = 1..60 add(r, i, x[i - 1], x[i]);\n"
    "  if x[60] % 2 == 0 { add(r, 61, x[60], out_); show(\"even\", r); } else add(r, 62, x[60], out_);\n"
    "}\n"
    "sub main(int n) {\n"
    "  df y;\n"
    "  for r = 1..8 cf a[r]: row(r, y[r]) @ { locator_cyclic: r; };\n"
    "  for r = 1..8 show(\"row\", y[r]);\n"
    "}\n";

class Journal : public Command {
 protected:
  Journal() { write("p.fa", kRows); }
  Outcome journalled(Words words, const std::string& argument = "3") {
    words.insert(words.begin(), {"run", "p.fa", "--journal", "J", "--journal-interval", "0.005"});
    words.insert(words.end(), {"--", argument});
    return tessera(words);
  }
  void deadly() { write("die", ""); }
  // The lines without repetitions: what the last moments have printed may be printed again.
  static std::string lines(const std::string& text) {
    std::string once, before;
    for (const std::string all = sorted(text); const char c : all) {
      before += c;
      if (c != '\n') continue;
      if (once.size() < before.size() || once.compare(once.size() - before.size(), before.size(), before) != 0)
        once += before;
      before.clear();
    }
    return once;
  }
};

}  // namespace tessera::tests
