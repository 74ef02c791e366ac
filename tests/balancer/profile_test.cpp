// Profile files: what is written comes back; everything else is refused with a reason, and the file
// is left as it was.
#include "balancer/profile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tessera::balancer {
namespace {

namespace fs = std::filesystem;

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tessera_profile_" + std::to_string(::getpid()) + "_" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    path_ = (folder_ / "groups.toml").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Profile example() {
    Profile p;
    p.hash = {0x0123456789abcdef, 0xfedcba9876543210};
    p.program = "dir with \"quotes\"/matmul.fa";
    p.groups = {{"matmul.fa:24", "mul", 1000, 60'000'000, 1.25e12, 2'073'600, 920, true},
                {"matmul.fa:10", "init \\ tab\t", 200, 2'600'000, 0, 0, 0, false}};
    return p;
  }
  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void write(const std::string& t) const { std::ofstream(path_, std::ios::binary) << t; }
  // The reason load_profile gives; the file must be untouched by it.
  std::string refusal(std::array<std::uint64_t, 2> hash = example().hash, bool anyway = false) const {
    const std::string before = fs::is_regular_file(path_) ? text() : "";
    std::string why = "(accepted)";
    try {
      load_profile(path_, hash, "matmul.fa", anyway);
    } catch (const ProfileError& e) {
      why = e.what();
    }
    EXPECT_EQ(fs::is_regular_file(path_) ? text() : "", before);
    return why;
  }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
  std::string path_;
};

TEST_F(ProfileTest, ComesBackAsItWas) {
  save_profile(path_, example());
  EXPECT_EQ(load_profile(path_, example().hash, "matmul.fa", false), example());
  EXPECT_EQ(files(), 1u);
  save_profile(path_, Profile{example().hash, "empty.fa", {}});
  EXPECT_TRUE(load_profile(path_, example().hash, "empty.fa", false).groups.empty());
}

TEST_F(ProfileTest, EveryTruncationIsRefused) {
  save_profile(path_, example());
  const std::string whole = text();
  for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
    write(whole.substr(0, n));
    ASSERT_NE(refusal(), "(accepted)") << "the first " << n << " bytes";
  }
  write(whole.substr(0, whole.find("\n[end]")));
  EXPECT_EQ(refusal(), "profile '" + path_ + "' is truncated: its end is missing");
}

TEST_F(ProfileTest, EveryFlippedByteIsRefused) {
  save_profile(path_, example());
  const std::string whole = text();
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string broken = whole;
    broken[i] = static_cast<char>(broken[i] ^ 1);
    write(broken);
    ASSERT_NE(refusal(), "(accepted)") << "byte " << i << " '" << whole[i] << "'";
  }
}

TEST_F(ProfileTest, OtherFilesAreNoProfiles) {
  write("balancer = \"central\"\n");
  EXPECT_NE(refusal().find("is not a profile"), std::string::npos) << refusal();
  write(
      "\x7f"
      "ELF\1\2\3");
  EXPECT_NE(refusal().find("is broken"), std::string::npos) << refusal();
  write("");
  EXPECT_NE(refusal().find("is empty"), std::string::npos) << refusal();
  fs::remove(path_);
  EXPECT_NE(refusal().find("does not exist"), std::string::npos) << refusal();
  fs::create_directory(path_);
  EXPECT_NE(refusal().find("is not a file"), std::string::npos) << refusal();
}

TEST_F(ProfileTest, AForeignProfileIsRefusedUnlessAnyway) {
  save_profile(path_, example());
  EXPECT_NE(refusal({1, 2}).find("belongs to program"), std::string::npos) << refusal({1, 2});
  EXPECT_NE(refusal({1, 2}).find("--load-groups-anyway"), std::string::npos);
  EXPECT_EQ(refusal({1, 2}, true), "(accepted)");
  Profile own = example();
  own.program = "matmul.fa";
  save_profile(path_, own);
  EXPECT_NE(refusal({1, 2}).find("another version"), std::string::npos) << refusal({1, 2});
}

TEST_F(ProfileTest, AnotherVersionOfTheFormatIsRefused) {
  save_profile(path_, example());
  std::string t = text();
  t.replace(t.find("version = 1"), 11, "version = 2");
  write(t);
  EXPECT_NE(refusal().find("has version 2"), std::string::npos) << refusal();
}

TEST_F(ProfileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  save_profile(path_, example());
  const std::string before = text();
  EXPECT_THROW(save_profile((folder_ / "no" / "such" / "p.toml").string(), example()), ProfileError);
  EXPECT_EQ(text(), before);
  EXPECT_EQ(files(), 1u);
}

TEST(Profile, AppliesByLabelAndPosition) {
  Profile p;
  p.groups = {{"a.fa:1", "mul", 10, 100, 4, 0, 3, true},
              {"a.fa:2", "mul", 20, 200, 0, 0, 0, false},
              {"a.fa:1", "mul", 30, 300, 0, 0, 0, true},
              {"a.fa:9", "gone", 1, 1, 0, 0, 0, true}};
  std::vector<GroupInfo> groups(5);
  groups[0].label = "mul at a.fa:2";
  groups[1].label = "mul at a.fa:1";
  groups[2].label = "new at a.fa:3";
  groups[3].label = "mul at a.fa:1";  // the second on that line
  EXPECT_EQ(apply_profile(p, groups), 3u);
  EXPECT_EQ(groups[0].profile_weight, 200);
  EXPECT_TRUE(groups[0].never_moved);
  EXPECT_EQ(groups[1].profile_weight, 100);
  EXPECT_EQ(groups[1].profile_variance, 4);
  EXPECT_FALSE(groups[1].never_moved);
  EXPECT_EQ(groups[2].profile_count, 0);
  EXPECT_EQ(groups[3].profile_weight, 300);
}

}  // namespace
}  // namespace tessera::balancer
