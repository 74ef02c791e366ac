// What a process prints, kept and marked on its way.
#include "runtime/journal/captured.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/flush_output.hpp"
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
      unsigned long size = 0;
      EXPECT_EQ(std::sscanf(all.c_str() + at, "\036tessera:%lx:%lx:%lx:", &stream, &upto, &size), 3);
      EXPECT_EQ(size, out.text.size() - (out.marks.empty() ? 0 : out.marks.back().first));
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

// Threads print lines, short and long, at once or in parts, and do so yet when the process ends to go on another time:
// what each sweep takes ends with a line, and so does what is passed on.
TEST_F(CapturedText, EndsWithALineWheneverItIsTaken) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const std::string kept = folder_ / "kept";
    const CameOut out = printed([&] {
      std::setvbuf(stdout, nullptr, _IOLBF, 1 << 20);
      std::mt19937 chance(seed);
      std::atomic<bool> enough{false};
      const auto captured = capture_stdout(77);
      std::vector<std::thread> printing;
      for (int t = 0; t < 2; ++t) {
        printing.emplace_back([&, t, mine = std::mt19937(seed * 2 + t)]() mutable {
          while (!enough.load()) {
            const std::string line(mine() % 50 == 0 ? mine() % 20'000 : mine() % 60, static_cast<char>('a' + t));
            if (t == 0) {
              std::printf("%s.\n", line.c_str());
            } else {
              for (const std::string& part : {"<" + line, std::string("> "), std::string("end\n")})
                std::fputs(part.c_str(), stdout);
            }
            if (mine() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mine() % 300));
          }
        });
      }
      std::string all;
      std::uint64_t upto = 0;
      const auto sweep = [&] {
        const Captured::Part part = captured->take();
        if (part.from != upto || (!part.text.empty() && part.text.back() != '\n')) _exit(1);
        upto += part.text.size();
        all += part.text;
      };
      for (unsigned k = 0, sweeps = 3 + chance() % 10; k < sweeps; ++k) {
        std::this_thread::sleep_for(std::chrono::microseconds(chance() % 10'000));
        sweep();
      }
      process_ends = true;
      captured->end(std::chrono::seconds(10));
      enough = true;
      std::ofstream(kept) << all;
      for (std::thread& t : printing) t.join();
      std::fflush(stdout);
    });
    std::ifstream in(kept, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    EXPECT_GT(all.size(), 300u);
    ASSERT_FALSE(out.marks.empty());
    const std::size_t passed = out.marks.back().first;
    EXPECT_GE(passed, all.size());
    EXPECT_TRUE(out.text.starts_with(all)) << seed;
    EXPECT_EQ(out.text[passed - 1], '\n') << seed;
    EXPECT_EQ(out.text.size(), passed) << "of what was printed later";
  }
}

// It is in the journal, and is printed with the rest of its line.
TEST_F(CapturedText, HalfALineIsNotPassedOnByWhoGoesOnAnotherTime) {
  const CameOut out = printed([] {
    const auto captured = capture_stdout(77, std::chrono::minutes(10));
    std::printf("one\nhalf");
    std::fflush(stdout);
    if (captured->take().text != "one\nhalf") _exit(1);
    process_ends = true;
    captured->end(std::chrono::seconds(10));
  });
  EXPECT_EQ(out.text, "one\n");
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

// What a kernel gives std::cout piece by piece is a line, too. (A thread that is not run for long within one is no
// fault.)
TEST_F(CapturedText, PiecesOfALineAreNotTakenApart) {
  std::fflush(nullptr);
  constexpr int kTimes = 100;
  const std::filesystem::path out = folder_ / "out";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    std::atomic<bool> ended{false};
    std::thread prints([&] {
      for (int k = 0; !ended.load(); ++k) std::cout << k << " is the line of " << k << "\n";
    });
    int within = 0;
    for (int k = 0; k < kTimes; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      flush_lines([&] {
        char last = '\n';
        if (const off_t size = lseek(STDOUT_FILENO, 0, SEEK_END); size > 0) {
          const int file = open(out.c_str(), O_RDONLY);
          within += pread(file, &last, 1, size - 1) == 1 && last != '\n' ? 1 : 0;
          close(file);
        }
      });
    }
    ended.store(true);
    prints.join();
    _exit(within);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_LT(WEXITSTATUS(status), kTimes / 10);
}

}  // namespace
}  // namespace tessera::runtime::journal
