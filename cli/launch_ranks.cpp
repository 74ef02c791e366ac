#include "cli/launch_ranks.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "balancer/profile.hpp"
#include "cli/failure.hpp"
#include "cli/mpirun.hpp"
#include "cli/mpirun_notes.hpp"
#include "cli/printed_marks.hpp"
#include "cli/process.hpp"
#include "runtime/control/control_point.hpp"
#include "runtime/journal/captured.hpp"
#include "runtime/journal/folder.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/program_main.hpp"
#include "runtime/memory/resident.hpp"
#include "runtime/node/interrupts.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/open_mpi.hpp"
#include "runtime/transport/process_environment.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// Every rank reads the profile by itself; a wrong one is refused here, once, before any starts.
void check_profile(const abi::Program& program, const runtime::RunOptions& options) {
  try {
    balancer::load_profile(options.load_groups, {program.hash[0], program.hash[1]}, program.name,
                           options.load_groups_anyway);
  } catch (const balancer::ProfileError& e) {
    throw usage_error(std::string("--load-groups: ") + e.what());
  }
}

// Memory of `tessera run` for the ranks of its host. What is written there, and when:
enum At : std::uint8_t {
  // Rank 0: the run has ended well, on all ranks. On a busy machine Open MPI now and then (2 of 300 runs of four ranks)
  // takes a rank for lost that has ended well, and ends with code 1.
  kWell,
  // A rank has failed, perhaps after that: a kernel's handler of atexit() that does not return.
  kFailed,
  // ... by a mistake of the program's, or of ours.
  kMistaken,
  // Rank 0: the program has come to its end. What cannot be written then is no reason to begin it again.
  kOver,
  // From here on, a byte for each rank: it has begun on this host.
  kBegun,
};
constexpr const char* kEnds = "TESSERA_ENDS";
int ends = -1;

// With the host: what another one calls itself may see the same /proc (as hosts of one machine do).
std::string name_of_ends() {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, HOST_NAME_MAX);
  return std::string("tessera-ends-") + host;
}

void say(int at) { (void)!pwrite(ends, "x", 1, at); }
void say_failed() { say(kFailed); }
void say_over() { say(kOver); }
void say_exit(int code) {
  if (code == runtime::kExitProgram || code == runtime::kExitUsage || code == runtime::kExitInternal) say(kMistaken);
}

// On another host, or long after, the path may lead to anything.
void open_ends() {
  const char* path = std::getenv(kEnds);
  if (path == nullptr || !runtime::started_by_mpirun()) return;
  std::error_code ignored;
  const std::string file = fs::read_symlink(path, ignored).string();
  if (file == "/memfd:" + name_of_ends() + " (deleted)") ends = open(path, O_WRONLY | O_CLOEXEC);
  say(kBegun + runtime::launcher_rank());
}

// What the ranks of one start have said.
class Said {
 public:
  explicit Said(std::int32_t ranks) : bytes_(kBegun + static_cast<std::size_t>(ranks)) {
    (void)!pread(ends, bytes_.data(), bytes_.size(), 0);
  }
  bool well() const { return bytes_[kWell] != 0 && bytes_[kFailed] == 0; }
  bool mistaken() const { return bytes_[kMistaken] != 0; }
  bool over() const { return bytes_[kOver] != 0; }
  bool begun() const { return std::any_of(bytes_.begin() + kBegun, bytes_.end(), is_said); }
  bool all_are_here() const { return std::all_of(bytes_.begin() + kBegun, bytes_.end(), is_said); }

 private:
  static bool is_said(char byte) { return byte != 0; }
  std::vector<char> bytes_;
};

// What Open MPI writes to files for each run, 8 MB and a little; with less it says so in its own words, or hangs.
constexpr std::uintmax_t kForMpi = 16 << 20;

void check_room_for_mpi() {
  std::error_code failed;
  const fs::path folder = fs::temp_directory_path(failed);
  if (failed) throw environment_error("TMPDIR: " + failed.message() + ": MPI needs a folder for temporary files");
  if (fs::space(folder, failed).available >= kForMpi) return;
  throw environment_error("the folder for temporary files, " + folder.string() +
                          ", is full, and MPI needs 16 MB there; make room, or set TMPDIR to another folder");
}

}  // namespace

bool in_global_objects = false;

const abi::Program& load_program(const fs::path& file) {
  in_global_objects = true;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  in_global_objects = false;
  if (handle == nullptr) {
    const std::string why = dlerror();
    std::error_code ignored;
    if (fs::exists(file, ignored)) throw environment_error("can't load the program: " + why);
    throw environment_error(
        "there is no " + file.string() +
        " on this host: `tessera run` compiles into a cache, which all hosts have to see.\n"
        "Set XDG_CACHE_HOME to a folder on a file system that they share; or `tessera build` the program, copy it to "
        "the same path on each, and start it by mpirun or srun");
  }
  void* entry = dlsym(handle, "tessera_program");
  if (entry == nullptr) throw environment_error(file.string() + " is not a Tessera program");
  return *reinterpret_cast<const abi::Program* (*)()>(entry)();
}

int run_here(const fs::path& program, const runtime::RunOptions& options, const std::vector<std::string>& arguments) {
  launch::prepare_process();
  const abi::Program& loaded = load_program(program);
  runtime::forget_most_resident();  // the compiler's
  const int code = runtime::run(loaded, options, arguments);
  launch::bound_exit();
  return code;
}

namespace {

// Of it all only the kernels are looked at: MPI keeps memory until the end.
constexpr const char* kSanitizerOptions = "detect_leaks=0:exitcode=1";

}  // namespace

int run_sanitized(const fs::path& program, const runtime::RunOptions& options,
                  const std::vector<std::string>& arguments, const fs::path& sanitizer) {
  setenv("TESSERA_OPTIONS", launch::format_options(options).c_str(), 1);
  setenv("LD_PRELOAD", sanitizer.c_str(), 1);
  setenv("ASAN_OPTIONS", kSanitizerOptions, 0);
  std::error_code ignored;
  const std::string self = fs::read_symlink("/proc/self/exe", ignored).string();
  std::vector<std::string> words = {self, "exec-program", program.string(), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(self.c_str(), argv.data());
  throw environment_error("can't start " + self + ": " + strerror(errno));
}

int exec_program(const fs::path& program, const std::vector<std::string>& arguments) {
  launch::prepare_process();
  open_ends();
  launch::when_exit_fails = say_failed;
  runtime::tell_exit = say_exit;
  runtime::tell_over = say_over;
  const abi::Program* loaded = nullptr;
  try {
    loaded = &load_program(program);
  } catch (const Failure& e) {
    const std::string_view text = e.what();
    return runtime::refuse(
        e.exit_code(), std::string(text.substr(text.rfind("error: ") == text.npos ? 0 : text.rfind("error: ") + 7)));
  }
  const int code = launch::run_with_environment(*loaded, arguments);
  if (code != 0) {
    say(kFailed);
    say_exit(code);
  } else if (runtime::launcher_rank() == 0) {
    say(kWell);
  }
  return code;
}

namespace {

// How the ranks ended.
struct Ended {
  MpirunNotes::Meaning meaning;
  bool begun = false;
  bool in_time = false;  // by SIGTERM or SIGHUP to us
  bool over = false;     // when the program had come to its end
  // Something outside the program has ended them: a rank was killed, or a host is lost.
  bool from_outside() const {
    return begun && !over && (meaning.exit_code == 128 + SIGKILL || meaning.exit_code == runtime::kExitEnvironment);
  }
};

// A file for mpirun with this text, which goes with this process. Such files are few: one for each start.
std::string file_for_mpirun(const std::string& text) {
  const int file = memfd_create("tessera-hosts", MFD_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw environment_error(std::string("can't write a host file for mpirun: ") + strerror(errno));
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

// Everything in front of the program.
Command mpirun_command(const Launch& how) {
  std::vector<std::string> variables = {"TESSERA_OPTIONS", kEnds};
  if (std::getenv(runtime::journal::kMarks) != nullptr) variables.emplace_back(runtime::journal::kMarks);
  if (!how.sanitizer.empty()) {
    setenv("ASAN_OPTIONS", kSanitizerOptions, 0);
    variables.insert(variables.end(), {"LD_PRELOAD=" + how.sanitizer.string(), "ASAN_OPTIONS"});
  }
  Command command =
      start_of_mpirun(how.ranks, variables, how.hosts ? file_for_mpirun(hosts_for_mpirun(*how.hosts)) : "");
  command.insert(command.end(), how.mpirun_words.begin(), how.mpirun_words.end());
  return command;
}

// Ranks end together, and mpirun with them. It waits for what it has started on other hosts, and for ever if one is out
// of reach; on one host it does not end when a signal has stuck it, nor does it look at a rank that has ended then.
constexpr std::chrono::seconds kOverOnOneHost{5}, kOverOnSeveral{15};

Ended run_once(const Command& command, std::int32_t ranks, const Filter* output) {
  if (ends >= 0) close(ends);
  ends = memfd_create(name_of_ends().c_str(), MFD_CLOEXEC);
  setenv(kEnds, fmt::format("/proc/{}/fd/{}", getpid(), ends).c_str(), 1);
  MpirunNotes notes;
  const Filter filter{[&](std::string_view piece) { return notes.pass(piece); }, [&](int) { return notes.rest(); }};
  const auto over = [&](pid_t mpirun) -> std::optional<std::chrono::seconds> {
    const Said said(ranks);
    if (!said.begun()) return std::nullopt;
    const LikeUs left = descendants_like_us(mpirun);
    const bool unseen = left.ended && runtime::built_with_open_mpi();  // MPICH's looks at them all together
    if (said.all_are_here()) return !left.live.empty() && !unseen ? std::nullopt : std::optional(kOverOnOneHost);
    return !left.live.empty() ? std::nullopt : std::optional(kOverOnSeveral);
  };
  const Foreground ended = run_foreground(command, {output, &filter}, over);
  runtime::remove_left_over_sockets();  // of a rank 0 that was killed
  if (ended.unwritten != 0) throw environment_error(std::string("can't write to stdout: ") + strerror(ended.unwritten));
  const Said said(ranks);
  // A signal that comes then finds mpirun alone.
  if ((ended.exit_code == 1 || ended.late || ended.got != 0) && said.well()) return {};
  if (ended.late && !said.all_are_here()) {
    throw environment_error(
        "the ranks of this host had ended, but mpirun had not 15 s later, and was ended: another host is out of reach, "
        "and what runs there may go on until it is back");
  }
  if (ended.late && said.mistaken()) {
    throw environment_error("a rank had ended, but mpirun had not 5 s later, and was ended: a signal has stuck it");
  }
  if (ended.late) {
    return {{runtime::kExitEnvironment,
             "a rank had ended without a word, but mpirun had not 5 s later, and was ended: signals of somebody have "
             "ended the one and stuck the other"},
            true};
  }
  return {notes.meaning({ended.exit_code, ended.signalled, ended.spoke, said.begun()}), said.begun(),
          ended.got == SIGTERM || ended.got == SIGHUP, said.over()};
}

// Goes on without a host that is lost: with the ranks that the others have room for, spares taken first. Returns why
// not, for a person, or "".
std::string leave_out(const std::string& host, Launch& how, runtime::RunOptions& options) {
  if (!how.hosts) return "no --hostfile says which hosts are left";
  const std::int32_t slots = how.hosts->leave_out(host);
  if (slots == 0) return "the host file has no other";
  const std::int32_t left = std::min(how.ranks, std::max(how.hosts->slots(), how.ranks - slots));
  options.spares = std::max(0, options.spares - (how.ranks - left));
  how.ranks = left;
  try {
    launch::check_ranks(options, left - options.spares);
  } catch (const launch::OptionsError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

int run_again(const fs::path& program, std::int32_t restarts, const runtime::RunOptions& options,
              const std::vector<std::string>& arguments) {
  std::error_code ignored;
  Command command = {fs::read_symlink("/proc/self/exe", ignored).string(), "exec-program", program.string(), "--"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  setenv("TESSERA_OPTIONS", launch::format_options(options).c_str(), 1);
  for (std::int32_t again = 1;; ++again) {
    const PrintedMarks marks(options.journal);
    const Foreground ended = run_foreground(command, {&marks.filter(), nullptr});
    if (ended.unwritten != 0) {
      throw environment_error(std::string("can't write to stdout: ") + strerror(ended.unwritten));
    }
    if (ended.got == SIGTERM || ended.got == SIGHUP) return runtime::kExitContinue;
    if (ended.exit_code == 0) runtime::journal::say_finished(options.journal);
    if (!ended.signalled || ended.exit_code != 128 + SIGKILL || again > restarts) return ended.exit_code;
    fmt::print(stderr, "tessera: the run was killed; it is started again ({} of {})\n", again, restarts);
  }
}

int run_on_ranks(const fs::path& program, Launch how, runtime::RunOptions options,
                 const std::vector<std::string>& arguments) {
  // Whatever the kernels have for the start and the end of a process is the ranks'.
  if (how.sanitizer.empty() && !options.load_groups.empty()) {
    check_profile(load_program(program), options);
    in_global_objects = true;  // at the end
  }
  check_room_for_mpi();
  if (!options.journal.empty() || runtime::leaves_files(options)) runtime::have_mpirun_wait_for_ranks();
  std::error_code ignored;
  Command words = {fs::read_symlink("/proc/self/exe", ignored).string(), "exec-program", program.string(), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const bool marked = !options.journal.empty() && shows_text_as_it_is(how.mpirun_words);
  for (std::int32_t again = 1;; ++again) {
    std::optional<PrintedMarks> marks;
    if (marked) marks.emplace(options.journal);
    Command command = mpirun_command(how);
    command.insert(command.end(), words.begin(), words.end());
    setenv("TESSERA_OPTIONS", launch::format_options(options).c_str(), 1);
    const Ended e = run_once(command, how.ranks, marks ? &marks->filter() : nullptr);
    if (e.in_time && !options.journal.empty()) {
      if (!options.quiet) {
        fmt::print(stderr, "tessera: ended by a signal{}; the same command {}\n",
                   e.begun ? "" : " before the ranks had begun",
                   e.begun ? "goes on from the journal" : "begins the run");
      }
      return runtime::kExitContinue;
    }
    if (marked && e.meaning.exit_code == 0) runtime::journal::say_finished(options.journal);
    if (!e.from_outside() || again > how.restarts) {
      if (!e.meaning.text.empty()) {
        const bool lost = options.journal.empty() && e.from_outside();
        throw Failure(e.meaning.exit_code,
                      "tessera: error: " + e.meaning.text +
                          (lost ? ". With --journal DIR the same command would go on where it was" : ""));
      }
      return e.meaning.exit_code;
    }
    std::string where;
    if (const std::string& host = e.meaning.lost_host; !host.empty()) {
      // mpirun would try for a minute to reach it.
      if (const std::string wrong = leave_out(host, how, options); !wrong.empty()) {
        throw Failure(
            e.meaning.exit_code,
            fmt::format("tessera: error: {}.\nThe run is not started again by itself: {}. The same command on "
                        "hosts without {} goes on from the journal {}",
                        e.meaning.text, wrong, host, options.journal));
      }
      where = fmt::format(" without {}, on {} rank{}", host, how.ranks, how.ranks == 1 ? "" : "s");
    }
    fmt::print(stderr, "tessera: {}; the run is started again{} ({} of {})\n",
               e.meaning.text.empty() ? "the run has ended" : e.meaning.text, where, again, how.restarts);
  }
}

}  // namespace tessera::cli
