#include "runtime/run.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "files/whole_file.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/balance/profiles.hpp"
#include "runtime/journal/of_run.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/node/arguments.hpp"
#include "runtime/node/balance_kept.hpp"
#include "runtime/node/end_of_run.hpp"
#include "runtime/node/interrupts.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/report/descriptors.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/start/agree.hpp"
#include "runtime/start/caller.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/transport/whole_lines.hpp"

namespace tessera::runtime {
namespace {

int complain(int code, const std::string& text, bool first_rank) {
  if (first_rank) std::fprintf(stderr, "tessera: error: %s\n", text.c_str());
  return code;
}
// The same to who has called this run.
int complain(const RunOptions& options, int code, const std::string& text, bool first_rank) {
  if (options.caller != nullptr) {
    options.caller->say(text);
    return code;
  }
  return complain(code, text, first_rank);
}

// Several processes were started together: they are the ranks, whatever the options say.
bool side_by_side() { return launcher_size() > 1; }

std::vector<std::unique_ptr<Transport>> make_transports(const RunOptions& o) {
  std::vector<std::unique_ptr<Transport>> all;
  if (o.caller != nullptr) {
    if (o.caller->communicator) {
      all.push_back(make_mpi_transport(o.caller->communicator));
      return all;
    }
  } else if (o.transport == "mpi" || (o.transport == "auto" && started_by_launcher()) || side_by_side()) {
    all.push_back(make_mpi_transport());
    return all;
  }
  InprocOptions in;
  in.ranks = o.transport == "inproc" ? o.ranks : 1;
  in.seed = o.seed;
  in.max_delay = std::chrono::microseconds(o.seed == 0 ? 0 : o.max_delay_us);
  in.latency = std::chrono::microseconds(o.link_latency_us);
  in.bandwidth = o.link_bandwidth;
  return make_inproc_transports(in);
}

void set_up_logging(const RunOptions& o) {
  auto logger = spdlog::get("tessera");
  if (logger == nullptr) logger = spdlog::stderr_logger_mt("tessera");
  spdlog::set_default_logger(logger);
  logger->set_pattern("tessera: %l: %v");
  logger->set_level(o.quiet ? spdlog::level::err : spdlog::level::from_str(o.log_level));
}

// What is wrong with options and arguments on so many ranks, for a person; empty: nothing. Reads the profile.
std::string refusal(const abi::Program& program, const RunOptions& options, const std::vector<std::string>& arguments,
                    std::int32_t ranks, balancer::Profile& profile) {
  if (options.caller == nullptr && side_by_side() && options.transport == "inproc") {
    return fmt::format(
        "--inproc-ranks, --transport inproc: {} processes were started together, and each of them is a rank",
        launcher_size());
  }
  if (options.caller == nullptr) {
    if (std::string wrong = check_arguments(program, arguments); !wrong.empty()) return wrong;
  }
  try {
    if (options.policy == nullptr) launch::check_ranks(options, ranks - options.spares);
  } catch (const launch::OptionsError& e) {
    return e.what();
  }
  return options.load_groups.empty() ? "" : read_profile(program, options, profile);
}

// What counts for the ranks of this process, or for all of them.
struct Begin {
  int exit_code = kExitOk;
  RunOptions options;
  balancer::Profile profile;
  Agreed agreed;
  journal::OfRun journal;
};

// With a journal, after the ranks have agreed: nobody begins, and writes, before all have read it and see the same.
int agree_on_journal(const abi::Program& program, const std::vector<std::string>& arguments, Begin& b,
                     Transport& transport) {
  const bool first = transport.rank() == Rank{0};
  const Verdict& all = b.agreed.verdict;
  Card card;
  card.version = exchange_version();
  card.host = host_name();
  if (!first) {
    card.refusal = b.journal.join(program, arguments, b.options, all.journal);
    card.refusal_code = card.refusal.empty() ? kExitOk : kExitEnvironment;
  }
  Agreed again = agree(transport, std::move(card), {}, true);
  b.agreed.early = std::move(again.early);
  const Verdict& v = again.verdict;
  return v.exit_code == kExitOk ? kExitOk : complain(v.exit_code, v.text, first);
}

Begin agreed_begin(const abi::Program& program, const RunOptions& given, const std::vector<std::string>& arguments,
                   const std::string& wrong, Transport& transport, bool alone) {
  const bool first = transport.rank() == Rank{0};
  Begin b{kExitOk, given, {}, {}, {}};
  // Who calls it may have them on rank 0 only.
  Card card = card_of(program, given.caller == nullptr ? arguments : std::vector<std::string>{});
  if (first && card.refusal_code == 0) {
    card.refusal = !wrong.empty() ? wrong : refusal(program, given, arguments, transport.size(), b.profile);
    if (card.refusal.empty() && !given.journal.empty()) {
      card.refusal = b.journal.open(program, arguments, given);
      if (given.load_groups.empty()) b.profile = b.journal.learned();
    }
    card.refusal_code = card.refusal.empty() ? kExitOk : kExitUsage;
  }
  if (alone) {
    b.exit_code = card.refusal_code == kExitOk ? kExitOk : complain(given, card.refusal_code, card.refusal, true);
    return b;
  }
  Verdict mine;
  if (first) {
    mine.options = launch::format_options(given);
    mine.profile = b.profile;
    mine.journal = b.journal.seen();
  }
  b.agreed = agree(transport, std::move(card), std::move(mine), given.quiet);
  const Verdict& v = b.agreed.verdict;
  if (v.exit_code != kExitOk) {
    b.exit_code = complain(given, v.exit_code, v.text, first);
    return b;
  }
  if (!first) {
    b.options = launch::parse_options(v.options, launch::Files::of_others);
    b.options.caller = given.caller;
    b.profile = v.profile;
    set_up_logging(b.options);
  }
  if (!b.options.journal.empty()) b.exit_code = agree_on_journal(program, arguments, b, transport);
  return b;
}

// What is left to do in a process of the run's own; the exit code.
int leave(int code) {
  end_children();
  guard_no_descriptors();
  if (const std::string word = word_of_child(); !word.empty() && code == kExitOk) {
    std::fprintf(stderr, "%s\n", word.c_str());
    return kExitProgram;
  }
  const std::string lost = files::stdout_error();
  return code == kExitOk && !lost.empty() ? complain(kExitEnvironment, lost, true) : code;
}

int run_ranks(const abi::Program& program, Begin b, const std::vector<std::string>& arguments,
              const std::vector<std::unique_ptr<Transport>>& transports, bool first, Interrupts& interrupts) {
  const RunOptions& options = b.options;
  std::vector<balancer::GroupInfo> infos = group_infos(program);
  balancer::apply_profile(b.profile, infos);
  std::vector<std::unique_ptr<Node>> nodes;
  for (auto& t : transports) {
    nodes.push_back(std::make_unique<Node>(program, options, *t, arguments));
    nodes.back()->facts.infos = infos;
    nodes.back()->facts.hosts = b.agreed.verdict.hosts;
    nodes.back()->early = std::move(b.agreed.early);
    Node& node = *nodes.back();
    if (auto journal = b.journal.of(
            node.facts, node.members, node.crew, [&node] { return places_of_series(node); },
            [&node] { return measured_links(node); }))
      node.keep_journal(std::move(journal));
  }
  if (nodes.front()->facts.worker_ranks < 1) {
    return complain(options, kExitUsage, "this balancer needs more ranks: the last one coordinates", first);
  }
  // With several ranks in one process nobody could tell which one a signal means.
  const bool signals = options.caller == nullptr && nodes.size() == 1 && nodes.front()->ranks() > 1;
  if (signals) catch_member_signals(*transports.front());
  if (options.caller == nullptr) guard_for_ranks(nodes.size());
  // The ranks of this process: each gets a thread, the first one runs here.
  std::vector<Thread> others;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    others.emplace_back([&nodes, i] { nodes[i]->run(); }, static_cast<std::int32_t>(i));
  }
  interrupts.ends([&end = *nodes.front()->end](int code) { return end.interrupted(code); });
  const int code = nodes.front()->run();
  for (auto& t : others) t.join();
  interrupts.ends(nullptr);
  // Kernels may still run, so nothing of the ranks may go.
  if (by_signal(code)) Interrupts::end_process(leave(code));
  if (code == kExitOk) b.journal.finished();
  if (signals) ignore_member_signals();
  return code;
}

}  // namespace

namespace {

// A caller goes on with its own when the run is over.
class OthersLogger {
 public:
  OthersLogger() : before_(spdlog::default_logger()) {}
  ~OthersLogger() { spdlog::set_default_logger(before_); }
  OthersLogger(const OthersLogger&) = delete;
  OthersLogger& operator=(const OthersLogger&) = delete;

 private:
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace

int run(const abi::Program& program, const RunOptions& options, const std::vector<std::string>& arguments,
        const std::string& wrong) {
  bool first = true;
  const bool own = options.caller == nullptr;  // the process
  try {
    std::optional<OthersLogger> logger;
    if (own) {
      bias::prepare();
      keep_what_kernels_free();
      print_whole_lines();
      note_open_descriptors();
    } else {
      bias::end();
      logger.emplace();
    }
    set_up_logging(options);
    auto transports = make_transports(options);
    first = transports.front()->rank() == Rank{0};
    const bool alone = transports.size() > 1 || transports.front()->size() == 1;
    // The other ranks know nothing of what is wrong on this one alone, and would wait for it.
    const auto end_all = [&options, &transport = *transports.front()](const std::exception& e) {
      const std::string text = fmt::format("rank {}: {}", balancer::index(transport.rank()), e.what());
      if (transport.size() == 1) return complain(options, kExitEnvironment, text, true);
      complain(kExitEnvironment, text, true);
      transport.abort(kExitEnvironment);
      return kExitEnvironment;
    };
    Begin b;
    try {
      b = agreed_begin(program, options, arguments, wrong, *transports.front(), alone);
    } catch (const std::exception& e) {
      return end_all(e);
    }
    if (b.exit_code != kExitOk) return b.exit_code;
    const LastWords last_words(program, own);
    Interrupts interrupts(b.options);
    try {
      const int code = run_ranks(program, std::move(b), arguments, transports, first, interrupts);
      if (own) return leave(code);
      return alone ? code : share_end(*transports.front(), *options.caller, code);
    } catch (const std::invalid_argument&) {
      throw;  // all ranks see it
    } catch (const std::exception& e) {
      return end_all(e);
    }
  } catch (const std::invalid_argument& e) {
    return complain(options, kExitUsage, e.what(), first);
  } catch (const SameOnAllRanks& e) {
    let_rank_0_speak();
    return complain(options, kExitEnvironment, e.what(), launcher_rank() == 0);
  } catch (const std::exception& e) {
    return complain(options, kExitEnvironment, e.what(), first);
  }
}

int refuse(int exit_code, const std::string& why) {
  try {
    const auto transports = make_transports({});
    Transport& transport = *transports.front();
    Card card;
    card.version = exchange_version();
    card.host = host_name();
    card.refusal_code = exit_code;
    card.refusal = why;
    if (transport.size() == 1) return complain(exit_code, why, true);
    const Verdict v = agree(transport, std::move(card), {}, true).verdict;
    return complain(v.exit_code, v.text, transport.rank() == Rank{0});
  } catch (const std::exception& e) {
    return complain(exit_code, why + "\n" + e.what(), true);
  }
}

}  // namespace tessera::runtime
