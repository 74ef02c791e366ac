#include "files/whole_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <iterator>

#include "tests/temporary_folder.hpp"

namespace fs = std::filesystem;

namespace tessera::files {
namespace {

class WholeFile : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_ / name; }
  static std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(folder_), {}); }

  tests::TemporaryFolder folder_;
};

TEST_F(WholeFile, ReplacesTheOldOneAndKeepsItsPermissions) {
  EXPECT_EQ(write_whole(path("f"), "one"), "");
  EXPECT_EQ(read(path("f")), "one");
  fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(write_whole(path("f"), ""), "");
  EXPECT_EQ(read(path("f")), "");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(write_whole(
                path("f"), [](std::ostream& out) { out << "two"; }, fs::perms::owner_all),
            "");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(count(), 1);
}

TEST_F(WholeFile, IsReadWholeWhateverItsSizeIsSaidToBe) {
  std::string bytes(100'000, 'x');
  bytes[50'000] = '\0';
  EXPECT_EQ(write_whole(path("f"), bytes), "");
  EXPECT_EQ(read_whole(path("f")), bytes);
  EXPECT_EQ(write_whole(path("f"), ""), "");
  EXPECT_EQ(read_whole(path("f")), "");
  EXPECT_NE(read_whole("/proc/self/status").value_or(""), "");  // which says that it is empty
  EXPECT_EQ(read_whole(path("none")), std::nullopt);
  EXPECT_EQ(read_whole(folder_), std::nullopt);
}

TEST_F(WholeFile, LinksStayLinks) {
  fs::create_directory(path("there"));
  fs::create_symlink("there/f", path("dangling"));
  fs::create_symlink("dangling", path("link"));
  for (const char* text : {"one", "two"}) {
    EXPECT_EQ(write_whole(path("link"), text), "");
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_TRUE(fs::is_symlink(path("dangling")));
    EXPECT_EQ(read(path("there/f")), text);
  }
  fs::create_symlink("round", path("round"));
  EXPECT_NE(write_whole(path("round"), ""), "");
}

TEST_F(WholeFile, PipesAndDevicesAreWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto got = std::async(std::launch::async, [&] { return read(path("pipe")); });
  EXPECT_EQ(write_whole(path("pipe"), "text"), "");
  EXPECT_EQ(got.get(), "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  // A full disk that is a device.
  if (mknod(path("full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || !std::ofstream(path("full")))
    GTEST_SKIP() << "no devices here";
  EXPECT_EQ(write_whole(path("full"), "text"), "No space left on device");
  EXPECT_TRUE(fs::is_character_file(path("full")));
}

TEST_F(WholeFile, WhatFailsLeavesTheOldOne) {
  EXPECT_EQ(write_whole(path("f"), "one"), "");
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(write_whole(path("f"), std::string(100000, 'x')), "File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(read(path("f")), "one");
  EXPECT_EQ(write_whole(path("no/such"), ""), "No such file or directory");
  EXPECT_EQ(count(), 1);
}

// However the process ends while it writes: nothing of it is left.
TEST_F(WholeFile, NothingIsSeenBeforeItIsWhole) {
  const int nameless = open(path("").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (nameless < 0) GTEST_SKIP() << "this file system knows no files without a name";
  close(nameless);
  EXPECT_EQ(write_whole(path("f"),
                        [&](std::ostream& out) {
                          out << "one" << std::flush;
                          EXPECT_EQ(count(), 0);
                        }),
            "");
  EXPECT_EQ(read(path("f")), "one");
  EXPECT_EQ(count(), 1);
}

TEST_F(WholeFile, SeveralAreAllThereOrNone) {
  const auto text = [](const char* t) { return [t](std::ostream& out) { out << t; }; };
  EXPECT_EQ(write_all({{path("a"), text("1")}, {path("b"), text("2")}}), "");
  fs::create_directory(path("folder"));
  EXPECT_EQ(write_all({{path("a"), text("3")}, {path("c"), text("4")}, {path("folder"), text("5")}}),
            path("folder").string() + ": Is a directory");
  EXPECT_EQ(read(path("a")), "1");
  EXPECT_EQ(read(path("b")), "2");
  EXPECT_EQ(count(), 3) << "no c";
}

}  // namespace
}  // namespace tessera::files
