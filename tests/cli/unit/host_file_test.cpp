// Host files of Open MPI, as they are read and given to mpirun.
#include "cli/host_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

class HostFiles : public testing::Test {
 protected:
  ~HostFiles() override { std::filesystem::remove(file_); }
  HostFile of(const std::string& text) const {
    std::ofstream(file_) << text;
    return HostFile(file_);
  }
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("tessera-hosts-" + std::to_string(::getpid()));
};

TEST_F(HostFiles, EachLineSaysItsSlotsToMpirun) {
  const HostFile f = of("# all\nh1\n\n h2 slots = 3 max_slots=4 # here\r\nme@h3 cpu=2\nh1\n");
  EXPECT_EQ(f.slots(), 7);
  EXPECT_EQ(f.text(), "h1 slots=2\nh2 slots=3 max_slots=4\nme@h3 slots=2\n");
}

TEST_F(HostFiles, NamesOfThisHostAreOne) {
  EXPECT_EQ(of("localhost slots=2\n127.0.0.1\nh1\n").text(), "localhost slots=3\nh1 slots=1\n");
}

TEST_F(HostFiles, AHostThatIsLostIsLeftOut) {
  HostFile f = of("me@h1.cluster slots=4\nh2 slots=2\n10.0.0.3\n10.0.0.4\n");
  EXPECT_EQ(f.leave_out("h9"), 0);
  EXPECT_EQ(f.leave_out("h1"), 4);
  EXPECT_EQ(f.leave_out("10.0.0.3"), 1);
  EXPECT_EQ(f.leave_out("h2.cluster"), 2);
  EXPECT_EQ(f.text(), "10.0.0.4 slots=1\n");
  EXPECT_EQ(f.leave_out("10.0.0.4"), 0) << "there is no other";
  EXPECT_EQ(f.slots(), 1);
}

TEST_F(HostFiles, WhatIsNoNumberOfRanksIsSaidWithItsLine) {
  for (const char* wrong : {"slots=", "slots=0", "slots=2x", "slots=-1"}) {
    EXPECT_THROW(of(std::string("h1\nh2 ") + wrong + "\n"), Failure) << wrong;
  }
  EXPECT_THROW(of("# nobody\n"), Failure);
}

}  // namespace
}  // namespace tessera::cli
