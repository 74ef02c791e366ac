#include "runtime/run.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include "files/whole_file.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/balance/profiles.hpp"
#include "runtime/node/arguments.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/transport/whole_lines.hpp"

namespace tessera::runtime {
namespace {

int complain(int code, const std::string& text, bool first_rank) {
  if (first_rank) std::fprintf(stderr, "tessera: error: %s\n", text.c_str());
  return code;
}

std::vector<std::unique_ptr<Transport>> make_transports(const RunOptions& o) {
  std::vector<std::unique_ptr<Transport>> all;
  if (o.transport == "mpi" || (o.transport == "auto" && started_by_launcher())) {
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
  spdlog::set_pattern("tessera: %l: %v");
  spdlog::set_level(o.quiet ? spdlog::level::err : spdlog::level::from_str(o.log_level));
}

// run_ranks runs the ranks of this process. Wrong arguments are refused by all ranks alike.
int run_ranks(const abi::Program& program, const RunOptions& options,
              const std::vector<std::string>& arguments,
              const std::vector<std::unique_ptr<Transport>>& transports, bool first) {
  if (const std::string wrong = check_arguments(program, arguments); !wrong.empty()) {
    return complain(kExitUsage, wrong, first);
  }
  std::vector<balancer::GroupInfo> infos = group_infos(program);
  if (!options.load_groups.empty()) {
    const std::string wrong = load_profile(program, options, infos);
    if (!wrong.empty()) return complain(kExitUsage, wrong, first);
  }
  std::vector<std::unique_ptr<Node>> nodes;
  for (auto& t : transports) {
    nodes.push_back(std::make_unique<Node>(program, options, *t, arguments));
    nodes.back()->infos = infos;
  }
  if (nodes.front()->worker_ranks < 1) {
    return complain(kExitUsage, "this balancer needs more ranks: the last one coordinates",
                    first);
  }
  // With several ranks in one process nobody could tell which one a signal means.
  const bool signals = nodes.size() == 1 && nodes.front()->ranks() > 1;
  if (signals) catch_member_signals(*transports.front());
  // The ranks of this process: each gets a thread, the first one runs here.
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    others.emplace_back([&nodes, i] { nodes[i]->run(); });
  }
  const int code = nodes.front()->run();
  for (auto& t : others) t.join();
  if (signals) ignore_member_signals();
  return code;
}

}  // namespace

int run(const abi::Program& program, const RunOptions& options,
        const std::vector<std::string>& arguments) {
  bool first = true;
  try {
    if (program.abi_version != abi::kAbiVersion) {
      return complain(kExitUsage,
                      "this program was built by another version of tessera; build it again", true);
    }
    print_whole_lines();
    set_up_logging(options);
    auto transports = make_transports(options);
    first = transports.front()->rank() == Rank{0};
    const LastWords last_words(program);
    try {
      const int code = run_ranks(program, options, arguments, transports, first);
      const std::string lost = files::stdout_error();
      return code == kExitOk && !lost.empty() ? complain(kExitEnvironment, lost, true) : code;
    } catch (const std::invalid_argument&) {
      throw;  // all ranks see it
    } catch (const std::exception& e) {
      // The other ranks know nothing of it, and would wait for this one.
      Transport& transport = *transports.front();
      complain(kExitEnvironment,
               fmt::format("rank {}: {}", balancer::index(transport.rank()), e.what()), true);
      if (transport.size() > 1) transport.abort(kExitEnvironment);
      return kExitEnvironment;
    }
  } catch (const std::invalid_argument& e) {
    return complain(kExitUsage, e.what(), first);
  } catch (const std::exception& e) {
    return complain(kExitEnvironment, e.what(), first);
  }
}

}  // namespace tessera::runtime
