// `tessera status` and `tessera top`: what a run does now, once and as it goes on.
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "balancer/units.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/run_connection.hpp"
#include "cli/tools.hpp"

namespace tessera::cli {
namespace {

using StatusText = nlohmann::json;

constexpr int kBarWidth = 20;
constexpr std::size_t kMostGroups = 12, kLastDecisions = 5;
constexpr std::size_t kLeastRanks = 4, kLeastRunning = 3;  // lines on a small screen
constexpr std::size_t kAll = ~std::size_t{0};

struct StatusRequest {
  std::optional<std::int32_t> run;
  bool json = false, waiting = false;
  double interval = 1;  // s
};

// What the run says of itself; nothing: it has ended.
std::optional<std::string> ask_status(const LiveRun& run, const char* what) {
  Connection c(run.socket, false);
  c.say(what);
  const std::optional<std::string> line = c.hear();
  if (c.late()) throw usage_error("process " + std::to_string(run.pid) + " " + kSilentRun);
  if (!line || *line == "no the run has ended") return std::nullopt;
  if (line->rfind("ok ", 0) != 0) throw usage_error("process " + std::to_string(run.pid) + " says: " + *line);
  return line->substr(3);
}

std::string seconds_text(double s) { return balancer::duration_text(static_cast<balancer::Time>(s * 1e9)); }

// Since the last look, where there was one.
double since(const StatusText& now, const StatusText& before, const char* what) {
  const double n = now[what].get<double>();
  return before.is_null() ? n : std::max(0.0, n - before[what].get<double>());
}

// A line of a rank, or of all.
std::string load_line(const std::string& name, double busy, const std::string& share, const StatusText& x) {
  const int full = static_cast<int>(busy * kBarWidth + 0.5);
  return fmt::format("  {:>4}  {}{} {:>7}  {:10}{:10}{:10}{:>10}  {}, {}", name,
                     std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(kBarWidth - full), '.'), share, x["done"].get<std::int64_t>(),
                     x["ready"].get<std::int64_t>(), x["waiting"].get<std::int64_t>(),
                     balancer::bytes_text(x["memory_bytes"].get<double>()), x["moved_in"].get<std::int64_t>(),
                     x["moved_out"].get<std::int64_t>());
}
std::string part_text(double busy) { return fmt::format("{:.0f} %", 100 * busy); }

// Which of the ranks are shown where there is room for so many lines: the busiest and the idlest.
std::vector<bool> shown_ranks(const std::vector<double>& busy, std::size_t most) {
  std::vector<bool> shown(busy.size(), busy.size() <= most);
  if (busy.size() <= most) return shown;
  std::vector<std::size_t> order(busy.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
  const std::size_t busiest = most / 2;
  for (std::size_t k = 0; k + 1 < most; ++k)
    shown[k < busiest ? order[k] : order[order.size() - 1 - (k - busiest)]] = true;
  return shown;
}

// `most`: lines for ranks.
std::string rank_lines(const StatusText& s, const StatusText& before, std::size_t most) {
  std::string text = fmt::format("  {:>4}  {:<28}  {:>10}{:>10}{:>10}{:>10}  moved in, out\n", "rank", "busy", "done",
                                 "ready", "waiting", "memory");
  const double seconds = std::max(1e-9, since(s, before, "seconds"));
  std::vector<double> all_busy;
  double sum = 0, all_workers = 0;
  StatusText total{{"done", 0}, {"ready", 0}, {"waiting", 0}, {"memory_bytes", 0}, {"moved_in", 0}, {"moved_out", 0}};
  for (std::size_t r = 0; r < s["ranks"].size(); ++r) {
    const StatusText& x = s["ranks"][r];
    const StatusText old = before.is_null() ? StatusText() : before["ranks"].at(r);
    const double workers = x["workers"].get<double>();
    all_busy.push_back(workers == 0 ? 0 : std::min(1.0, since(x, old, "busy_seconds") / (seconds * workers)));
    sum += all_busy.back() * workers, all_workers += workers;
    // Ranks of one process tell of the whole process.
    const bool alone = !x["host"].get<std::string>().empty();
    for (auto& [what, n] : total.items()) {
      const auto of_all = n.get<std::int64_t>(), own = x[what].get<std::int64_t>();
      n = what == "memory_bytes" && !alone ? std::max(of_all, own) : of_all + own;
    }
  }
  if (s["ranks"].size() > 1) {
    const double busy = all_workers == 0 ? 0 : sum / all_workers;
    text += load_line("all", busy, part_text(busy), total) + "\n";
  }
  const std::vector<bool> shown = shown_ranks(all_busy, most);
  double least = 1, greatest = 0;
  for (std::size_t r = 0; r < s["ranks"].size(); ++r) {
    const StatusText& x = s["ranks"][r];
    const double busy = all_busy[r];
    if (!shown[r]) {
      least = std::min(least, busy), greatest = std::max(greatest, busy);
      continue;
    }
    const bool heard = x["heard"].get<bool>();
    text += load_line(std::to_string(r), busy,
                      !heard                            ? "?"
                      : x["workers"].get<double>() == 0 ? "plans"
                                                        : part_text(busy),
                      x);
    if (!x["host"].get<std::string>().empty()) text += "  " + x["host"].get<std::string>();
    if (x["part"] == "left") text += "  has left";
    if (x["part"] == "rests") text += "  rests: a spare";
    if (!heard) {
      text += "  has not answered yet";
    } else if (!x["answered"].get<bool>()) {
      text += "  has not answered for a second: numbers of before";
    }
    text += "\n";
  }
  if (const auto hidden = std::count(shown.begin(), shown.end(), false); hidden > 0)
    text += fmt::format("  ... and {} ranks more, {} to {} busy\n", hidden, part_text(least), part_text(greatest));
  return text;
}

// `most` of them, the longest.
std::string running_lines(const StatusText& s, std::size_t most) {
  std::vector<double> times;
  for (const StatusText& x : s["ranks"]) {
    for (const StatusText& f : x["running"]) times.push_back(f["seconds"].get<double>());
  }
  std::sort(times.rbegin(), times.rend());
  const double least = times.size() > most ? times[most - 1] : 0;
  std::string text;
  std::size_t told = 0;
  for (const StatusText& x : s["ranks"]) {
    for (const StatusText& f : x["running"]) {
      if (told == most || f["seconds"].get<double>() < least) continue;
      ++told;
      text += fmt::format("  rank {} runs {}", x["rank"].get<int>(), f["fragment"].get<std::string>());
      const double seconds = f["seconds"].get<double>();
      if (seconds > 0) text += fmt::format(", for {} so far", seconds_text(seconds));
      if (f.contains("mean_of_group_seconds")) {
        const double mean = f["mean_of_group_seconds"].get<double>();
        text += fmt::format(": {:.0f} times as long as its group in the mean ({})", seconds / mean, seconds_text(mean));
      }
      text += "\n";
    }
  }
  if (told < times.size()) text += fmt::format("  ... and {} more fragments run\n", times.size() - told);
  return text;
}

std::string group_lines(const StatusText& s, const StatusText& before) {
  const double seconds = std::max(1e-9, since(s, before, "seconds"));
  std::map<std::string, double> old;
  if (!before.is_null()) {
    for (const StatusText& g : before["groups"])
      old[g["label"].get<std::string>() + g["at"].get<std::string>()] = g["count"];
  }
  std::vector<std::pair<double, std::string>> lines;
  for (const StatusText& g : s["groups"]) {
    const std::string label = g["label"], at = g["at"];
    const double count = g["count"].get<double>(), mean = g["mean_ns"].get<double>();
    const double rate = (count - old[label + at]) / seconds;
    const std::size_t slash = at.rfind('/');
    lines.emplace_back(count * mean,
                       fmt::format("  {:<20} {:<24} {:>12.0f} {:>10} {:>12} /s\n", label.substr(0, 20),
                                   slash == std::string::npos ? at : at.substr(slash + 1), count,
                                   seconds_text(mean * 1e-9), fmt::format("{:.{}f}", rate, rate < 10 ? 1 : 0)));
  }
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format("  {:<20} {:<24} {:>12} {:>10} {:>12}\n", "group", "at", "count", "mean", "rate");
  for (std::size_t k = 0; k < std::min(lines.size(), kMostGroups); ++k) text += lines[k].second;
  if (lines.size() > kMostGroups) text += fmt::format("  ... and {} more\n", lines.size() - kMostGroups);
  return text;
}

// What is waited for in the end, who waits for it, and who makes it.
std::string waiting_lines(const StatusText& s) {
  const auto fragments = s["fragments"].get<std::int64_t>();
  if (fragments == 0) return "  nothing waits for a value\n";
  std::string text = fmt::format("  {} fragment{} wait{} for values\n", fragments, fragments == 1 ? "" : "s",
                                 fragments == 1 ? "s" : "");
  for (const StatusText& x : s["first"]) {
    const auto others = x["behind"].get<std::int64_t>() - 1;
    text += fmt::format("  {}\n      waits for `{}`", x["fragment"].get<std::string>(), x["for"].get<std::string>());
    if (others > 0) text += fmt::format(", {} more wait{} behind it", others, others == 1 ? "s" : "");
    if (const auto alike = x.value("alike", std::int64_t{0}); alike > 0)
      text += fmt::format("; and {} value{} more like {}", alike, alike == 1 ? "" : "s", alike == 1 ? "it" : "these");
    if (x.contains("made_by")) {
      const StatusText& by = x["made_by"];
      const double seconds = by["seconds"].get<double>();
      text +=
          fmt::format("\n      rank {} is making it: {}{}", by["rank"].get<int>(), by["fragment"].get<std::string>(),
                      seconds > 0 ? fmt::format(", for {} so far", seconds_text(seconds)) : "");
    } else if (const std::string producers = x["producers"]; !producers.empty()) {
      text += "\n      comes from " + producers + ": ready, on its way, or still to be created";
    }
    text += "\n";
  }
  if (const auto more = s["more"].get<std::int64_t>(); more > 0 && s["first"].empty()) {
    text += "  what they wait for came while it was asked: the run goes on\n";
  } else if (more > 0) {
    text += fmt::format("  ... and {} more values that are waited for and not made by who waits\n", more);
  }
  return text;
}

// On a screen of so many lines.
std::string status_text(const StatusText& s, const StatusText& before, std::size_t rows) {
  std::string text = fmt::format("{} on {} rank{}, balancer {}, for {}\n\n", s["program"].get<std::string>(),
                                 s["ranks"].size(), s["ranks"].size() == 1 ? "" : "s", s["balancer"].get<std::string>(),
                                 seconds_text(s["seconds"].get<double>()));
  if (s.contains("outlook")) text.insert(text.size() - 1, "  " + s["outlook"]["text"].get<std::string>() + "\n");
  const std::size_t head = text.size();
  text += "\n" + group_lines(s, before);
  if (const std::string running = running_lines(s, rows == kAll ? kAll : std::max(kLeastRunning, rows / 5));
      !running.empty())
    text += "\n" + running;
  std::vector<std::pair<std::int64_t, std::string>> decisions;
  for (const auto& [why, times] : s["decisions"].items()) decisions.emplace_back(times.get<std::int64_t>(), why);
  std::sort(decisions.rbegin(), decisions.rend());
  std::string said;
  for (std::size_t k = 0; k < std::min(decisions.size(), kLastDecisions); ++k) {
    said += fmt::format("{}{} {}", k == 0 ? "" : ", ", decisions[k].second, decisions[k].first);
  }
  if (!said.empty()) text += "\n  decisions: " + said + "\n";
  if (s.contains("waits")) text += "\n" + waiting_lines(s["waits"]);
  // Ranks have what is left of the screen.
  const auto others = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 3;
  text.insert(head, rank_lines(s, before, rows == kAll ? kAll : std::max(kLeastRanks, rows - std::min(rows, others))));
  return text;
}

int status(const StatusRequest& q) {
  const std::optional<std::string> said = ask_status(choose_run(q.run), q.waiting ? "waits" : "status");
  if (!said) throw usage_error("the run ended before it answered");
  const StatusText s = StatusText::parse(*said);
  std::fputs(q.json ? (s.dump(2) + "\n").c_str() : status_text(s, {}, kAll).c_str(), stdout);
  return runtime::kExitOk;
}

volatile std::sig_atomic_t interrupted = 0;

// The terminal as `top` has it: a screen of its own, keys at once; as before when it is gone.
class Screen {
 public:
  Screen() {
    if (isatty(STDOUT_FILENO) == 0) return;
    on_ = true;
    keys_ = isatty(STDIN_FILENO) != 0 && tcgetattr(STDIN_FILENO, &before_) == 0;
    if (keys_) {
      termios t = before_;
      t.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      tcsetattr(STDIN_FILENO, TCSANOW, &t);
    }
    put("\033[?1049h\033[?25l");
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaction(s, &action, nullptr);
  }
  Screen(const Screen&) = delete;
  ~Screen() {
    if (!on_) return;
    put("\033[?25h\033[?1049l");
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  // Its lines; kAll: it is none.
  std::size_t rows() const { return on_ ? size().first : kAll; }
  // What fits, from the top.
  void show(const std::string& text) const {
    if (!on_) return put(text + "\n");
    const auto [rows, columns] = size();
    std::string all = "\033[H";
    std::size_t row = 0, at = 0;
    for (; row + 1 < rows && at < text.size(); ++row) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      all += text.substr(at, std::min(end - at, columns)) + "\033[K\r\n";
      at = end + 1;
    }
    put(all + "q, Ctrl-C: leaves (the run goes on)\033[K\033[J");
  }
  // Waits; true: somebody wants to leave.
  bool wait(double seconds) const {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    while (interrupted == 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) return false;
      pollfd on{keys_ ? STDIN_FILENO : -1, POLLIN, 0};
      if (poll(&on, 1, static_cast<int>(left)) <= 0) continue;
      char c = 0;
      if (read(STDIN_FILENO, &c, 1) != 1 || c == 'q' || c == 'Q') return true;
    }
    return true;
  }

 private:
  static std::pair<std::size_t, std::size_t> size() {
    winsize s{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &s) == 0 && s.ws_col > 1 && s.ws_row > 1;
    return known ? std::pair<std::size_t, std::size_t>{s.ws_row, s.ws_col}
                 : std::pair<std::size_t, std::size_t>{24, 80};
  }
  static void put(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  bool on_ = false, keys_ = false;
  termios before_{};
};

int top(const StatusRequest& q) {
  while (q.run && is_about_to_begin(*q.run)) usleep(50'000);
  const LiveRun run = choose_run(q.run);
  StatusText before;
  std::string last;
  {
    const Screen screen;
    do {
      const std::optional<std::string> said = ask_status(run, "status");
      if (!said) {
        last = run.about + ": the run has ended\n";
        break;
      }
      if (q.json) {
        std::fputs((*said + "\n").c_str(), stdout);
        std::fflush(stdout);
        continue;
      }
      StatusText now = StatusText::parse(*said);
      screen.show(status_text(now, before, screen.rows()));
      before = std::move(now);
    } while (!screen.wait(q.interval));
  }
  if (!q.json) std::fputs(last.c_str(), stdout);
  return runtime::kExitOk;
}

std::shared_ptr<StatusRequest> of_run(CLI::App& sub) {
  auto q = std::make_shared<StatusRequest>();
  sub.add_option("--run", q->run,
                 "process of the run, or one that started it (tessera, mpirun; `top` waits until it begins); needed "
                 "when several "
                 "programs run here")
      ->option_text("PID");
  sub.add_flag("--json", q->json, "for programs: all numbers");
  return q;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("status", tool_about("status"));
  const auto q = of_run(*sub);
  sub->add_flag("--waiting", q->waiting, "also what waits for what, and who makes that");
  sub->footer("docs/reading-a-report.md says what the columns mean.\n\n  tessera run prog.fa -n 4 &\n  tessera status");
  sub->callback([q, &action] { action = [q](const Arguments&) { return status(*q); }; });

  CLI::App* live = app.add_subcommand("top", tool_about("top"));
  const auto l = of_run(*live);
  live->add_option("--interval", l->interval, "seconds between two looks; default 1")
      ->option_text("S")
      ->check(CLI::Range(0.1, 3600.0));
  live->footer("With --json, or where stdout is no terminal, one look after the other is printed, until the run ends.");
  live->callback([l, &action] { action = [l](const Arguments&) { return top(*l); }; });
}

}  // namespace tessera::cli
