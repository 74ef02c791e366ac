// `tessera fmt`: what it does to files.
#include <sys/stat.h>

#include "command.hpp"

namespace tessera::tests {
namespace {

const char* const kUgly = "sub main(){\nshow( 1 ) ;\n}\nC++ sub show(int v)${{ $}}";
const char* const kNeat = "sub main() {\n  show(1);\n}\nC++ sub show(int v) ${{ $}}\n";

TEST_F(Command, FmtRewritesFiles) {
  write("a.fa", kUgly);
  write("b.fa", kNeat);
  chmod(path("a.fa").c_str(), 0640);
  std::filesystem::create_symlink("a.fa", path("link.fa"));
  EXPECT_TRUE(ended(tessera({"fmt", "--check", "b.fa"}), 0));
  EXPECT_TRUE(ended(tessera({"fmt", "--check", "b.fa", "a.fa"}), 1, {"a.fa is not formatted"}));
  EXPECT_EQ(read("a.fa"), kUgly) << "--check writes nothing";
  const auto untouched = std::filesystem::last_write_time(path("b.fa"));
  EXPECT_TRUE(ended(tessera({"fmt", "link.fa", "b.fa"}), 0));
  EXPECT_EQ(read("a.fa"), kNeat);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.fa")));
  EXPECT_EQ(std::filesystem::last_write_time(path("b.fa")), untouched);
  struct stat s {};
  stat(path("a.fa").c_str(), &s);
  EXPECT_EQ(s.st_mode & 0777u, 0640u);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().extension(), ".fa") << entry.path() << " was left behind";
  }
}

TEST_F(Command, FmtLeavesWhatDoesNotParse) {
  write("a.fa", "sub main( { }");
  write("b.fa", kUgly);
  EXPECT_TRUE(ended(tessera({"fmt", "a.fa", "b.fa"}), 1, {"a.fa:1:", "[T131]", "left as it is"}));
  EXPECT_EQ(read("a.fa"), "sub main( { }");
  EXPECT_EQ(read("b.fa"), kNeat) << "the others are formatted";
  write("n.fa", "sub main() { f($N); }\n");
  EXPECT_TRUE(ended(tessera({"fmt", "n.fa"}), 1, {"macro `N` is not defined"}));
  EXPECT_TRUE(ended(tessera({"fmt", "-D", "N=1", "n.fa"}), 0));
  EXPECT_TRUE(ended(tessera({"fmt", "absent.fa"}), 2, {"no such file"}));
  EXPECT_TRUE(ended(tessera({"fmt"}), 2, {"files"}));
}

TEST_F(Command, FmtReadsStdin) {
  write("a.fa", kUgly);
  const std::string command = std::string("'") + TESSERA_COMMAND + "' fmt - < a.fa";
  const Outcome o = run({"sh", "-c", command});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, kNeat);
}

}  // namespace
}  // namespace tessera::tests
