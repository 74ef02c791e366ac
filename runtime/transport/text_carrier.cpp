#include "runtime/transport/text_carrier.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/flush_output.hpp"

namespace tessera::runtime::text {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPipe = 256 << 10;
constexpr int kMoment = 100;  // ms, for the rest of a line to come
constexpr char kEndsMark = '\037';
constexpr auto kToConnect = std::chrono::seconds(1);  // rank 0 listens already

int begin_connecting(const TextAddress& to, std::size_t i) {
  const bool v4 = IN6_IS_ADDR_V4MAPPED(&to.addresses[i]);
  const int s = socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s < 0) return -1;
  sockaddr_in6 six{};
  sockaddr_in four{};
  six.sin6_family = AF_INET6;
  six.sin6_port = four.sin_port = htons(to.port);
  six.sin6_addr = to.addresses[i];
  four.sin_family = AF_INET;
  memcpy(&four.sin_addr, &to.addresses[i].s6_addr[12], sizeof four.sin_addr);
  const int begun = v4 ? connect(s, reinterpret_cast<const sockaddr*>(&four), sizeof four)
                       : connect(s, reinterpret_cast<const sockaddr*>(&six), sizeof six);
  if (begun == 0 || errno == EINPROGRESS) return s;
  close(s);
  return -1;
}

// Shows our key, and has the other side show its own.
bool is_collector(int connection, const TextAddress& to) {
  fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) & ~O_NONBLOCK);
  const timeval patience{1, 0}, none{0, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  Key shown{};
  const bool is = send_all(connection, to.of_carrier.data(), to.of_carrier.size()) &&
                  recv(connection, shown.data(), shown.size(), MSG_WAITALL) == static_cast<ssize_t>(shown.size()) &&
                  shown == to.of_collector;
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return is;
}

// By whichever of its addresses; -1: none.
int reach(const TextAddress& to) {
  std::vector<pollfd> tried;
  for (std::size_t i = 0; i < to.count; ++i) tried.push_back({begin_connecting(to, i), POLLOUT, 0});
  int reached = -1;
  for (const auto end = Clock::now() + kToConnect; reached < 0 && Clock::now() < end;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (poll(tried.data(), tried.size(), static_cast<int>(std::max<std::int64_t>(left, 1))) <= 0) continue;
    for (pollfd& p : tried) {
      if (p.fd < 0 || p.revents == 0) continue;
      const int connection = std::exchange(p.fd, -1);
      if (reached < 0 && (p.revents & (POLLERR | POLLHUP)) == 0 && is_collector(connection, to)) {
        reached = connection;
      } else {
        close(connection);
      }
    }
    if (std::all_of(tried.begin(), tried.end(), [](const pollfd& p) { return p.fd < 0; })) break;
  }
  for (const pollfd& p : tried) {
    if (p.fd >= 0) close(p.fd);
  }
  return reached;
}

}  // namespace

void write_all(int to, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(to, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody reads
    text += n;
    size -= static_cast<std::size_t>(n);
  }
}

bool send_all(int connection, const void* data, std::size_t size) {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = send(connection, next, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    next += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

TextCarrier::TextCarrier(const TextAddress& to) : connection_(reach(to)) {
  int ends[2];
  if (connection_ < 0 || pipe2(ends, O_CLOEXEC) != 0) {
    if (connection_ >= 0) close(connection_);
    throw std::runtime_error("what is printed can't go through rank 0");
  }
  pipe_ = ends[0];
  written_ = ends[1];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);  // this end
  fcntl(pipe_, F_SETPIPE_SZ, kPipe);
  held_.reserve(kLongestText);  // all it ever takes: the thread allocates nothing
  flush_output();
  before_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(written_, STDOUT_FILENO);
  sigset_t all, mine;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mine);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &mine, nullptr);
}

TextCarrier::~TextCarrier() {
  flush_output();
  dup2(before_, STDOUT_FILENO);
  orders_.give(Order::end);
  thread_.join();
  for (const int fd : {connection_, pipe_, written_, before_}) {
    if (fd >= 0) close(fd);
  }
}

void TextCarrier::run() {
  for (bool ends = false; !ends;) {
    pollfd fds[3] = {{pipe_, POLLIN, 0}, {orders_.descriptor(), POLLIN, 0}, {connection_, POLLIN, 0}};
    if (poll(fds, 3, held_.empty() ? -1 : kMoment) == 0) pass_lines(true);
    if (fds[0].revents != 0) read_pipe(false);
    if (fds[2].revents != 0) heed();
    for (Order order; fds[1].revents != 0 && orders_.next(order);) {
      read_pipe(true);
      ends = ends || order == Order::end;
      if (order == Order::bring_out) {
        asked_ = true;
        tell(Kind::flush);
      }
    }
    if (asked_ && connection_ < 0) orders_.brought_out();
  }
  tell(Kind::last);
  while (connection_ >= 0) heed();  // until it closes
}

// Takes what is there, and passes on the lines; a line without an end is kept, unless `all`.
void TextCarrier::read_pipe(bool all) {
  for (;;) {
    const std::size_t before = held_.size();
    held_.resize(kLongestText);
    const ssize_t n = read(pipe_, held_.data() + before, kLongestText - before);
    held_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n <= 0) break;
    pass_lines(false);
  }
  if (all) pass_lines(true);
}

void TextCarrier::pass_lines(bool all) {
  // A piece with a mark behind it (runtime/journal/captured.hpp) goes with it.
  const std::size_t mark = held_.rfind(kEndsMark);
  const std::size_t end = mark != held_.npos ? mark : held_.rfind('\n');
  const std::size_t size = all || held_.size() == kLongestText ? held_.size() : end == held_.npos ? 0 : end + 1;
  if (size == 0) return;
  const Frame head{Kind::text, static_cast<std::uint32_t>(size)};
  if (connection_ >= 0 && !(send_all(connection_, &head, sizeof head) && send_all(connection_, held_.data(), size)))
    disconnect();
  if (connection_ < 0) write_all(before_, held_.data(), size);
  held_.erase(0, size);
}

void TextCarrier::tell(Kind kind) {
  const Frame frame{kind, 0};
  if (connection_ >= 0 && !send_all(connection_, &frame, sizeof frame)) disconnect();
}

// What the collector says.
void TextCarrier::heed() {
  Frame frame{};
  if (recv(connection_, &frame, sizeof frame, MSG_WAITALL) != static_cast<ssize_t>(sizeof frame)) return disconnect();
  if (frame.kind == Kind::drain) {
    read_pipe(true);
    tell(Kind::drained);
  } else if (frame.kind == Kind::flushed) {
    orders_.brought_out();
  }
}

void TextCarrier::disconnect() { close(std::exchange(connection_, -1)); }

}  // namespace tessera::runtime::text
