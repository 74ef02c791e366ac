// Run options as text: TESSERA_OPTIONS, and the way from the command to its ranks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/launch/options.hpp"
#include "runtime/launch/words.hpp"

namespace tessera::launch {

std::vector<std::string> normalise_flags(std::vector<std::string> words) {
  for (std::string& w : words) {
    if (w.compare(0, 2, "--") != 0) continue;
    const std::size_t end = std::min(w.find('='), w.size());
    const auto name_char = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || c == '-'; };
    if (!std::all_of(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(end), name_char)) continue;
    std::replace(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-\u0441") words[i] = "-c";  // as the operator's manual of the central balancer prints it
    if (words[i] != "--save-groups" && words[i] != "--load-groups") continue;
    const std::string next = i + 1 < words.size() ? words[i + 1] : "-";
    if (next.starts_with('-') || next.ends_with(".fa")) words[i] += std::string("=") + kBesideProgram;
  }
  return words;
}

runtime::RunOptions parse_options(std::string_view text, Files files) {
  runtime::RunOptions options;
  CLI::App app;
  app.set_help_flag();
  add_run_options(app, options, files);
  try {
    std::vector<std::string> words = normalise_flags(split_words(text));
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
    check_given(app);
  } catch (const CLI::ParseError& e) {
    throw OptionsError(e.what());
  } catch (const std::invalid_argument& e) {
    throw OptionsError(e.what());
  }
  return options;
}

runtime::RunOptions parse_environment_options() {
  const char* text = std::getenv("TESSERA_OPTIONS");
  try {
    return parse_options(text == nullptr ? "" : text);
  } catch (const OptionsError& e) {
    throw OptionsError(std::string("in TESSERA_OPTIONS: ") + e.what());
  }
}

std::string format_options(const runtime::RunOptions& o) {
  const runtime::RunOptions d;
  std::vector<std::string> words;
  const auto text = [&](const char* flag, const std::string& v, const std::string& normal) {
    if (v != normal) words.insert(words.end(), {flag, v});
  };
  const auto number = [&](const char* flag, auto v, auto normal) {
    if (v != normal) words.insert(words.end(), {flag, std::to_string(v)});
  };
  const auto flag = [&](const char* name, bool v) {
    if (v) words.emplace_back(name);
  };
  if (o.transport == "inproc")
    number("--inproc-ranks", o.ranks - o.spares, -1);
  else
    text("--transport", o.transport, d.transport);
  number("--seed", o.seed, d.seed);
  number("--max-delay-us", o.max_delay_us, d.max_delay_us);
  number("--link-latency-us", o.link_latency_us, d.link_latency_us);
  if (o.link_bandwidth > 0) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", o.link_bandwidth);
    words.insert(words.end(), {"--link-bandwidth", buffer});
  }
  number("--threads", o.threads, d.threads);
  text("--balancer", o.balancer, d.balancer);
  for (const auto& [key, value] : o.settings) words.insert(words.end(), {"--set", key + "=" + value});
  if (!o.powers.empty()) {
    std::string list;
    for (const double p : o.powers) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%s%.17g", list.empty() ? "" : ",", p);
      list += buffer;
    }
    words.insert(words.end(), {"--powers", list});
  }
  text("--save-groups", o.save_groups, d.save_groups);
  text("--load-groups", o.load_groups, d.load_groups);
  flag("--load-groups-anyway", o.load_groups_anyway);
  text("--record", o.record, d.record);
  number("--record-limit-mb", o.record_limit_mb, d.record_limit_mb);
  text("--record-policy", o.record_policy, d.record_policy);
  text("--journal", o.journal, d.journal);
  if (o.journal_interval > 0) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.17g", o.journal_interval);
    words.insert(words.end(), {"--journal-interval", buffer});
  }
  number("--spare", o.spares, d.spares);
  number("--silence-limit", o.silence_limit, d.silence_limit);
  for (const runtime::MemberPlan& p : o.member_plan) {
    char buffer[64];  // exact
    std::snprintf(buffer, sizeof buffer, "%d@%lld.%09lld", balancer::index(p.rank),
                  static_cast<long long>(p.at.count() / 1'000'000'000),
                  static_cast<long long>(p.at.count() % 1'000'000'000));
    words.insert(words.end(), {p.joins ? "--join" : "--leave", buffer});
  }
  text("--summary", o.summary_json, d.summary_json);
  flag("--quiet", o.quiet);
  flag("--check-inputs", o.check_inputs);
  flag("--progress", o.progress);
  text("--log-level", o.log_level, d.log_level);
  number("--cache-limit-mb", o.cache_limit_mb, d.cache_limit_mb);
  number("--eager-bytes", o.eager_bytes, d.eager_bytes);
  number("--relay-bytes", o.relay_bytes, d.relay_bytes);
  return join_words(words);
}

}  // namespace tessera::launch
