// Mutated programs: whatever the text, the translator answers, and what it accepts it can translate
// to the end (the block program's verifier aborts otherwise).
#include <gtest/gtest.h>

#include <random>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

constexpr int kRounds = 4000;

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string operator()(std::string text, const std::vector<std::string>& all) {
    const int changes = 1 + pick(4);
    for (int k = 0; k < changes && !text.empty(); ++k) {
      const std::size_t at = pick(text.size());
      const std::size_t length = 1 + pick(std::min<std::size_t>(20, text.size() - at));
      switch (pick(7)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, text.substr(pick(text.size()), length)); break;
        case 2: text[at] = static_cast<char>(pick(256)); break;
        case 3: text.insert(at, token()); break;
        case 4: {
          const std::string& other = all[pick(all.size())];
          text.insert(at, other.substr(pick(other.size()), length * 3));
          break;
        }
        case 5: text.resize(at); break;
        default: {  // swap two words, so that names and types get mixed up
          const auto word = [&](std::size_t from) {
            std::size_t b = text.find_first_of("abcdefghijklmnopqrstuvwxyz", from);
            if (b == std::string::npos) b = 0;
            std::size_t e = b;
            while (e < text.size() && std::isalnum(static_cast<unsigned char>(text[e])) != 0) ++e;
            return std::pair(b, e - b);
          };
          const auto a = word(at);
          const auto b = word(pick(text.size()));
          const std::string with = text.substr(b.first, b.second);
          text.replace(a.first, a.second, with);
        }
      }
    }
    return text;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  std::string token() {
    static const char* const kTokens[] = {"{", "}", "(", ")", "[", "]", ";", ",", "df x;", " for ",
                                          " if ", "while ", "let ", "$", "${{", "$}}", "#define ",
                                          "#ifdef X\n", "#endif\n", "\"", "@ {", ">>", "-->", "..",
                                          "=>", " == ", "0", "1.5", "\n", "/*", "*/", "`", "sub ",
                                          "C++ ", "?", ":", "-", "out ", "name ", "all", "\\"};
    return kTokens[pick(sizeof kTokens / sizeof *kTokens)];
  }
  std::mt19937 random_;
};

TEST(Fuzz, MutatedProgramsAreAnswered) {
  std::vector<std::string> programs;
  for (const auto& path : inputs("programs", ".fa")) programs.push_back(read_file(path));
  for (const auto& path : inputs("mistakes", ".fa")) programs.push_back(read_file(path));
  const Workspace w;
  Mutator mutate(20250101);
  int accepted = 0;
  for (int k = 0; k < kRounds; ++k) {
    const std::string text = mutate(programs[static_cast<std::size_t>(k) % programs.size()], programs);
    const Output out = translate(w.write("prog.fa", text), {});
    accepted += out.ok ? 1 : 0;
    if (!out.ok) {
      ASSERT_FALSE(out.diagnostics.empty());
    } else {
      ASSERT_NE(out.program_cpp.find("tessera_program"), std::string::npos);
    }
    if (k % 50 == 0) {  // rendering reads the file again
      for (const Diagnostic& d : out.diagnostics) ASSERT_FALSE(render(d, true).empty());
    }
  }
  EXPECT_GT(accepted, kRounds / 50);  // else the mutations are too wild to test anything
}

}  // namespace
}  // namespace tessera::compiler::testing
