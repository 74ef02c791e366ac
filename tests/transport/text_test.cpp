// What is printed in several processes is printed by one: whole, all of it, whatever becomes of them.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/transport/bring_out_text.hpp"
#include "runtime/transport/text_carrier.hpp"
#include "runtime/transport/text_collector.hpp"

namespace tessera::runtime::text {
namespace {

// Reader has what is written into its pipe.
class Reader {
 public:
  Reader() {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
    thread_ = std::thread([this] {
      char piece[4096];
      for (ssize_t n; (n = read(ends_[0], piece, sizeof piece)) > 0;) text_.append(piece, static_cast<std::size_t>(n));
    });
  }
  ~Reader() {
    if (thread_.joinable()) (void)text();
    close(ends_[0]);
  }
  int descriptor() const { return ends_[1]; }
  // When all have closed it.
  const std::string& text() {
    close(std::exchange(ends_[1], -1));
    if (thread_.joinable()) thread_.join();
    return text_;
  }

 private:
  int ends_[2];
  std::string text_;
  std::thread thread_;
};

// A collector that prints into a pipe, on this machine.
class TextTest : public testing::Test {
 protected:
  void SetUp() override {
    std::fflush(stdout);
    const int mine = dup(STDOUT_FILENO);
    dup2(printed.descriptor(), STDOUT_FILENO);
    collector = std::make_unique<TextCollector>();
    dup2(mine, STDOUT_FILENO);
    close(mine);
    address = collector->address();
    address.count = 1;
    address.addresses[0] = {};
    address.addresses[0].s6_addr[10] = address.addresses[0].s6_addr[11] = 0xff;
    address.addresses[0].s6_addr[12] = 127;
    address.addresses[0].s6_addr[15] = 1;
  }
  // A process with a carrier that prints; it ends at once, without destructors, unless `print` has had it end.
  pid_t process(const std::function<void(std::unique_ptr<TextCarrier>&)>& print, int prints_into = -1) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child != 0) return child;
    if (prints_into >= 0) dup2(prints_into, STDOUT_FILENO);
    auto carrier = std::make_unique<TextCarrier>(address);
    print(carrier);
    _exit(HasFailure() ? 1 : 0);
  }
  // In a process of its own, which has orders of its own.
  static void expect_not_reached(const TextAddress& to) {
    const pid_t child = fork();
    if (child == 0) {
      EXPECT_THROW(TextCarrier{to}, std::runtime_error);
      _exit(HasFailure() ? 1 : 0);
    }
    join(child);
  }
  static void join(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  static std::string line(int process, int k) {
    return std::to_string(process) + " " + std::to_string(k) + " " + std::string(k % 100 == 7 ? 9000 : k % 50, 'x') +
           " end";
  }
  // How many whole lines there are of each process, which come in order.
  static std::map<int, int> lines_of(const std::string& text) {
    std::map<int, int> next;
    std::istringstream in(text);
    for (std::string l; std::getline(in, l);) {
      const int process = std::atoi(l.c_str());
      EXPECT_EQ(l, line(process, next[process]));
      ++next[process];
    }
    return next;
  }

  Reader printed;
  std::unique_ptr<TextCollector> collector;
  TextAddress address;
};

constexpr int kLines = 2000;

TEST_F(TextTest, LinesOfSeveralProcessesComeWhole) {
  std::vector<pid_t> all;
  for (int p = 0; p < 3; ++p) {
    all.push_back(process([p](auto& carrier) {
      for (int k = 0; k < kLines; ++k) {
        const std::string text = line(p, k) + "\n";
        if (k % 2 == 0) {
          std::printf("%s", text.c_str());
          std::fflush(stdout);
        } else {
          EXPECT_GT(write(STDOUT_FILENO, text.data(), text.size()), 0);
        }
      }
      carrier.reset();
    }));
  }
  for (const pid_t p : all) join(p);
  collector.reset();
  EXPECT_EQ(lines_of(printed.text()), (std::map<int, int>{{0, kLines}, {1, kLines}, {2, kLines}}));
}

TEST_F(TextTest, WhoEndsAtOnceHasAllBroughtOut) {
  int told[2];  // the first tells the second that it has printed, and lives on
  ASSERT_EQ(pipe(told), 0);
  const pid_t first = process([&](auto&) {
    for (int k = 0; k < kLines; ++k) std::printf("%s\n", line(0, k).c_str());
    std::fflush(stdout);
    EXPECT_EQ(write(told[1], "x", 1), 1);
    pause();
  });
  const pid_t second = process([&](auto&) {
    char x = 0;
    EXPECT_EQ(read(told[0], &x, 1), 1);
    for (int k = 0; k < kLines; ++k) std::printf("%s\n", line(1, k).c_str());
    std::printf("the last words");
    std::fflush(stdout);
    bring_out_text();
  });
  join(second);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  collector.reset();
  std::string text = printed.text();
  const std::size_t last = text.find("the last words");
  ASSERT_NE(last, text.npos);
  text.erase(last, 14);
  EXPECT_EQ(lines_of(text), (std::map<int, int>{{0, kLines}, {1, kLines}}));
  for (const int end : told) close(end);
}

TEST_F(TextTest, WhereTheCollectorIsGoneItIsPrintedWhereItWouldHaveBeen) {
  Reader own;
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = process(
      [&](auto& carrier) {
        char x = 0;
        EXPECT_EQ(read(told[0], &x, 1), 1);
        for (int k = 0; k < kLines; ++k) std::printf("%s\n", line(0, k).c_str());
        carrier.reset();
        std::printf("after it\n");
        std::fflush(stdout);
      },
      own.descriptor());
  usleep(50'000);
  collector.reset();
  EXPECT_EQ(write(told[1], "x", 1), 1);
  join(child);
  std::string text = own.text();
  ASSERT_GT(text.size(), 9u);
  EXPECT_EQ(text.substr(text.size() - 9), "after it\n");
  EXPECT_EQ(lines_of(text.erase(text.size() - 9)), (std::map<int, int>{{0, kLines}}));
  for (const int end : told) close(end);
}

TEST_F(TextTest, NobodyElseIsHeard) {
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(stranger, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const Frame frame{Kind::text, 5};
  std::string said(sizeof(Key), '?');
  said.append(reinterpret_cast<const char*>(&frame), sizeof frame).append("hello");
  EXPECT_TRUE(send_all(stranger, said.data(), said.size()));
  char answer = 0;
  EXPECT_LE(recv(stranger, &answer, 1, 0), 0) << "the connection is closed";
  close(stranger);
  TextAddress elsewhere = address;
  elsewhere.of_collector[3] ^= std::byte{1};
  expect_not_reached(elsewhere);
  collector.reset();
  expect_not_reached(address);
  EXPECT_EQ(printed.text(), "");
}

}  // namespace
}  // namespace tessera::runtime::text
