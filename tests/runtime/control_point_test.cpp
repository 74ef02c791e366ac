#include "runtime/control/control_point.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "tests/temporary_folder.hpp"

namespace tessera::runtime {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::strncpy(a.sun_path, path.c_str(), sizeof a.sun_path - 1);
  return a;
}

class Control : public testing::Test {
 protected:
  Control() {
    setenv("XDG_RUNTIME_DIR", in_.string().c_str(), 1);
    std::filesystem::create_directory(control_folder());
    std::filesystem::permissions(control_folder(), std::filesystem::perms::owner_all);
    point_.emplace(
        "p.fa on 2 ranks", [](void*) {}, nullptr);
  }
  ~Control() override { unsetenv("XDG_RUNTIME_DIR"); }

  static int connected() {
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un a = address_of(control_folder() + "/" + std::to_string(getpid()));
    EXPECT_EQ(connect(s, reinterpret_cast<const sockaddr*>(&a), sizeof a), 0);
    return s;
  }
  static std::string answer(int s) {
    std::string text;
    for (char c = 0; recv(s, &c, 1, 0) == 1;) text += c;
    return text;
  }

  tests::TemporaryFolder in_;
  std::optional<ControlPoint> point_;
};

// One that sent a byte now and then kept all others waiting for as long as it liked.
TEST_F(Control, WhoIsSlowToAskHoldsNobodyUp) {
  const int slow = connected();
  std::atomic<bool> said_all{false};
  std::thread dribble([&] {
    for (int i = 0; i < 40; ++i) {
      (void)!send(slow, "x", 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    said_all = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int other = connected();
  EXPECT_EQ(send(other, "about\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_EQ(answer(other), "ok p.fa on 2 ranks\n");
  EXPECT_FALSE(said_all);
  dribble.join();
  close(other);
  close(slow);
}

TEST_F(Control, RanksThatAreNoneAreNotUnderstood) {
  for (const char* line : {"drain 99999999999", "join -99999999999", "drain", "drain 1x", "waits 1"}) {
    const int s = connected();
    const std::string text = std::string(line) + "\n";
    ASSERT_EQ(send(s, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    shutdown(s, SHUT_WR);
    const timeval patience{5, 0};  // what is understood is answered by nobody here
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(answer(s), "no not understood: " + text);
    close(s);
  }
}

TEST_F(Control, SocketsOfProcessesThatWereKilledAreRemoved) {
  const pid_t gone = fork();
  if (gone == 0) {
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un a = address_of(control_folder() + "/" + std::to_string(getpid()));
    _exit(bind(s, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0 && listen(s, 1) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(gone, &status, 0);
  ASSERT_EQ(status, 0);
  const std::string left = control_folder() + "/" + std::to_string(gone);
  ASSERT_TRUE(std::filesystem::exists(left));
  const ControlPoint next(
      "q.fa on 2 ranks", [](void*) {}, nullptr);
  EXPECT_FALSE(std::filesystem::exists(left));
  close(connected());  // the one that runs stays
}

}  // namespace
}  // namespace tessera::runtime
