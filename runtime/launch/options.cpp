#include "runtime/launch/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "files/nearest.hpp"
#include "runtime/launch/config_file.hpp"
#include "runtime/launch/policy_file.hpp"

namespace tessera::launch {
namespace {

// What the flags said about things that a --config file may say too; merged when all is parsed.
struct Flags {
  std::string balancer;
  bool central = false;
  std::optional<std::int32_t> threads;
  std::string config;
  std::vector<std::string> set;  // KEY=VALUE
  balancer::Settings settings;
  std::optional<std::int32_t> inproc_ranks;
  std::vector<std::string> leaves, joins;  // RANK@SECONDS
  std::string powers;                      // 3,3,2,1
};

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const balancer::PolicyInfo& known_policy(const std::string& name, const std::string& where) {
  if (const balancer::PolicyInfo* found = find_policy(name)) return *found;
  std::vector<std::string> names;
  std::string list;
  for (const balancer::PolicyInfo& p : balancer::policies()) {
    names.emplace_back(p.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string guess = nearest(name, names);
  throw OptionsError(where + ": unknown balancer `" + name + "`" +
                     (guess.empty() ? "" : "; did you mean `" + guess + "`?") + " (there are: " + list + ")");
}

void check_settings_of(const balancer::PolicyInfo& policy, const balancer::Settings& settings,
                       const std::map<std::string, std::string>& places) {
  // One at a time, so that each complaint can say where the parameter came from.
  for (const auto& [key, value] : settings) {
    const std::vector<std::string> wrong = balancer::check_settings(policy, {{key, value}});
    if (wrong.empty()) continue;
    const auto at = places.find(key);
    throw OptionsError((at == places.end() ? "--set " + key : at->second) + ": " + wrong.front() +
                       "; `tessera policies " + std::string(policy.name) + "` lists its parameters");
  }
  const std::vector<std::string> together = balancer::check_settings(policy, settings);
  if (!together.empty()) throw OptionsError(together.front());
}

std::vector<double> powers_of(const std::string& text) {
  std::vector<double> powers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    char* rest = nullptr;
    const double power = std::strtod(word.c_str(), &rest);
    if (word.empty() || *rest != '\0' || !(power > 0) || power > 1e9) {
      throw OptionsError("--powers: write the speed of each rank as in 3,3,1.5, numbers above 0, not `" + text + "`");
    }
    powers.push_back(power);
    at = end + 1;
  }
  return powers;
}

void plan_members(const std::vector<std::string>& texts, bool joins, runtime::RunOptions& options) {
  for (const std::string& text : texts) {
    const std::size_t at = text.find('@');
    std::int32_t rank = -1;
    double seconds = -1;
    try {
      std::size_t used = 0, used_too = 0;
      rank = std::stoi(text.substr(0, at), &used);
      if (at != std::string::npos) seconds = std::stod(text.substr(at + 1), &used_too);
      if (used != at || used_too != text.size() - at - 1) rank = -1;
    } catch (const std::exception&) {
      rank = -1;
    }
    if (rank < 0 || !(seconds >= 0) || seconds > 1e9) {
      throw OptionsError(std::string(joins ? "--join" : "--leave") + ": write RANK@SECONDS, as in 2@1.5, not `" + text +
                         "`");
    }
    options.member_plan.push_back({balancer::Rank{rank}, joins, std::chrono::nanoseconds(std::llround(seconds * 1e9))});
  }
}

void merge(const Flags& flags, runtime::RunOptions& options) {
  ConfigFile config;
  if (!flags.config.empty()) config = read_config(flags.config);
  if (flags.central && !flags.balancer.empty() && flags.balancer != "central") {
    throw OptionsError("-c means --balancer central, but --balancer " + flags.balancer + " is given");
  }
  const std::string asked = flags.central ? "central" : flags.balancer;
  if (config.balancer) known_policy(*config.balancer, config.balancer_place);
  if (!asked.empty() && config.balancer && asked != *config.balancer && !config.settings.empty()) {
    throw OptionsError(config.balancer_place + ": the settings here are for the balancer `" + *config.balancer +
                       "`, but the command line asks for `" + asked + "`");
  }
  options.balancer = asked.empty() ? config.balancer.value_or("") : asked;
  // The ranks may run elsewhere.
  if (names_file(options.balancer)) options.balancer = std::filesystem::absolute(options.balancer).string();
  options.threads = flags.threads.value_or(config.threads.value_or(0));

  options.settings = config.settings;
  auto places = config.places;
  const auto put = [&](const std::string& key, const std::string& value, const std::string& from) {
    options.settings[key] = value;
    places[key] = from;
  };
  for (const auto& [key, value] : flags.settings) {
    std::string flag = key;
    std::replace(flag.begin(), flag.end(), '_', '-');
    put(key, value, "--" + flag);
  }
  for (const std::string& pair : flags.set) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw OptionsError("--set: write KEY=VALUE, not `" + pair + "`");
    }
    const std::string key = underscored(pair.substr(0, equals));
    put(key, pair.substr(equals + 1), "--set " + key);
  }

  // Parameters without a name are those of `auto`; one that only `central` has says that this is meant.
  if (options.balancer.empty() && !options.settings.empty()) {
    const auto only_central = [](const auto& setting) {
      return !balancer::has_parameter(*balancer::find_policy("auto"), setting.first) &&
             balancer::has_parameter(*balancer::find_policy("central"), setting.first);
    };
    const bool central = std::any_of(options.settings.begin(), options.settings.end(), only_central);
    options.balancer = central ? "central" : "auto";
  }
  const balancer::PolicyInfo& policy = known_policy(options.balancer.empty() ? "none" : options.balancer, "--balancer");
  check_settings_of(policy, options.settings, places);
  if (names_file(options.balancer)) options.policy = &policy;

  if (flags.inproc_ranks) {
    options.transport = "inproc";
    options.ranks = *flags.inproc_ranks + options.spares;
  }
  if (!flags.powers.empty()) options.powers = powers_of(flags.powers);
  if (!options.journal.empty()) {
    std::error_code ignored;
    options.journal = std::filesystem::absolute(options.journal, ignored).string();
  }
  plan_members(flags.leaves, false, options);
  plan_members(flags.joins, true, options);
}

void check_files(const runtime::RunOptions& options) {
  // Only the first rank of a run writes; other hosts may not even have the directory.
  for (const char* number : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char* text = std::getenv(number);
    if (text != nullptr && std::string_view(text) != "0") return;
  }
  if (!options.save_groups.empty() && options.save_groups != kBesideProgram)
    check_writable(options.save_groups, "--save-groups");
  if (!options.summary_json.empty()) check_writable(options.summary_json, "--summary");
  if (!options.record.empty()) check_writable(options.record, "--record");
  if (!options.record_policy.empty()) {
    check_directory(options.record_policy, "--record-policy");
  }
  std::error_code ignored;
  if (options.load_groups.empty() || options.load_groups == kBesideProgram) return;
  if (std::filesystem::is_directory(options.load_groups, ignored))
    throw OptionsError("--load-groups: " + options.load_groups + " is a directory");
  if (!std::filesystem::exists(options.load_groups, ignored))
    throw OptionsError("--load-groups: no such file: " + options.load_groups);
}

}  // namespace

void name_groups(runtime::RunOptions& options, const std::filesystem::path& program) {
  if (options.save_groups != kBesideProgram && options.load_groups != kBesideProgram) return;
  const std::string beside = std::filesystem::path(program).replace_extension(".groups").string();
  for (std::string* groups : {&options.save_groups, &options.load_groups}) {
    if (*groups == kBesideProgram) *groups = beside;
  }
  check_files(options);
}

namespace {

void add_balancing(CLI::App& app, runtime::RunOptions& options, const std::shared_ptr<Flags>& flags) {
  const std::string group = "Balancing";
  app.add_option("-b,--balancer", flags->balancer,
                 "how ranks are kept evenly loaded (see `tessera policies`); default: auto, on one "
                 "rank none")
      ->option_text("NAME")
      ->group(group);
  app.add_flag("-c", flags->central, "the same as --balancer central")->group(group);
  const auto parameter = [&](const std::string& name, const std::string& key, const std::string& value,
                             const std::string& help) {
    app.add_option_function<std::string>(
           name, [flags, key](const std::string& text) { flags->settings[key] = text; }, help)
        ->option_text(value)
        ->group(group);
  };
  parameter("--jobs-left-threshold", "jobs_left_threshold", "S",
            "do not move work when less than S seconds of it are left on all ranks (or auto)");
  parameter("--jobs-difference-ratio", "jobs_difference_ratio", "R",
            "do not move work between ranks whose loads differ by less than this part (or auto)");
  app.add_option("--set", flags->set, "any parameter of the balancer; may be repeated")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--config", flags->config, "balancer, threads and parameters from a TOML file")
      ->option_text("FILE")
      ->group(group);
  app.add_option("--powers", flags->powers,
                 "speeds of the ranks, relative to each other, for balancers that want to know them "
                 "beforehand; ranks not named have 1")
      ->option_text("P0,P1,...")
      ->group(group);
  app.add_option(
         "--save-groups", options.save_groups,
         "write the measured weights of this run, a profile; without FILE beside the program, as PROGRAM.groups")
      ->option_text("[FILE]")
      ->group(group);
  app.add_option("--load-groups", options.load_groups, "start with the weights of such a profile; likewise")
      ->option_text("[FILE]")
      ->group(group);
  app.add_option("--record-policy", options.record_policy,
                 "write what each rank's balancer is told and answers, for `tessera replay`")
      ->option_text("DIR")
      ->group(group);
  app.add_flag("--load-groups-anyway", options.load_groups_anyway, "accept a profile of another version of the program")
      ->group(group);
}

void add_nodes(CLI::App& app, runtime::RunOptions& options, const std::shared_ptr<Flags>& flags) {
  const std::string group = "Ranks that come and go";
  app.add_option("--spare", options.spares,
                 "start K ranks more that rest until one leaves, or `tessera join` asks for them")
      ->option_text("K")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  const auto at = [&](const char* name, std::vector<std::string>& list, const char* help) {
    app.add_option(name, list, help)->option_text("RANK@SECONDS")->allow_extra_args(false)->group(group);
  };
  app.add_option("--silence-limit", options.silence_limit,
                 "end the run when a rank has been silent for S seconds, because its process is stopped or its host "
                 "out of reach; 5 or more; "
                 "default 0: wait for it, and say so after 10 s")
      ->option_text("S")
      ->check(CLI::Validator(
          [](std::string& text) {
            char* end = nullptr;
            const long s = std::strtol(text.c_str(), &end, 10);
            return !text.empty() && *end == '\0' && (s == 0 || (s >= 5 && s <= 100'000'000))
                       ? std::string()
                       : "write 0, or 5 seconds or more, not `" + text + "`";
          },
          ""))
      ->group(group);
  at("--leave", flags->leaves, "this rank leaves at that time of the run; may be repeated");
  at("--join", flags->joins, "this rank joins at that time of the run; may be repeated");
}

void add_recovery(CLI::App& app, runtime::RunOptions& options) {
  const std::string group = "Recovery";
  app.add_option("--journal", options.journal,
                 "write down what is done, into this folder; the next run of the program with it goes on there, on any "
                 "number of ranks (docs/recovery.md)")
      ->option_text("DIR")
      ->group(group);
  app.add_option_function<std::string>(
         "--journal-interval",
         [&options](const std::string& text) {
           char* end = nullptr;
           const double s = text == "auto" ? 0 : std::strtod(text.c_str(), &end);
           if (text != "auto" && (text.empty() || *end != '\0' || !(s >= 0.001 && s <= 1e6)))
             throw CLI::ValidationError("--journal-interval: write auto, or seconds from 0.001 on, not `" + text + "`");
           options.journal_interval = s;
         },
         "seconds until what is done is written; default auto: by what writing costs, 1 to 60")
      ->option_text("S")
      ->group(group);
}

void add_advanced(CLI::App& app, runtime::RunOptions& options, const std::shared_ptr<Flags>& flags) {
  const std::string group = "Advanced";
  const auto number = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
  app.add_option("--log-level", options.log_level, "what the runtime says on stderr; default warn")
      ->option_text("LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "critical", "off"}))
      ->group(group);
  app.add_option("--cache-limit-mb", options.cache_limit_mb,
                 "memory per rank for copies of remote data fragments; default 1024")
      ->option_text("MB")
      ->check(number)
      ->group(group);
  app.add_option("--eager-bytes", options.eager_bytes,
                 "values up to this size travel to the rank that keeps their name at once, larger ones "
                 "when somebody there or elsewhere reads them; default 4096")
      ->option_text("BYTES")
      ->check(number)
      ->group(group);
  app.add_option("--relay-bytes", options.relay_bytes,
                 "a rank sends a value of at least this size once, and those that have got it pass it on; "
                 "default 65536")
      ->option_text("BYTES")
      ->check(number)
      ->group(group);
  app.add_option(
         "--record-limit-mb", options.record_limit_mb,
         "memory for the trace of --record: rank 0 needs so much at the end at most (but 2 for each rank), all ranks "
         "together less before; of a run that needs more the end is kept; default 1024")
      ->option_text("MB")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->group(group);
  app.add_option("--transport", options.transport, "auto (MPI when started by mpirun or srun), mpi, inproc")
      ->option_text("NAME")
      ->check(CLI::IsMember({"auto", "mpi", "inproc"}))
      ->group(group);
  app.add_option("--inproc-ranks", flags->inproc_ranks, "N ranks as threads of one process, for tests")
      ->option_text("N")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_option("--seed", options.seed, "inproc: delay and reorder messages under this seed; 0: off")
      ->option_text("N")
      ->group(group);
  app.add_option("--max-delay-us", options.max_delay_us, "inproc, with a seed: longest delay")
      ->option_text("US")
      ->check(number)
      ->group(group);
  app.add_option("--link-latency-us", options.link_latency_us, "inproc: emulated link latency")
      ->option_text("US")
      ->check(number)
      ->group(group);
  app.add_option("--link-bandwidth", options.link_bandwidth, "inproc: emulated link bandwidth, bytes/s; 0: unlimited")
      ->option_text("B")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_flag("--check-inputs", options.check_inputs,
               "look whether kernels write to their inputs, which others read; `tessera run -g` does")
      ->group(group);
  // Set by `tessera run` for its ranks, which can't see the terminal behind mpirun.
  app.add_flag("--progress", options.progress)->group("");
}

}  // namespace

void add_run_options(CLI::App& app, runtime::RunOptions& options, Files files) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("-t,--threads", flags->threads,
                 "threads that run fragments, per rank; 0, the default: the cores that the ranks of a host may use are "
                 "shared between them")
      ->option_text("N")
      ->check(CLI::Range(0, 4096));
  app.add_option("--record", options.record, "write a trace of the run, for `tessera simulate` and `tessera advise`")
      ->option_text("FILE");
  app.add_option("--summary", options.summary_json, "write the summary of the run as JSON")->option_text("FILE");
  app.add_flag("-q,--quiet", options.quiet, "no progress, no summary, no warnings");
  add_balancing(app, options, flags);
  add_nodes(app, options, flags);
  add_recovery(app, options);
  add_advanced(app, options, flags);
  app.parse_complete_callback([flags, files, &options] {
    try {
      merge(*flags, options);
      if (files == Files::mine) check_files(options);
    } catch (const OptionsError& e) {
      throw CLI::ValidationError(e.what());
    }
  });
}

}  // namespace tessera::launch
