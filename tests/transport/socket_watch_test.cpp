// A bell that rings for sockets, with connections of this process to itself in the place of MPI's.
#include "runtime/transport/socket_watch.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Two ends of a connection.
class Connection {
 public:
  Connection() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    here = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    connect(here, reinterpret_cast<sockaddr*>(&at), size);
    there = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    EXPECT_GE(there, 0);
  }
  ~Connection() {
    for (const int fd : {listener_, here, there}) close(fd);
  }
  void send(std::size_t bytes = 1) {
    EXPECT_EQ(write(there, std::string(bytes, 'x').data(), bytes), static_cast<ssize_t>(bytes));
  }
  // Another one that wants to be connected; nobody takes it.
  int call() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    const int who = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(who, reinterpret_cast<sockaddr*>(&at), size), 0);
    return who;
  }
  void receive() {
    char c[256];
    while (read(here, c, sizeof c) > 0) {}
  }
  int here = -1, there = -1;

 private:
  int listener_ = -1;
};

struct Watched {
  Doorbell bell;
  Connection connection;
  SocketWatch watch{bell};
  Watched() {
    watch.find();
    settle();
  }
  // Reads what there is, until nothing rings any more.
  void settle() {
    do {
      look();
      connection.receive();
    } while (rings(20ms));
  }
  // As the driver of communication: look() before looking for messages, rings() when there were none.
  void look() {
    seen = bell.count();
    watch.take();
  }
  bool rings(Clock::duration within) {
    const auto end = Clock::now() + within;
    while (Clock::now() < end) {
      if (watch.sleep(seen, end)) return true;
    }
    return false;
  }
  std::uint32_t seen = 0;
};

TEST(SocketWatch, WhatComesRings) {
  Watched w;
  EXPECT_TRUE(w.watch.watches());
  for (int i = 0; i < 20; ++i) {
    w.look();
    w.connection.send();
    EXPECT_TRUE(w.rings(20s));
    w.connection.receive();
  }
}

TEST(SocketWatch, WhatComesWhileNobodySleepsEndsTheNextSleep) {
  Watched w;
  w.look();
  w.connection.send();
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(w.rings(20s));
}

// MPI looks at its sockets now and then: that a look has found nothing says nothing while there is something to read.
TEST(SocketWatch, WhatNobodyHasReadIsSeen) {
  Watched w;
  EXPECT_FALSE(w.watch.unread());
  w.connection.send();
  EXPECT_TRUE(w.rings(20s));
  w.look();
  EXPECT_TRUE(w.watch.unread());
  w.connection.receive();
  EXPECT_FALSE(w.watch.unread());
}

// Its connection is to be watched before anything comes over it: nobody else tells of that.
TEST(SocketWatch, WhoCallsIsKnownUntilItIsLookedFor) {
  Watched w;
  w.look();
  w.connection.send();
  EXPECT_TRUE(w.rings(20s));
  w.look();
  EXPECT_FALSE(w.watch.called());
  const int who = w.connection.call();
  EXPECT_TRUE(w.rings(20s));
  EXPECT_TRUE(w.watch.take());
  EXPECT_TRUE(w.watch.called());
  w.watch.find();
  EXPECT_FALSE(w.watch.called());
  close(who);
}

TEST(SocketWatch, ARingEndsTheSleepOfEachThread) {
  Watched w;
  for (int i = 0; i < 50; ++i) {
    w.look();
    std::thread others[2];
    for (std::thread& other : others) {
      other = std::thread([&, seen = w.seen] { EXPECT_TRUE(w.watch.sleep(seen, Clock::now() + 20s)); });
    }
    if (i % 2 == 0) std::this_thread::sleep_for(1ms);
    w.bell.ring();
    for (std::thread& other : others) other.join();
  }
}

TEST(SocketWatch, WhoSleepsByTheBellAloneIsWokenBesideWhoPolls) {
  Watched w;
  for (int i = 0; i < 50; ++i) {
    w.look();
    std::thread other([&, seen = w.seen] {
      while (w.bell.count() == seen) w.bell.sleep(seen, Clock::now() + 20s);
    });
    std::thread polls([&, seen = w.seen] { w.watch.sleep(seen, Clock::now() + 20s); });
    if (i % 2 == 0) std::this_thread::sleep_for(1ms);
    w.bell.ring();
    other.join();
    polls.join();
  }
}

TEST(SocketWatch, WhereAKernelHasClosedAllTheBellIsLeft) {
  Watched w;
  w.look();
  for (const char* closed : {"anon_inode:[eventpoll]", "socket:"}) {
    for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code none;
      const std::string is = std::filesystem::read_symlink(file.path(), none).string();
      if (is.starts_with(closed)) close(std::stoi(file.path().filename().string()));
    }
  }
  const std::clock_t before = std::clock();
  EXPECT_FALSE(w.watch.sleep(w.seen, Clock::now() + 100ms));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20) << "it spins";
  w.bell.ring();
  EXPECT_TRUE(w.watch.sleep(w.seen, Clock::now() + 20s));
}

TEST(SocketWatch, WhatWasReadDoesNotRing) {
  Watched w;
  w.connection.send();
  EXPECT_TRUE(w.rings(20s));
  w.connection.send();
  w.settle();
  EXPECT_FALSE(w.rings(50ms));
}

TEST(SocketWatch, WhatNobodyReadsRingsOnce) {
  Watched w;
  w.connection.send();
  EXPECT_TRUE(w.rings(20s));
  w.look();
  const std::clock_t before = std::clock();
  EXPECT_FALSE(w.rings(200ms));
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10) << "it spins";
}

TEST(SocketWatch, ASocketThatWasFullRingsWhenItTakesMore) {
  Watched w;
  const std::vector<char> much(1 << 16);
  while (write(w.connection.here, much.data(), much.size()) > 0) {}
  do {
    w.look();
  } while (w.rings(20ms));
  std::vector<char> taken(1 << 20);
  bool rung = false;
  for (int i = 0; i < 10'000 && !rung; ++i) {
    static_cast<void>(!read(w.connection.there, taken.data(), taken.size()));
    rung = w.watch.sleep(w.seen, Clock::now() + 1ms);
  }
  EXPECT_TRUE(rung);
}

TEST(SocketWatch, ConnectionsMadeLaterAreFound) {
  Watched w;
  Connection later;
  w.watch.find();
  w.settle();
  later.send();
  EXPECT_TRUE(w.rings(20s));
}

TEST(SocketWatch, AConnectionThatEndsRings) {
  Watched w;
  shutdown(w.connection.there, SHUT_RDWR);
  EXPECT_TRUE(w.rings(20s));
}

}  // namespace
}  // namespace tessera::runtime
