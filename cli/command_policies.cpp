#include <cstdio>
#include <memory>

#include "balancer/policy.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "files/nearest.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/policy_file.hpp"

namespace tessera::cli {
namespace {

std::string text(std::string_view s) { return std::string(s); }

void print_one(const balancer::PolicyInfo& policy) {
  std::printf("%s: %s\n", text(policy.name).c_str(), text(policy.summary).c_str());
  if (policy.parameters.empty()) std::printf("  no parameters\n");
  for (const balancer::Parameter& p : policy.parameters) {
    std::printf("\n  %s (default %s)\n      %s\n", text(p.name).c_str(), text(p.default_value).c_str(),
                text(p.help).c_str());
    std::string choices;
    for (const std::string_view c : p.choices) choices += (choices.empty() ? "" : ", ") + text(c);
    if (!choices.empty()) std::printf("      one of: %s\n", choices.c_str());
  }
}

int run(const std::string& name) {
  if (name.empty()) {
    for (const balancer::PolicyInfo& p : balancer::policies()) {
      std::printf("%-14s %s\n", text(p.name).c_str(), text(p.summary).c_str());
    }
    std::printf("\n`tessera policies NAME` lists the parameters of one.\n");
    return runtime::kExitOk;
  }
  try {
    if (const balancer::PolicyInfo* policy = launch::find_policy(name)) {
      print_one(*policy);
      return runtime::kExitOk;
    }
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  std::vector<std::string> names;
  for (const balancer::PolicyInfo& p : balancer::policies()) names.emplace_back(p.name);
  const std::string guess = nearest(name, names);
  throw usage_error("unknown balancer `" + name + "`" +
                    (guess.empty() ? "; `tessera policies` lists them" : "; did you mean `" + guess + "`?"));
}

}  // namespace

void add_policies(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("policies", "list the balancers and their parameters");
  const auto name = std::make_shared<std::string>();
  sub->add_option("name", *name, "show the parameters of this one")->option_text("NAME");
  sub->footer(
      "Parameters are given by --set NAME=VALUE or in a file:\n\n"
      "  tessera run prog.fa -n 4 --balancer steal --set faithful=true\n"
      "  tessera run prog.fa -n 4 --config balancer.toml");
  sub->callback([name, &action] { action = [name](const Arguments&) { return run(*name); }; });
}

}  // namespace tessera::cli
