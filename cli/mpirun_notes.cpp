#include "cli/mpirun_notes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <utility>

#include "runtime/run.hpp"
#include "runtime/transport/open_mpi.hpp"

namespace tessera::cli {
namespace {

constexpr std::string_view kFrame = "--------------------------------------------------------------------------\n";

// How the notes begin that are read here, or say what a rank has said better.
const std::regex& known_note() {
  static const std::regex pattern(
      R"(^(\w*mpi\w*|prterun) (was unable to (launch|find)|noticed that|detected that|has exited due to))"
      R"(|^(Primary job|MPI_ABORT was invoked|ORTE has lost communication|PRTE has lost communication))"
      R"(|^(An ORTE daemon has unexpectedly|ORTE was unable to reliably start|ORTE does not know how))");
  return pattern;
}

// Lines outside notes that belong to them.
const std::regex& beside_notes() {
  static const std::regex pattern(
      R"(^(\d+ total process(es)? failed to start|\[warn\] Epoll .*|mpirun: Forwarding signal \d+ to job)"
      R"(|\[\S+\] (\d+ more process(es)? (has|have) sent help message|Set MCA parameter "orte_base_help_aggregate").*)\n)");
  return pattern;
}

// mpirun says that it passes on SIGCONT, which batch systems send before SIGTERM.
constexpr std::string_view kForwarding = "mpirun: Forwarding signal ";

// A note that mpirun could not read: of a rank that called MPI_Abort and ended before all of it had come.
const std::regex& torn_note() {
  static const std::regex pattern(R"(^\[\S+\] \S+ ORTE_ERROR_LOG: .* in file \S*/show_help\.c at line)");
  return pattern;
}

// What its parts say of each other where one of them has ended; only of use where nobody else says what was wrong.
const std::regex& of_its_parts() {
  static const std::regex pattern(R"(^\[[^\]\s]+\] (PMIX|PRTE|OPAL) ERROR: .* in file \S+ at line \d+\n$)");
  return pattern;
}

}  // namespace

std::string MpirunNotes::pass(std::string_view piece) {
  std::string shown;
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    partial_ += piece.substr(0, end == piece.npos ? end : end + 1);
    if (end == piece.npos) break;
    piece.remove_prefix(end + 1);
    line(std::exchange(partial_, {}), shown);
  }
  // What can't become a line of mpirun's is shown as it comes: a prompt, say.
  if (frame_.empty() && !partial_.empty() && partial_[0] != '-' && partial_[0] != '[' &&
      !std::isdigit(static_cast<unsigned char>(partial_[0])) && !kForwarding.starts_with(partial_) &&
      !partial_.starts_with(kForwarding)) {
    shown += std::exchange(partial_, {});
  }
  return shown;
}

void MpirunNotes::line(std::string_view text, std::string& shown) {
  if (frame_.empty()) {
    if (text == kFrame) {
      frame_ = text;
    } else if (std::regex_search(std::string(text), torn_note())) {
      notes_.emplace_back();
    } else if (std::regex_search(std::string(text), of_its_parts())) {
      of_its_parts_ += text;
    } else if (!std::regex_search(std::string(text), beside_notes())) {
      shown += text;
    }
    return;
  }
  if (!in_note_) {
    if (text == kFrame) {  // that was the end of one that is not kept
      shown += frame_;
      return;
    }
    in_note_ = std::regex_search(std::string(text), known_note());
    frame_ += text;
    if (!in_note_) shown += std::exchange(frame_, {});
    return;
  }
  if (text != kFrame) {
    frame_ += text;
    return;
  }
  notes_.push_back(std::exchange(frame_, {}).substr(kFrame.size()));
  in_note_ = false;
}

std::string MpirunNotes::rest() { return std::exchange(frame_, {}) + std::exchange(partial_, {}); }

std::optional<std::vector<std::string>> MpirunNotes::find(const char* pattern) const {
  const std::regex wanted(pattern);
  for (const std::string& note : notes_) {
    std::smatch match;
    if (std::regex_search(note, match, wanted)) return std::vector<std::string>(match.begin(), match.end());
  }
  return std::nullopt;
}

MpirunNotes::Meaning MpirunNotes::meaning(const Ended& e) const {
  using runtime::kExitEnvironment;
  if (e.exit_code == 0 || e.exit_code == runtime::kExitInterrupted) return {e.exit_code, ""};
  if (e.signalled) {
    const int signal = e.exit_code - 128;
    return {e.exit_code, fmt::format("mpirun was ended by signal {} ({}){}", signal, strsignal(signal),
                                     signal == SIGKILL ? ": by the system for want of memory, or by somebody" : "")};
  }
  // MPICH's frames its notes in another way, and they are shown; its exit code is the ranks'.
  if (!runtime::built_with_open_mpi()) return {e.exit_code, ""};
  if (const auto lost = find(R"(lost communication with a remote daemon[^]*Remote daemon\s*:.* on node (\S+))")) {
    return {kExitEnvironment,
            fmt::format("host {0} is lost: Open MPI's daemon there (orted) was ended, or the network to it has failed",
                        (*lost)[1]),
            (*lost)[1]};
  }
  if (const auto absent = find(R"(was unable to[^]*?(?:Executable|Node):\s*(\S+)\s+(?:Executable|Node):\s*(\S+))")) {
    const bool executable_first = (*absent)[1].find('/') != std::string::npos;
    const std::string& what = (*absent)[executable_first ? 1 : 2];
    const std::string& host = (*absent)[executable_first ? 2 : 1];
    return {kExitEnvironment, fmt::format("host {0} can't start {1}: it is not there, or may not be executed. Tessera "
                                          "must be installed at the same place on "
                                          "all hosts, or on a file system that they share",
                                          host, what)};
  }
  if (find(R"(daemon has unexpectedly failed|unable to reliably start)")) {
    return {kExitEnvironment,
            "mpirun could not start its daemon (orted) on another host: does `ssh HOST true` work without a password, "
            "and is "
            "the same Open MPI there?"};
  }
  if (const auto ended = find(R"(noticed that process rank (\d+) with PID \d+ on node (\S+) exited on signal (\d+))")) {
    const int signal = std::atoi((*ended)[3].c_str());
    const std::string who = fmt::format("rank {} on {}", (*ended)[1], (*ended)[2]);
    if (signal == SIGKILL) return {e.exit_code, who + " was killed: by the system for want of memory, or by somebody"};
    return {e.exit_code, fmt::format("{} was ended by signal {} ({})", who, signal, strsignal(signal))};
  }
  // Of a rank that ends badly it would have said so.
  if (e.exit_code == 1 && notes_.empty() && e.begun) return {runtime::kExitInterrupted, "mpirun was ended by a signal"};
  if (e.spoke) {
    // Beyond those of ranks and signals they are the numbers of mpirun's own faults, which ssh or mpirun has told.
    return {e.exit_code > 128 + SIGSYS || (!e.begun && notes_.empty()) ? kExitEnvironment : e.exit_code, ""};
  }
  const auto who = find(R"(Process name: \[\[\d+,\d+\],(\d+)\])");
  return {
      e.exit_code,
      fmt::format(
          "mpirun ended with exit code {}, and {} said why: did a signal end mpirun, or does a kernel call _exit()?\n"
          "To see whether mpirun starts ranks at all: mpirun -n 2 --oversubscribe hostname",
          e.exit_code, who ? "rank " + (*who)[1] + ", which ended first, has not" : "no rank") +
          (of_its_parts_.empty() ? "" : "\nIts parts said:\n" + of_its_parts_.substr(0, of_its_parts_.size() - 1))};
}

}  // namespace tessera::cli
