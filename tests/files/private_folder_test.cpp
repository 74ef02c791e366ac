#include "files/private_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/temporary_folder.hpp"

namespace fs = std::filesystem;

namespace tessera::files {
namespace {

class Private : public testing::Test {
 protected:
  fs::path folder() const { return in_ / "own"; }
  bool ours_alone() const {
    return (fs::status(folder()).permissions() & static_cast<fs::perms>(077)) == fs::perms::none;
  }

  tests::TemporaryFolder in_;
};

TEST_F(Private, IsMade) {
  const PrivateFolder made = make_private(folder());
  EXPECT_EQ(made.wrong, "");
  EXPECT_FALSE(made.was_open);
  EXPECT_TRUE(ours_alone());
}

TEST_F(Private, OneThatOthersReadIsClosed) {
  fs::create_directory(folder());
  fs::permissions(folder(), static_cast<fs::perms>(0755));
  const PrivateFolder made = make_private(folder());
  EXPECT_EQ(made.wrong, "");
  EXPECT_FALSE(made.was_open);
  EXPECT_TRUE(ours_alone());
}

TEST_F(Private, OneThatOthersWroteToIsToldApart) {
  for (const unsigned mode : {0770u, 0777u, 01777u}) {
    fs::create_directory(folder());
    fs::permissions(folder(), static_cast<fs::perms>(mode));
    EXPECT_TRUE(make_private(folder()).was_open) << mode;
    EXPECT_TRUE(ours_alone());
    fs::remove(folder());
  }
}

TEST_F(Private, WhatIsNoFolderOrAnothersIsRefused) {
  std::ofstream(folder()) << "text";
  EXPECT_NE(make_private(folder()).wrong, "");
  fs::remove(folder());
  EXPECT_NE(make_private(in_ / "none/own").wrong, "");
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  fs::create_directory(folder());
  ASSERT_EQ(chown(folder().c_str(), 65534, 65534), 0);
  EXPECT_NE(make_private(folder()).wrong.find("uid 65534"), std::string::npos);
  // Nor does a link that another user made lead anywhere.
  fs::create_directory(in_ / "mine");
  fs::create_directory_symlink(in_ / "mine", in_ / "link");
  EXPECT_EQ(make_private(in_ / "link").wrong, "");
  ASSERT_EQ(lchown((in_ / "link").c_str(), 65534, 65534), 0);
  EXPECT_NE(make_private(in_ / "link").wrong, "");
}

}  // namespace
}  // namespace tessera::files
