#include "cli/process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace tessera::cli {
namespace {

// A parent like mpirun: its child ends, and it looks at it only when it is told to.
class Parent {
 public:
  Parent() {
    int ready[2];
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      sigset_t look;
      sigemptyset(&look);
      sigaddset(&look, SIGUSR1);
      sigprocmask(SIG_BLOCK, &look, nullptr);
      const pid_t child = fork();
      if (child == 0) {
        pause();
        _exit(0);
      }
      (void)!write(ready[1], &child, sizeof child);
      for (int got = 0;;) {
        sigwait(&look, &got);
        waitpid(child, nullptr, 0);
      }
    }
    (void)!read(ready[0], &child_, sizeof child_);
    for (const int fd : ready) close(fd);
  }
  ~Parent() {
    kill(child_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  void kill_child() const { kill(child_, SIGKILL); }
  void tell(int signal) const { kill(pid_, signal); }
  // What is seen of it, as soon as it is that, or after a while.
  bool comes_to(bool live, bool ended) const {
    for (int n = 0; n < 1000; ++n) {
      const LikeUs seen = descendants_like_us(pid_);
      if (!seen.live.empty() == live && seen.ended == ended) return true;
      usleep(5000);
    }
    return false;
  }

 private:
  pid_t pid_ = 0, child_ = 0;
};

TEST(Descendants, ThoseThatEndedAreThereUntilTheirParentLooks) {
  const Parent parent;
  EXPECT_TRUE(parent.comes_to(true, false));
  parent.kill_child();
  EXPECT_TRUE(parent.comes_to(false, true));
  parent.tell(SIGSTOP);  // somebody looks into it: no fault of its own
  EXPECT_TRUE(parent.comes_to(false, false));
  parent.tell(SIGCONT);
  EXPECT_TRUE(parent.comes_to(false, true));
  parent.tell(SIGUSR1);
  EXPECT_TRUE(parent.comes_to(false, false));
}

// Whoever signals all that is called tessera, as batch systems do, meets what is yet to become mpirun, too.
TEST(Foreground, WhatIsNotYetTheCommandTakesNoSignalOfItsRanks) {
  static int sent = 0;  // to each child, as soon as there is one
  pthread_atfork(nullptr, nullptr, [] {
    if (sent != 0) raise(sent);
  });
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    sent = signal;
    const Foreground ended = run_foreground({"sleep", "0.1"}, {});
    sent = 0;
    EXPECT_FALSE(ended.signalled) << signal;
    EXPECT_EQ(ended.exit_code, 0) << signal;
  }
}

}  // namespace
}  // namespace tessera::cli
