#include "runtime/transport/text_collector.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace tessera::runtime::text {
namespace {

constexpr int kWaiting = 1024;  // carriers that connect at a time

// For both families where the host has both.
int listen_anywhere(std::uint16_t& port) {
  for (const int family : {AF_INET6, AF_INET}) {
    const int door = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door < 0) continue;
    const int off = 0;
    if (family == AF_INET6) setsockopt(door, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 six{};
    sockaddr_in four{};
    six.sin6_family = AF_INET6;
    four.sin_family = AF_INET;
    auto* any = family == AF_INET6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
    socklen_t size = family == AF_INET6 ? sizeof six : sizeof four;
    if (bind(door, any, size) == 0 && listen(door, kWaiting) == 0 && getsockname(door, any, &size) == 0) {
      port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
      return door;
    }
    close(door);
  }
  return -1;
}

void find_addresses(TextAddress& to) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return;
  for (const ifaddrs* a = first; a != nullptr && to.count < TextAddress::kMost; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || (a->ifa_flags & IFF_UP) == 0 || (a->ifa_flags & IFF_LOOPBACK) != 0) continue;
    in6_addr address{};
    if (a->ifa_addr->sa_family == AF_INET) {
      address.s6_addr[10] = address.s6_addr[11] = 0xff;
      memcpy(&address.s6_addr[12], &reinterpret_cast<const sockaddr_in*>(a->ifa_addr)->sin_addr, 4);
    } else if (a->ifa_addr->sa_family == AF_INET6) {
      address = reinterpret_cast<const sockaddr_in6*>(a->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;
    } else {
      continue;
    }
    to.addresses[to.count++] = address;
  }
  freeifaddrs(first);
}

}  // namespace

TextCollector::TextCollector() : door_(listen_anywhere(address_.port)) {
  find_addresses(address_);
  const bool keys = getrandom(address_.of_carrier.data(), sizeof(Key), 0) == sizeof(Key) &&
                    getrandom(address_.of_collector.data(), sizeof(Key), 0) == sizeof(Key);
  out_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (door_ < 0 || address_.count == 0 || !keys || out_ < 0) {
    for (const int fd : {door_, out_}) {
      if (fd >= 0) close(fd);
    }
    throw std::runtime_error("no place for what other hosts print");
  }
  sigset_t all, mine;
  sigfillset(&all);  // also the one for a pipe that nobody reads: then it is lost here as it would be there
  pthread_sigmask(SIG_SETMASK, &all, &mine);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &mine, nullptr);
}

TextCollector::~TextCollector() {
  orders_.give(Order::end);
  thread_.join();
  for (const auto& c : carriers_) close(c->connection);
  if (door_ >= 0) close(door_);
  close(out_);
}

void TextCollector::close_door() { orders_.give(Order::close_door); }

void TextCollector::run() {
  std::vector<pollfd> fds;
  for (;;) {
    fds.assign({{orders_.descriptor(), POLLIN, 0}, {door_, POLLIN, 0}});
    for (const auto& c : carriers_) fds.push_back({c->connection, POLLIN, 0});
    if (poll(fds.data(), fds.size(), -1) <= 0) continue;
    for (std::size_t i = 2; i < fds.size(); ++i) {
      if (fds[i].revents != 0 && !take(*carriers_[i - 2])) leave(*carriers_[i - 2]);
    }
    std::erase_if(carriers_, [](const auto& c) { return c->connection < 0; });
    if (fds[1].revents != 0) let_in();
    for (Order order; fds[0].revents != 0 && orders_.next(order);) {
      if (order == Order::end) return;
      if (order == Order::close_door && door_ >= 0) close(std::exchange(door_, -1));
      if (order == Order::bring_out) flush(nullptr);
    }
  }
}

void TextCollector::let_in() {
  const int connection = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) {
    // No descriptors are left, say: whoever is outside prints where it would have.
    if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) close(std::exchange(door_, -1));
    return;
  }
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  carriers_.push_back(std::make_unique<Carrier>(Carrier{connection}));
}

// Takes what has come; false: that was all.
bool TextCollector::take(Carrier& c) {
  std::array<char, 1 << 16> piece;
  const ssize_t n = recv(c.connection, piece.data(), piece.size(), MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  c.came.append(piece.data(), static_cast<std::size_t>(n));
  if (!c.known) {
    if (c.came.size() < sizeof(Key)) return n > 0;
    if (memcmp(c.came.data(), address_.of_carrier.data(), sizeof(Key)) != 0) return false;
    c.came.erase(0, sizeof(Key));
    c.known = send_all(c.connection, address_.of_collector.data(), sizeof(Key));
    if (!c.known) return false;
  }
  std::size_t at = 0;
  for (Frame frame; c.came.size() - at >= sizeof frame;) {
    memcpy(&frame, c.came.data() + at, sizeof frame);
    if (frame.size > kLongestText) return false;
    if (c.came.size() - at - sizeof frame < frame.size) break;
    at += sizeof frame;
    if (frame.kind == Kind::text) write_all(out_, c.came.data() + at, frame.size);
    if (frame.kind == Kind::flush) flush(&c);
    if (frame.kind == Kind::last) return false;
    if (frame.kind == Kind::drained && !c.drains.empty()) {
      const auto round = std::move(c.drains.front());
      c.drains.pop_front();
      drained(*round);
    }
    at += frame.size;
  }
  c.came.erase(0, at);
  return n > 0;
}

// Has all others send what is printed until now.
void TextCollector::flush(Carrier* asked_by) {
  const auto round = std::make_shared<Round>(Round{asked_by, 1});
  for (const auto& c : carriers_) {
    const Frame drain{Kind::drain, 0};
    if (c.get() == asked_by || !c->known || c->connection < 0) continue;
    if (send(c->connection, &drain, sizeof drain, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof drain) continue;
    c->drains.push_back(round);
    ++round->missing;
  }
  drained(*round);
}

void TextCollector::drained(Round& round) {
  if (--round.missing > 0) return;
  if (round.asked_by == nullptr) return orders_.brought_out();
  const bool there = std::any_of(carriers_.begin(), carriers_.end(),
                                 [&](const auto& c) { return c.get() == round.asked_by && c->connection >= 0; });
  const Frame flushed{Kind::flushed, 0};
  if (there) (void)!send(round.asked_by->connection, &flushed, sizeof flushed, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void TextCollector::leave(Carrier& c) {
  close(std::exchange(c.connection, -1));
  for (const auto& round : std::exchange(c.drains, {})) drained(*round);
}

}  // namespace tessera::runtime::text
