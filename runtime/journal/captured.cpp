#include "runtime/journal/captured.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/text_frames.hpp"

namespace tessera::runtime::journal {
namespace {

constexpr int kPipe = 256 << 10;
constexpr std::size_t kPiece = 4096 - kLongestMark;  // what the system keeps in one piece
constexpr std::size_t kUnderWay = std::size_t{1} << 20;
constexpr std::size_t kMostKept = std::size_t{256} << 20;

// Whole lines, or all of it; several in one piece where they fit. Returns how much.
std::size_t print_marked(int to, std::uint64_t stream, std::uint64_t at, std::string_view text, bool all) {
  std::string_view left = text;
  while (!left.empty()) {
    std::size_t size = left.substr(0, kPiece).rfind('\n');
    if (size == left.npos) size = left.find('\n');
    if (size == left.npos && !all) break;
    size = size == left.npos ? left.size() : size + 1;
    at += size;
    std::string piece(left.substr(0, size));
    piece += mark(stream, at, piece);
    text::write_all(to, piece.data(), piece.size());
    left.remove_prefix(size);
  }
  return text.size() - left.size();
}

class Stdout final : public Captured, public std::enable_shared_from_this<Stdout> {
 public:
  Stdout(std::uint64_t s, std::chrono::milliseconds rest_of_line)
      : Captured(s), orders_(text::Stage::captured), rest_of_line_(static_cast<int>(rest_of_line.count())) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    pipe_ = ends[0];
    written_ = ends[1];
    fcntl(pipe_, F_SETFL, O_NONBLOCK);  // this end
    fcntl(pipe_, F_SETPIPE_SZ, kPipe);
    flush_output();
    before_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(written_, STDOUT_FILENO);
  }
  ~Stdout() override {
    for (const int fd : {pipe_, written_, before_}) close(fd);
  }

  void begin() {
    sigset_t all, mine;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mine);
    thread_ = std::thread([self = shared_from_this()] { self->run(); });
    pthread_sigmask(SIG_SETMASK, &mine, nullptr);
  }

  Part take() override {
    const bool all = flush_lines();
    std::unique_lock lock(mutex_);
    int in_pipe = 0;
    ioctl(pipe_, FIONREAD, &in_pipe);
    const std::uint64_t printed = read_ + static_cast<std::uint64_t>(in_pipe);
    std::uint64_t upto = 0;
    for (int tries = 0; (upto = line_end(printed)) == 0 && tries < kMoment.count(); ++tries) {
      if (tries > 0) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lock.lock();
      }
      read_pipe(next_.size() + kPipe);
    }
    if (upto == 0) upto = read_;
    orders_.give(text::Order::pass_on);
    const std::size_t size = std::min<std::uint64_t>(kept_.size(), upto - from_);
    Part part{std::exchange(from_, upto), kept_.substr(0, size), all};
    kept_.erase(0, size);
    return part;
  }
  std::size_t size() const override {
    const std::lock_guard hold(mutex_);
    return kept_.size();
  }
  void let_go() override {
    const std::lock_guard hold(mutex_);
    keeps_ = false;
    kept_ = {};
  }

  void end(std::chrono::milliseconds patience) override {
    {
      const std::lock_guard hold(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    const int nowhere = process_ends ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    flush_lines([&] { dup2(nowhere >= 0 ? nowhere : before_, STDOUT_FILENO); });
    if (nowhere >= 0) close(nowhere);
    orders_.give(text::Order::end);
    std::unique_lock lock(mutex_);
    const auto passed = [this] { return passed_on_; };
    if (patience == patience.max()) changed_.wait(lock, passed);
    const bool in_time = passed_on_ || changed_.wait_for(lock, patience, passed);
    lock.unlock();
    // Where nobody reads any more it is left behind: the process is about to end.
    if (in_time) return thread_.join();
    thread_.detach();
  }

  void print_again(std::uint64_t stream, std::uint64_t upto, const std::string& text) override {
    print_marked(before_, stream, upto - text.size(), text, true);
  }

 private:
  void run() {
    for (bool ends = false; !ends;) {
      bool brings_out = false;
      pollfd fds[2] = {{pipe_, POLLIN, 0}, {orders_.descriptor(), POLLIN, 0}};
      const bool idle = poll(fds, 2, way_.empty() ? -1 : rest_of_line_) == 0;
      for (text::Order order; orders_.next(order);) {
        ends = ends || order == text::Order::end;
        brings_out = brings_out || order == text::Order::bring_out;
      }
      do {
        {
          const std::lock_guard hold(mutex_);
          read_pipe(kUnderWay);
          way_ += std::exchange(next_, {});
        }
        pass_on(idle || brings_out || (ends && !process_ends));
      } while ((ends || brings_out) && more());
      if (brings_out) orders_.brought_out();
    }
    const std::lock_guard hold(mutex_);
    passed_on_ = true;
    changed_.notify_all();
  }

  bool more() {
    pollfd in{pipe_, POLLIN, 0};
    const std::lock_guard hold(mutex_);
    return !next_.empty() || poll(&in, 1, 0) > 0;
  }

  // Where the first line from there on ends, or the one that ends there; 0: it has not been read. With the lock held.
  std::uint64_t line_end(std::uint64_t from) const {
    if (from > read_) return 0;
    if (from <= from_) return from_;
    const std::size_t end = kept_.find('\n', from - from_ - 1);
    return end == kept_.npos ? 0 : from_ + end + 1;
  }

  // With the lock held.
  void read_pipe(std::size_t most) {
    char piece[16 << 10];
    while (next_.size() < most) {
      const ssize_t n = read(pipe_, piece, sizeof piece);
      if (n <= 0) return;
      const std::string_view text(piece, static_cast<std::size_t>(n));
      read_ += text.size();
      next_ += text;
      if (!keeps_) continue;
      if (kept_.size() > kMostKept) {  // then who has printed it counts when it is acknowledged only
        kept_.clear();
        from_ = read_ - text.size();
      }
      kept_ += text;
    }
  }

  void pass_on(bool all) {
    // What is longer than that is no line.
    for (const bool rest : {false, true}) {
      if (rest && !all && way_.size() <= kUnderWay) break;
      const std::size_t size = print_marked(before_, stream, passed_, way_, rest);
      way_.erase(0, size);
      passed_ += size;
    }
  }

  text::Orders orders_;
  int before_ = -1;   // where this process printed
  int pipe_ = -1;     // what it prints now
  int written_ = -1;  // the other end, so that there is one whatever kernels close
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string kept_;                   // not taken yet ...
  std::string next_;                   // ... and not under way yet
  std::uint64_t read_ = 0, from_ = 0;  // where both end, and where kept_ begins
  bool keeps_ = true, ended_ = false, passed_on_ = false;
  // The thread's:
  const int rest_of_line_;  // ms
  std::string way_;
  std::uint64_t passed_ = 0;
  std::thread thread_;
};

}  // namespace

std::string mark(std::uint64_t stream, std::uint64_t upto, std::string_view piece) {
  return fmt::format("{}{:x}:{:x}:{:x}:{:x}{}", kMarkBegin, stream, upto, piece.size(),
                     XXH3_64bits(piece.data(), piece.size()), kMarkEnd);
}

std::shared_ptr<Captured> capture_stdout(std::uint64_t stream, std::chrono::milliseconds rest_of_line) {
  auto captured = std::make_shared<Stdout>(stream, rest_of_line);
  captured->begin();
  return captured;
}

}  // namespace tessera::runtime::journal
