// Cluster files and traces: read as written, and refused with the place and what is allowed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "balancer/simulator/cluster_model.hpp"
#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::balancer::simulator {
namespace {

namespace fs = std::filesystem;

class SimulatorFiles : public testing::Test {
 protected:
  SimulatorFiles()
      : folder_(fs::temp_directory_path() / ("simulator_files_" + std::to_string(::getpid()) + "_" +
                                             testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder_);
  }
  ~SimulatorFiles() override { fs::remove_all(folder_); }

  std::string write(const std::string& text, const std::string& name = "c.toml") {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string cluster_error(const std::string& text) {
    try {
      load_cluster(write(text));
    } catch (const ClusterError& e) {
      return e.what();
    }
    return "";
  }
  std::string trace_error(const std::string& text) {
    try {
      read_trace(write(text, "t.trace"));
    } catch (const TraceError& e) {
      return e.what();
    }
    return "";
  }
  fs::path folder_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

TEST_F(SimulatorFiles, OurClustersAreWhatTheSourcesSay) {
  const fs::path folder = TESSERA_SOURCE_DIR "/configs/clusters";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const ClusterModel m = load_cluster(entry.path().string());
    EXPECT_EQ(m.name, entry.path().stem().string());
    EXPECT_FALSE(m.about.empty()) << m.name;
    Options o;
    o.balancer = "none";
    apply_cluster(m, m.ranks(), 0, o);
    EXPECT_EQ(check_options(o), std::vector<std::string>{}) << m.name;
    ++files;
  }
  EXPECT_GE(files, 8);
  const auto load = [&](const char* name) { return load_cluster((folder / name).string()); };
  EXPECT_EQ(load("santana40.toml").ranks(), 40);
  EXPECT_EQ(load("chaparro.toml").ranks(), 25);
  EXPECT_EQ(load("chaparro-loaded.toml").changes.size(), 1u);
  double power = 0;
  for (const auto& n : load("degiusti.toml").nodes) power += n.count * n.speed;
  EXPECT_NEAR(power, 16, 1e-9);
}

TEST_F(SimulatorFiles, KindsOfNodesKeepTheirProportions) {
  const ClusterModel m =
      load_cluster(write("[[node]]\ncount = 2\nspeed = 1\n[[node]]\ncount = 3\nspeed = 0.5\ncores = 4\n"));
  Options o;
  apply_cluster(m, 5, 1, o);
  EXPECT_EQ(o.ranks, 6);
  EXPECT_EQ(o.speeds, (std::vector<double>{1, 1, 0.5, 0.5, 0.5}));
  EXPECT_EQ(o.cores, (std::vector<std::int32_t>{1, 1, 4, 4, 4}));
  apply_cluster(m, 10, 0, o);
  EXPECT_EQ(std::count(o.speeds.begin(), o.speeds.end(), 1.0), 4);
}

TEST_F(SimulatorFiles, HostsAndSites) {
  const ClusterModel m =
      load_cluster(write("ranks = 8\n[host]\nranks = 2\n[sites]\nhosts = [1, 2]\nlatency = \"5 ms\"\n"
                         "[[leave]]\nrank = 3\nat = \"2 s\"\n[[join]]\nrank = 5\nat = \"1 s\"\n"));
  Options o;
  o.balancer = "none";
  apply_cluster(m, 8, 0, o);
  EXPECT_EQ(o.hosts, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(o.sites, (std::vector<std::int32_t>{0, 1, 1, 1}));
  EXPECT_EQ(o.between_sites.latency, 5'000'000);
  EXPECT_EQ(o.absent, std::vector<Rank>{Rank{5}});
  EXPECT_EQ(o.changes.size(), 2u);
  apply_cluster(m, 4, 0, o);
  EXPECT_EQ(o.changes.size(), 1u) << "rank 5 is not there";
}

TEST_F(SimulatorFiles, WhatShippingCostsIsNothingUnlessAClusterSays) {
  EXPECT_EQ(load_cluster(write("ranks = 4\n[processing]\nevent = \"1 us\"\n")).processing.ship, 0);
  EXPECT_EQ(load_cluster(write("ranks = 4\n[processing]\nship = \"600 ns\"\n")).processing.ship, 600);
}

TEST_F(SimulatorFiles, WrongClustersAreRefusedWithTheirPlace) {
  EXPECT_SAYS(cluster_error(""), "ranks = N");
  EXPECT_SAYS(cluster_error("ranks = 0\n"), "c.toml:1: 'ranks' must be a whole number from 1");
  EXPECT_SAYS(cluster_error("ranks = 4\n[link]\nlatency = 50\n"), "c.toml:3: 'link.latency'");
  EXPECT_SAYS(cluster_error("ranks = 4\n[link]\nlatency = 50\n"), "50 us");
  EXPECT_SAYS(cluster_error("ranks = 4\n[link]\nbandwidth = \"1 Gb\"\n"), "1 Gbit/s");
  EXPECT_SAYS(cluster_error("ranks = 4\n[lnk]\n"), "c.toml:2: unknown key 'lnk'; known here: ");
  EXPECT_SAYS(cluster_error("ranks = 4\n[[outside]]\nrank = 4\ntasks = 1\n"), "from 0 to 3");
  EXPECT_SAYS(cluster_error("ranks = 4\n[[outside]]\nrank = 1\n"), "lacks 'tasks'");
  EXPECT_SAYS(cluster_error("ranks = 4\n[[leave]]\nrank = 1\n"), "lacks 'at'");
  EXPECT_SAYS(cluster_error("[[node]]\nspeed = -1\n"), "c.toml:2: 'node.speed'");
  EXPECT_SAYS(cluster_error("ranks = = 4\n"), "c.toml:1: ");
  EXPECT_THROW(load_cluster("/nowhere.toml"), ClusterError);
}

TEST_F(SimulatorFiles, ATraceIsReadBackAsItWasWritten) {
  for (const char* name : {"matmul", "iterate", "stencil"}) {
    Settings small;
    if (std::string(name) == "matmul") small["blocks"] = "3";
    if (std::string(name) == "iterate") small["home"] = "follow";
    Trace t;
    t.program = "a program.fa";
    t.hash = "00112233445566778899aabbccddeeff";
    t.work = *generate(*find_workload(name), small, {4, 1}).graph;
    if (std::string(name) == "stencil") {
      for (std::size_t i = 0; i < t.work.fragments.size(); ++i)
        t.work.fragments[i].series = static_cast<std::uint32_t>(i % 3);
    }
    t.work.groups.back().bulk = true;
    const std::string path = (folder_ / name).string();
    write_trace(path, t);
    const Trace back = read_trace(path);
    EXPECT_EQ(back.program, t.program);
    EXPECT_EQ(back.hash, t.hash);
    EXPECT_TRUE(back.work.groups.back().bulk);
    EXPECT_FALSE(back.work.groups.front().bulk && back.work.groups.size() > 1);
    ASSERT_EQ(back.work.fragments.size(), t.work.fragments.size());
    for (std::size_t i = 0; i < t.work.fragments.size(); ++i) {
      ASSERT_EQ(back.work.fragments[i].series, t.work.fragments[i].series);
    }
    Options o;
    o.balancer = "steal";
    o.ranks = 4;
    const Outcome a = simulate(t.work, o), b = simulate(back.work, o);
    EXPECT_EQ(a.faults, b.faults);
    EXPECT_EQ(a.finished, b.finished) << name;
    EXPECT_EQ(a.bytes_fetched, b.bytes_fetched) << name;
    EXPECT_EQ(a.critical_path, b.critical_path) << name;
  }
}

// What is read and written again is the same file.
TEST_F(SimulatorFiles, TimesAreReadBackAsTheyWereWritten) {
  const std::string text =
      "tessera-trace 1\nprogram - p\ngroup 0 : g\n"
      "# f ID GROUP RANK PARENT WEIGHT_NS OUTPUT_BYTES [INPUT:BYTES ...] [series=N]\n"
      "f 0 0 0 - 100 8\nf 1 0 - 0 100 0 0:8\n"
      "run 1000 live steal\nnote something is missing\n"
      "rank 0 2 same-host 0 0 a host\nrank 1 1 other-host -77 12 \n"
      "block 0 0 kernel 3 i j : 10 in a folder/p g(x[i : in 2], \"b in c\")\nslot in 2 x\nslot out 0 y\n"
      "source a folder/p\n| sub main() {\n| \n| # }\n"
      "t 0 0 1 5 10 0 -3 4\nt 1 1 0 20 10 0 @0:17:12:0\n"
      "moved 1 16 0 1 policy 14 0 9 0\nm 17 0 1 Ship 300 1\n"
      "d 15 0 0 1 900 -1 0:1 : given : it had more\nd 16 1 -1 -1 0 0 : silent\n"
      "mem 5 1 4096 100\nend 2\n";
  const std::string path = write(text);
  const Trace t = read_trace(path);
  EXPECT_EQ(t.times.blocks.at(0).file, "a folder/p");
  EXPECT_EQ(t.times.blocks.at(0).text, "g(x[i : in 2], \"b in c\")");
  EXPECT_EQ(t.times.arrivals.at(0).at, 17);
  write_trace(path, t);
  std::ifstream in(path);
  const std::string written(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(written.substr(0, text.size() - 1), text.substr(0, text.size() - 1));
  EXPECT_EQ(written.size(), text.size() + 17) << "and its sum";
}

TEST_F(SimulatorFiles, WrongTracesAreRefusedWithTheirPlace) {
  const std::string head = "tessera-trace 1\nprogram - p\ngroup 0 : g\n";
  const std::string timed =
      head + "f 0 0 - - 100 8\nrun 9 live none\nrank 0 1 same-host 0 0 \nblock 0 0 kernel 3 : 1 in p g()\n";
  EXPECT_EQ(trace_error(timed + "t 0 0 0 5 1 0\nend 1\n"), "");
  EXPECT_SAYS(trace_error(timed + "t 1 0 0 5 1 0\nend 1\n"), "fragment 1, which it does not have");
  EXPECT_SAYS(trace_error(timed + "t 0 1 0 5 1 0\nend 1\n"), "rank 1");
  EXPECT_SAYS(trace_error(timed + "t 0 0 1 5 1 0\nend 1\n"), "worker 1");
  EXPECT_SAYS(trace_error(timed + "t 0 0 0 5 1 1\nend 1\n"), "block 1");
  EXPECT_SAYS(trace_error(timed + "t 0 0 0 5 1 0 @0:3\nend 1\n"), "inputs");
  EXPECT_SAYS(trace_error(timed + "t 0 0 x 5 1 0\nend 1\n"), ":8: the trace says 'x' where a worker");
  EXPECT_SAYS(trace_error(timed + "t 0 0 0 5 99999999999999999999 0\nend 1\n"), "'99999999999999999999' where");
  EXPECT_SAYS(trace_error(head + "f 0 0 0 - 99999999999999999999 0\nend 1\n"),
              ":4: the trace says '99999999999999999999'");
  EXPECT_SAYS(trace_error(timed + "d 1 0 0 0 0 0 1:1 : why\nend 1\n"), "a group that it does not have");
  EXPECT_SAYS(trace_error(timed + "d 1 0 0 0 0 0 1:1\nend 1\n"), "without its text");
  EXPECT_SAYS(trace_error(head + "| text\nend 0\n"), "before any `source`");
  EXPECT_EQ(trace_error(head + "f 7 0 - - 100 0\nf 9 0 - 7 100 0 7:8 -:5\nend 2\n"), "");
  EXPECT_SAYS(trace_error(""), "is no trace");
  EXPECT_SAYS(trace_error("tessera-trace 9\n"), "version '9'");
  EXPECT_SAYS(trace_error(head + "f 7 0 - - 100 0\n"), "cut off");
  EXPECT_SAYS(trace_error(head + "f 7 0 - - 100 0\nend 2\n"), "another number of fragments");
  EXPECT_SAYS(trace_error(head + "f 7 0 - - many 0\nend 1\n"), "t.trace:4: the trace says 'many'");
  EXPECT_SAYS(trace_error(head + "f 7 0 - - 100 0 series=x\nend 1\n"), "a series stands");
  EXPECT_EQ(trace_error(head + "f 7 0 - - 100 0 series=4294967295\nend 1\n"), "");
  EXPECT_SAYS(trace_error(head + "f 7 1 - - 100 0\nend 1\n"), "no group 1");
  EXPECT_SAYS(trace_error(head + "f 7 0 - 8 100 0\nend 1\n"), "no fragment 8");
  EXPECT_SAYS(trace_error(head + "f 7 0 - - 1 0\nf 7 0 - - 1 0\nend 2\n"), "t.trace:5");
  EXPECT_SAYS(trace_error(head + "f 1 0 - - 1 0 2:0\nf 2 0 - - 1 0 1:0\nend 2\n"), "circle");
  EXPECT_SAYS(trace_error(head + "g 1\nend 0\n"), "begins with 'g'");
}

}  // namespace
}  // namespace tessera::balancer::simulator
