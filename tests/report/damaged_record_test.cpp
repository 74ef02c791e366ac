// Records that are cut off, changed or none: a message that says where, never a crash.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "cli/failure.hpp"
#include "cli/report/page.hpp"
#include "small_trace.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::cli {
namespace {

class DamagedRecord : public testing::Test {
 protected:
  // What is said of it; empty: nothing, there is a page.
  std::string said(const std::string& text) {
    const std::string path = (folder_ / "d.trace").string();
    std::ofstream(path, std::ios::binary) << text;
    try {
      EXPECT_GT(page_of({read_run(path)}).size(), 1000u);
      return {};
    } catch (const Failure& f) {
      EXPECT_EQ(f.exit_code(), 2);
      return f.what();
    }
  }
  static std::string changed(const std::string& from, const std::string& to) {
    std::string text = tests::kSmallTrace;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  tests::TemporaryFolder folder_;
};

TEST_F(DamagedRecord, IsToldFromAnother) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "is no trace"},
      {"<html>", "is no trace"},
      {changed("trace 1", "trace 7"), "has version '7'"},
      {std::string(tests::kSmallTrace).substr(0, 700), "d.trace:"},
      {changed("end 4\n", ""), "cut off"},
      {changed("end 4\n", "end 4\nnote more\n"), "a line behind its end"},
      {changed("end 4\n", "end 4 0123456789abcdef\n"), "take the sum away: `end 4`"},
      {changed("run 6105000 live steal\n", ""), "does not tell when its fragments ran"},
      {changed("run 6105000 live steal\n", "run 6105000 live steal\nfrom 6105000\n"), "when its run had ended"},
      {changed("run 6105000 live steal\n", "run 6105000 live steal\nfrom -1\n"), "before the run"},
      {changed("t 3 0 0 4005000", "t 9 0 0 4005000"), "times of fragment 9"},
      {changed("t 3 0 0 4005000", "t 3 7 0 4005000"), "times of rank 7"},
      {changed("t 3 0 0 4005000", "t 3 0 4 4005000"), "times of worker 4"},
      {changed("t 3 0 0 4005000", "t 3 0 0 99999999999999999"), "where a time stands"},
      {changed("4005000 2000000 1", "4005000 -2000000 1"), "less than nothing"},
      {changed("2000000 1 3 3", "2000000 8 3 3"), "times of block 8"},
      {changed("rank 1 1 same", "rank 1 99999999 same"), "count of workers"},
      {changed("slot out 1 x", "slot out 4000000000 x"), "count of indices"},
      {changed("@0:4000000", "@5:4000000"), "times of inputs"},
      {changed("1:1 : stolen", "1:1 stolen"), "where NUMBER:NUMBER stands"},
      {changed("moved 2", "moved 8"), "times of fragment 8"}};
  for (const auto& [text, part] : cases) {
    const std::string message = said(text);
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
    EXPECT_NE(message.find("d.trace"), std::string::npos) << message;
  }
}

// Any bit of one that was written with its sum.
TEST_F(DamagedRecord, IsKnownByItsSum) {
  const std::string path = (folder_ / "s.trace").string();
  said(tests::kSmallTrace);
  balancer::simulator::write_trace(path, balancer::simulator::read_trace((folder_ / "d.trace").string()));
  std::ifstream in(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(said(whole), "");
  const std::size_t before_end = whole.rfind("\nend ");
  for (std::size_t at = 0; at <= before_end; at += 11) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 1 << at % 8);
    EXPECT_NE(said(text), "") << "byte " << at << " of " << whole;
  }
}

// Cut off anywhere, and with bytes changed: nothing but a message or a page.
TEST_F(DamagedRecord, DoesNotCrash) {
  const std::string whole = tests::kSmallTrace;
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) EXPECT_NE(said(whole.substr(0, size)), "") << size;
  std::mt19937 random(24);
  const std::string bytes = "0123456789- :@\n|tfmd";
  for (int n = 0; n < 600; ++n) {
    std::string text = whole;
    for (int k = 0; k < 1 + n % 3; ++k) text[random() % text.size()] = bytes[random() % bytes.size()];
    said(text);
  }
}

}  // namespace
}  // namespace tessera::cli
