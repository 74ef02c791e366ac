#include "runtime/launch/options.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.hpp"

namespace tessera::launch {
namespace {

namespace fs = std::filesystem;

class Options : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return "'" + (folder_ / name).string() + "'";
  }
  // What parse_options says is wrong with `text`.
  static std::string complaint(const std::string& text) {
    try {
      parse_options(text);
    } catch (const OptionsError& e) {
      return e.what();
    }
    return "";
  }
  static testing::AssertionResult says(const std::string& options, const std::string& part) {
    const std::string text = complaint(options);
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << options << "\nsays: " << text << "\nwithout: " << part;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(Options, NoneAreTheDefaults) {
  const runtime::RunOptions o = parse_options("");
  EXPECT_EQ(o.transport, "auto");
  EXPECT_EQ(o.threads, 0);
  EXPECT_EQ(o.balancer, "");
  EXPECT_FALSE(o.quiet);
}

TEST_F(Options, BothSpellingsAreTheSame) {
  for (const char* text : {"-c --jobs-left-threshold 2.5 --jobs-difference-ratio=0.25",
                           "--balancer central --jobs_left_threshold=2.5 --jobs_difference_ratio 0.25"}) {
    const runtime::RunOptions o = parse_options(text);
    EXPECT_EQ(o.balancer, "central");
    EXPECT_EQ(o.settings.at("jobs_left_threshold"), "2.5");
    EXPECT_EQ(o.settings.at("jobs_difference_ratio"), "0.25");
  }
}

TEST_F(Options, ParametersSayWhichBalancerIsMeant) {
  EXPECT_EQ(parse_options("--set transfer_margin=3").balancer, "auto");
  EXPECT_EQ(parse_options("--set transfer_margin=3 --jobs-left-threshold 1").balancer, "central");
  EXPECT_EQ(parse_options("--set transfer_margin=3 --balancer steal").balancer, "steal");
  EXPECT_TRUE(says("--set foo=1", "balancer 'auto' has no parameter 'foo'"));
  EXPECT_TRUE(says("--jobs-left-threshold x", "'central'"));
  EXPECT_EQ(policy_of(parse_options(""), 1), "none");
  EXPECT_EQ(policy_of(parse_options(""), 2), "auto");
}

TEST_F(Options, SurviveTheWayToTheRanks) {
  runtime::RunOptions o;
  o.threads = 3;
  o.balancer = "steal";
  o.save_groups = (folder_ / "it's here").string();
  o.summary_json = (folder_ / "s.json").string();
  o.quiet = true;
  o.progress = true;
  o.check_inputs = true;
  o.eager_bytes = 0;
  o.relay_bytes = 1;
  o.log_level = "debug";
  o.transport = "inproc";
  o.ranks = 4;
  o.seed = 17;
  o.link_bandwidth = 1.5e9;
  o.spares = 1;
  o.silence_limit = 60;
  o.journal = (folder_ / "the journal").string();
  o.journal_interval = 0.1;
  o.powers = {3, 0.1};
  o.member_plan = {{balancer::Rank{2}, false, std::chrono::nanoseconds(1'500'000'001)},
                   {balancer::Rank{1}, false, std::chrono::seconds(1'000'000'000)},
                   {balancer::Rank{3}, true, std::chrono::nanoseconds(0)}};
  const runtime::RunOptions back = parse_options(format_options(o));
  EXPECT_EQ(back.threads, 3);
  EXPECT_EQ(back.balancer, "steal");
  EXPECT_EQ(back.save_groups, o.save_groups);
  EXPECT_EQ(back.summary_json, o.summary_json);
  EXPECT_TRUE(back.quiet);
  EXPECT_TRUE(back.progress && back.check_inputs);
  EXPECT_EQ(back.eager_bytes, o.eager_bytes);
  EXPECT_EQ(back.relay_bytes, o.relay_bytes);
  EXPECT_EQ(back.log_level, "debug");
  EXPECT_EQ(back.transport, "inproc");
  EXPECT_EQ(back.ranks, 4);
  EXPECT_EQ(back.seed, 17u);
  EXPECT_EQ(back.link_bandwidth, 1.5e9);
  EXPECT_EQ(back.spares, 1);
  EXPECT_EQ(back.silence_limit, 60);
  EXPECT_EQ(back.journal, o.journal);
  EXPECT_EQ(back.journal_interval, o.journal_interval);
  EXPECT_EQ(back.powers, o.powers);
  EXPECT_EQ(back.member_plan, o.member_plan);
  EXPECT_EQ(format_options(runtime::RunOptions{}), "");
}

TEST_F(Options, PlansAndPowersAreNumbers) {
  for (const char* text : {"--leave 2", "--leave 2@", "--leave @1", "--leave 2@x", "--leave -1@2", "--leave 1@-2",
                           "--leave 1@nan", "--join 1.5@2", "--join 1@2s"}) {
    EXPECT_TRUE(says(text, "RANK@SECONDS")) << text;
  }
  for (const char* text : {"--powers 1,,2", "--powers 0", "--powers 1,-2", "--powers fast", "--powers 1,"}) {
    EXPECT_TRUE(says(text, "--powers")) << text;
  }
}

TEST_F(Options, NothingGivenIsEmpty) {
  for (const char* name : {"--record", "--summary", "--save-groups", "--load-groups", "--record-policy", "--powers",
                           "--config", "--balancer", "--set", "--leave", "--log-level"}) {
    EXPECT_TRUE(says(name + std::string(" ''"), name)) << name;
    EXPECT_TRUE(says(name + std::string("="), name)) << name;
  }
}

TEST_F(Options, UnknownNamesAreRefusedWithAGuess) {
  EXPECT_TRUE(says("--balancer centrl", "did you mean `central`"));
  EXPECT_TRUE(says("--balancer nothing-like-it", "there are: "));
  EXPECT_TRUE(says("--balancer central --set jobs_lef_threshold=1", "--set jobs_lef_threshold"));
  EXPECT_TRUE(says("-c --jobs-left-threshold many", "--jobs-left-threshold"));
  EXPECT_TRUE(says("-c --balancer steal", "-c means --balancer central"));
  EXPECT_TRUE(says("--set threshold", "KEY=VALUE"));
  EXPECT_TRUE(says("--no-such-option", "--no-such-option"));
  EXPECT_TRUE(says("-t -1", "-t"));
  EXPECT_TRUE(says("--config 'x", "quote"));
}

TEST_F(Options, ComeFromAFileAndFlagsWin) {
  const std::string file = write("central.toml",
                                 "balancer = \"central\"\nthreads = 2\n"
                                 "[settings]\njobs-left-threshold = 3\njobs_difference_ratio = 0.5\n");
  const runtime::RunOptions o = parse_options("--config " + file + " -t 5 --jobs-left-threshold 7");
  EXPECT_EQ(o.balancer, "central");
  EXPECT_EQ(o.threads, 5);
  EXPECT_EQ(o.settings.at("jobs_left_threshold"), "7");
  EXPECT_EQ(o.settings.at("jobs_difference_ratio"), "0.5");
}

TEST_F(Options, AWrongFileIsRefusedWithItsLine) {
  EXPECT_TRUE(says("--config /no/such.toml", "no such file"));
  EXPECT_TRUE(says("--config " + write("a.toml", "\nbalancr = \"central\"\n"), "a.toml:2: unknown key"));
  EXPECT_TRUE(says("--config " + write("b.toml", "balancer = \n"), "b.toml:1"));
  EXPECT_TRUE(says("--config " + write("c.toml", "balancer = 3\n"), "c.toml:1"));
  EXPECT_TRUE(says("--config " + write("d.toml", "balancer = \"centrl\"\n"), "d.toml:1: unknown balancer"));
  EXPECT_TRUE(says("--config " + write("e.toml", "balancer = \"central\"\n[settings]\n\nspeling = 1\n"), "e.toml:4"));
  EXPECT_TRUE(says("--config " + write("f.toml", "threads = -3\n"), "f.toml:1"));
  EXPECT_TRUE(says(
      "--balancer steal --config " + write("g.toml", "balancer = \"central\"\n[settings]\njobs_left_threshold = 1\n"),
      "g.toml:1"));
}

TEST_F(Options, OutputPathsAreTriedBeforeAndLeftAlone) {
  EXPECT_TRUE(says("--summary /no/such/folder/s.json", "no directory /no/such/folder"));
  EXPECT_TRUE(says("--save-groups '" + folder_.string() + "'", "is a directory"));
  EXPECT_TRUE(says("--load-groups /no/such/profile", "no such file"));
  parse_options("--summary '" + (folder_ / "new.json").string() + "'");
  EXPECT_TRUE(fs::is_empty(folder_));
  const std::string old = write("old.json", "kept");
  parse_options("--summary " + old);
  EXPECT_EQ(fs::file_size(folder_ / "old.json"), 4u);
}

TEST_F(Options, ACoordinatorNeedsASecondRank) {
  runtime::RunOptions o;
  EXPECT_NO_THROW(check_ranks(o, 1));
  o.balancer = "central";
  EXPECT_THROW(check_ranks(o, 1), OptionsError);
  EXPECT_NO_THROW(check_ranks(o, 2));
}

TEST_F(Options, ComeFromTheEnvironment) {
  setenv("TESSERA_OPTIONS", "-t 2 --quiet", 1);
  EXPECT_EQ(parse_environment_options().threads, 2);
  setenv("TESSERA_OPTIONS", "--tread 2", 1);
  EXPECT_THROW(parse_environment_options(), OptionsError);
  unsetenv("TESSERA_OPTIONS");
  EXPECT_EQ(parse_environment_options().threads, 0);
}

}  // namespace
}  // namespace tessera::launch
