// What a process prints, kept and marked on its way.
#include "runtime/journal/captured.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/transport/bring_out_text.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::runtime::journal {
namespace {

// What came out: the text without marks, and where it had come to at each of them, by its own count and by the mark.
struct CameOut {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> marks;
};

class CapturedText : public testing::Test {
 protected:
  // A process prints, and is looked at.
  template <class F>
  CameOut printed(F body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      dup2(open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      body();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return read(folder_ / "out");
  }
  static CameOut read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    CameOut out;
    for (std::size_t at; (at = all.find(kMarkBegin)) != all.npos;) {
      out.text += all.substr(0, at);
      unsigned long stream = 0, upto = 0;
      EXPECT_EQ(std::sscanf(all.c_str() + at, "\036tessera:%lx:%lx\037", &stream, &upto), 2);
      EXPECT_EQ(stream, 77u);
      out.marks.emplace_back(out.text.size(), upto);
      all.erase(0, all.find(kMarkEnd, at) + 1);
    }
    out.text += all;
    return out;
  }
  tests::TemporaryFolder folder_;
};

TEST_F(CapturedText, IsKeptUntilItIsTaken) {
  const std::string kept = folder_ / "kept";
  const CameOut out = printed([&] {
    const auto captured = capture_stdout(77);
    std::ofstream file(kept);
    std::printf("one\ntwo\n");
    if (system("echo a child") != 0) _exit(1);
    for (int k = 0; k < 2; ++k) {
      const Captured::Part part = captured->take();
      file << part.from << " " << part.text << "|" << part.all << "\n";
      std::printf("hal");
    }
    captured->let_go();
    std::printf("f a line\n");
    file << captured->take().text.size() << "\n";
    file.close();
    captured->end(std::chrono::milliseconds::max());
    std::printf("after\n");
    std::fflush(stdout);
  });
  std::ifstream in(kept);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  // (The child writes at once, what this process prints into a file waits.)
  EXPECT_TRUE(file == "0 a child\none\ntwo\n|1\n16 hal|1\n0\n" || file == "0 one\ntwo\na child\n|1\n16 hal|1\n0\n")
      << file;
  EXPECT_EQ(out.text.substr(16), "halhalf a line\nafter\n");
  ASSERT_FALSE(out.marks.empty());
  EXPECT_EQ(out.marks.back().first, out.text.size() - 6);
  for (const auto& [counted, said] : out.marks) EXPECT_EQ(counted, said);
}

// Ranks of one host print by one pipe: what is written at a time is not cut by others.
TEST_F(CapturedText, IsPassedOnInWholeLines) {
  constexpr std::size_t kLong = 900'000;
  const CameOut out = printed([&] {
    const auto captured = capture_stdout(77);
    for (int k = 0; k < 8; ++k) {
      const std::string line = std::string(kLong, static_cast<char>('a' + k)) + "\n";
      for (std::size_t at = 0; at < line.size();)
        at += static_cast<std::size_t>(write(STDOUT_FILENO, line.data() + at, line.size() - at));
      std::printf("short\n");
      std::fflush(stdout);
    }
    captured->end(std::chrono::milliseconds::max());
  });
  EXPECT_EQ(out.text.size(), 8 * (kLong + 1 + 6));
  for (const auto& [counted, said] : out.marks) {
    EXPECT_EQ(counted, said);
    EXPECT_EQ(out.text[counted - 1], '\n') << counted;
  }
}

TEST_F(CapturedText, IsBroughtOutBeforeAProcessEnds) {
  const CameOut out = printed([] {
    const auto captured = capture_stdout(77);
    std::printf("the last words");
    std::fflush(stdout);
    text::bring_out_text();
    _exit(0);
  });
  EXPECT_EQ(out.text, "the last words");
}

TEST_F(CapturedText, OfARunBeforeIsPrintedWithItsMarks) {
  const std::string before(10'000, 'x');
  const CameOut out = printed([&] {
    const auto captured = capture_stdout(5);
    captured->print_again(77, 20'000, "one\n" + before);
    captured->end(std::chrono::milliseconds::max());
  });
  EXPECT_EQ(out.text, "one\n" + before);
  ASSERT_EQ(out.marks.size(), 2u);
  EXPECT_EQ(out.marks[0], (std::pair<std::size_t, std::size_t>{4, 20'000 - 10'000}));
  EXPECT_EQ(out.marks[1].second, 20'000u);
}

}  // namespace
}  // namespace tessera::runtime::journal
