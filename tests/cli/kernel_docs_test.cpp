// docs/kernels.md: each C++ block with the program and the output that follow it.
#include <fstream>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

class KernelDocs : public Command {
 protected:
  // Fenced blocks in order: what stands behind the fence, and the text.
  static std::vector<std::pair<std::string, std::string>> blocks() {
    std::ifstream in(TESSERA_ROOT "/docs/kernels.md");
    std::vector<std::pair<std::string, std::string>> all;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("```", 0) == 0) {
        inside = !inside;
        if (inside) all.emplace_back(line.substr(3), "");
      } else if (inside) {
        all.back().second += line + "\n";
      }
    }
    return all;
  }
};

TEST_F(KernelDocs, ExamplesPrintWhatIsShown) {
  const auto all = blocks();
  int examples = 0;
  for (std::size_t k = 0; k + 2 < all.size(); ++k) {
    if (all[k].first != "cpp" || all[k + 1].first != "" || all[k + 2].first != "text") continue;
    const std::string folder = "example " + std::to_string(++examples);
    write(folder + "/kernels.cpp", all[k].second);
    write(folder + "/p.fa", all[k + 1].second);
    const Outcome o = tessera({"run", "-q", folder + "/p.fa"});
    EXPECT_TRUE(ended(o, 0)) << all[k].second;
    EXPECT_EQ(o.out, all[k + 2].second);
    EXPECT_EQ(o.err, "");
  }
  EXPECT_EQ(examples, 4);
}

}  // namespace
}  // namespace tessera::tests
