// Parameters: names, ranges, spellings, defaults, and the files in configs/balancer.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "balancer/policy.hpp"

namespace tessera::balancer {
namespace {

TEST(Settings, UnknownParameterNamesTheNearest) {
  const auto errors = check_settings(*find_policy("central"), {{"job_left_treshold", "1"}});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("did you mean 'jobs_left_threshold'?"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("known: coordinator, planner"), std::string::npos) << errors[0];
}

TEST(Settings, AFarNameHasNoNearest) {
  const auto errors = check_settings(*find_policy("steal"), {{"zzz", "1"}});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].find("did you mean"), std::string::npos) << errors[0];
}

TEST(Settings, APolicyWithoutParametersSaysSo) {
  EXPECT_EQ(check_settings(*find_policy("none"), {{"x", "1"}}),
            std::vector<std::string>{"balancer 'none' has no parameter 'x'; it has none"});
}

TEST(Settings, RangesAndKinds) {
  const PolicyInfo& central = *find_policy("central");
  const auto bad = [&](const char* name, const char* value) {
    const auto errors = check_settings(central, {{name, value}});
    return errors.empty() ? std::string() : errors[0];
  };
  EXPECT_EQ(bad("jobs_difference_ratio", "1.5"),
            "parameter 'jobs_difference_ratio' of balancer 'central' is '1.5'; expected a number "
            "from 0 to 1, or auto");
  EXPECT_EQ(bad("planner", "best"), "parameter 'planner' of balancer 'central' is 'best'; expected mean or makespan");
  EXPECT_EQ(bad("faithful", "yes"), "parameter 'faithful' of balancer 'central' is 'yes'; expected true or false");
  for (const char* value : {"-1", "", "abc", "1x", "nan", " 1", "0x10"}) {
    EXPECT_NE(bad("jobs_left_threshold", value), "") << value;
  }
  EXPECT_NE(bad("weight_memory", "1.5"), "");
  EXPECT_EQ(bad("jobs_left_threshold", "1"), "");
  EXPECT_EQ(bad("jobs_left_threshold", "auto"), "");
  EXPECT_NE(bad("report_delay", "auto"), "");
}

TEST(Settings, ListsOfNumbers) {
  const PolicyInfo& predictive = *find_policy("predictive");
  for (const char* value : {"3,3,2", "1", " 1 , 2.5 ", "auto"}) {
    EXPECT_TRUE(check_settings(predictive, {{"powers", value}}).empty()) << value;
  }
  for (const char* value : {"", ",", "3,", "3,,2", "3,0", "3,x", "3 2", "1,-1", "1,auto"}) {
    const auto errors = check_settings(predictive, {{"powers", value}});
    ASSERT_EQ(errors.size(), 1u) << value;
    EXPECT_NE(errors[0].find("expected numbers like 3,3,2, each from 0.001 to 1000000, or auto"), std::string::npos)
        << errors[0];
  }
}

TEST(Settings, DashesAndUnderscoresAreTheSame) {
  const PolicyInfo& central = *find_policy("central");
  EXPECT_TRUE(check_settings(central, {{"jobs-left-threshold", "2"}}).empty());
  EXPECT_EQ(setting(central, {{"jobs-left-threshold", "2"}}, "jobs_left_threshold"), "2");
  EXPECT_EQ(setting(central, {{"jobs_left_threshold", "2"}}, "jobs-left-threshold"), "2");
  EXPECT_EQ(setting(central, {}, "jobs_left_threshold"), "auto");
  const auto twice = check_settings(central, {{"jobs-left-threshold", "2"}, {"jobs_left_threshold", "3"}});
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_NE(twice[0].find("given twice"), std::string::npos);
}

TEST(Settings, EveryPolicyIsWellFormed) {
  std::set<std::string> names;
  for (const PolicyInfo& p : policies()) {
    EXPECT_TRUE(names.insert(std::string(p.name)).second);
    EXPECT_FALSE(p.summary.empty());
    EXPECT_EQ(find_policy(p.name), &p);
    for (const Parameter& parameter : p.parameters) {
      EXPECT_FALSE(parameter.help.empty()) << parameter.name;
      const Settings own = {{std::string(parameter.name), std::string(parameter.default_value)}};
      EXPECT_TRUE(check_settings(p, own).empty()) << parameter.name << ": its own default";
    }
  }
  EXPECT_EQ(find_policy("nobody"), nullptr);
}

TEST(Settings, RanksThatExecute) {
  const PolicyInfo& central = *find_policy("central");
  EXPECT_EQ(executing_ranks(central, {}, 8), 7);
  EXPECT_EQ(executing_ranks(central, {}, 1), 0);  // needs more
  EXPECT_EQ(executing_ranks(central, {{"coordinator", "colocated"}}, 8), 8);
  EXPECT_EQ(executing_ranks(*find_policy("steal"), {}, 8), 8);
  EXPECT_EQ(executing_ranks(*find_policy("none"), {}, 1), 1);
}

// The files people start from list every parameter, with its default or the mode's own value.
TEST(Settings, ConfigFilesAreCompleteAndValid) {
  const std::string folder = std::string(TESSERA_SOURCE_DIR) + "/configs/balancer/";
  for (const std::string file :
       {"none", "central", "central-faithful", "steal", "steal-faithful", "steal-published", "gossip", "diffusion",
        "auction", "torus", "tree", "mirror", "equal", "predictive", "demand", "proportional"}) {
    const toml::table t = toml::parse_file(folder + file + ".toml");
    const PolicyInfo* p = find_policy(t["balancer"].value_or(std::string()));
    ASSERT_NE(p, nullptr) << file;
    Settings settings;
    if (const toml::table* s = t["settings"].as_table()) {
      for (const auto& [key, value] : *s) {
        if (value.is_boolean()) {
          settings[std::string(key.str())] = *value.value<bool>() ? "true" : "false";
        } else if (const auto number = value.value<double>()) {
          std::ostringstream out;
          out << *number;
          settings[std::string(key.str())] = out.str();
        } else {
          settings[std::string(key.str())] = value.value_or(std::string());
        }
      }
    }
    EXPECT_EQ(check_settings(*p, settings), std::vector<std::string>{}) << file;
    EXPECT_EQ(settings.size(), p->parameters.size()) << file << " leaves out a parameter";
    for (const Parameter& parameter : p->parameters) {
      if (parameter.name == "faithful" || file == "central-faithful" || file == "steal-published") continue;
      EXPECT_EQ(settings[std::string(parameter.name)], parameter.default_value) << file << ": " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace tessera::balancer
