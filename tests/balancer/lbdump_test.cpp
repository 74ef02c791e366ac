// LB dumps of Charm++, written here as its versions lay them out.
#include <filesystem>

#include "balancer/random.hpp"
#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/lbaf_file.hpp"
#include "balancer/simulator/lbdump_file.hpp"
#include "script.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::balancer::simulator {
namespace {

// How Charm++ was built that wrote a file.
struct Charm {
  bool big_endian = false;
  bool seven = true;  // 7.0, else 6.10
  bool pointer = false;
  int id_words = 2;
  bool cpu_times = false, user_data = false, size = true;
};

class Writer {
 public:
  explicit Writer(const Charm& c) : charm_(c) {
    text_ = "\x10\xea\xbd\xf9";
    text_ += charm_.seven ? std::string("\1\1\2\4\10\20", 6) : std::string("\0\1\2\4\10", 5);
    text_ += charm_.big_endian ? '\0' : '\1';
    text_ += std::string("\4\10", 2) + (charm_.big_endian ? '\0' : '\1') + std::string("\1\10", 2);
    if (!charm_.seven) text_ += '\0';
  }
  void number(std::uint64_t n, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(n >> 8 * (charm_.big_endian ? bytes - 1 - i : i) & 0xff);
  }
  void word(std::int32_t n) { number(static_cast<std::uint32_t>(n), 4); }
  void real(double x) { number(std::bit_cast<std::uint64_t>(x), 8); }
  void id(int n) {
    for (int w = 1; w < charm_.id_words; w += 2) number(static_cast<std::uint64_t>(n), 8);
  }
  void processor(double beside, int objects, int pe) {
    for (const double x : {1.0, 0.25, beside}) real(x);
    if (charm_.cpu_times) real(1), real(1);
    word(1), number(1, 1), word(objects), word(pe);
  }
  void object(int n, double seconds, bool moves) {
    if (charm_.pointer) word(8), number(0xdeadbeef, 8);
    word(7), word(1), id(n), word(n);
    real(seconds);
    if (charm_.cpu_times) real(seconds);
    number(moves ? 1 : 0, 1), number(0, 1);
    if (charm_.user_data) word(0);
    if (charm_.size) number(513, 2);
  }
  // `kind` 2: to one object, 3: to both others.
  void message(int from, int kind, int bytes) {
    word(-1), word(7), id(from), number(static_cast<std::uint64_t>(kind), 1);
    if (kind == 1) word(0);
    if (kind == 2) word(7), id(3), word(1);
    if (kind == 3) {
      word(2);
      for (const int to : {2, 3}) word(7), id(to);
    }
    word(1), word(bytes);
  }
  std::string text_;

 private:
  Charm charm_;
};

// Three objects on two processors, the third of which stays; processor 1 does something beside.
std::string dump(const Charm& charm, double first = 0.5) {
  Writer w(charm);
  w.word(3), w.word(2);
  const auto count = [&](int n) { charm.seven ? w.number(static_cast<std::uint64_t>(n), 8) : void(); };
  if (!charm.seven) w.word(2), w.word(3), w.word(2), w.word(3);
  if (charm.seven) w.word(2);
  count(2), w.processor(0, 2, 0), w.processor(0.0625, 1, 1);
  count(3), w.object(1, first, true), w.object(2, 0.25, true), w.object(3, 0.125, false);
  count(3), w.word(0), w.word(0), w.word(1);
  if (!charm.seven) w.word(0), w.word(0), w.word(1);
  count(3), w.message(1, 2, 1000), w.message(1, 3, 500), w.message(2, 1, 9);
  return w.text_;
}

class LbDump : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  // Read, or refused by a message that names the file; nothing else.
  template <class Read>
  std::string refusal(Read read, const std::string& path) {
    try {
      const Trace t = read(path);
      Options o;
      o.ranks = 2;
      o.balancer = "none";
      simulate(t.work, o);
    } catch (const TraceError& e) {
      EXPECT_NE(std::string(e.what()).find("bad."), std::string::npos) << e.what();
      return e.what();
    } catch (const SimulationError&) {}
    return "";
  }
  tests::TemporaryFolder folder_;
};

TEST_F(LbDump, EachLayoutIsFound) {
  std::vector<Charm> all = {{}, {.big_endian = true}, {.cpu_times = true, .user_data = true}, {.size = false}};
  all.push_back({.seven = false});
  all.push_back({.seven = false, .pointer = true, .id_words = 4, .cpu_times = true, .size = false});
  all.push_back({.big_endian = true, .seven = false, .pointer = true, .user_data = true});
  int number = 0;
  for (const Charm& charm : all) {
    SCOPED_TRACE(number);
    const std::string name = "d" + std::to_string(number++) + ".4";
    const std::string path = write(name, dump(charm));
    EXPECT_TRUE(is_lbdump(path));
    const Trace t = read_lbdump(path);
    // Three objects, what processor 1 did beside, the barrier.
    ASSERT_EQ(t.work.fragments.size(), 5u);
    EXPECT_EQ(t.work.work(), 937'500'000 + 1'000);
    EXPECT_EQ(t.work.fragments[0].home, Rank{0});
    EXPECT_EQ(t.work.fragments[0].output, 1000);
    EXPECT_EQ(t.work.fragments[2].home, Rank{1});
    EXPECT_EQ(t.work.fragments[2].series, 0u) << "it does not move";
    EXPECT_EQ(t.work.fragments[3].weight, 62'500'000) << "beside";
  }
}

TEST_F(LbDump, StepsAreIterationsAndObjectsFollow) {
  write("d.7", dump({})), write("d.8", dump({}, 0.25)), write("d.10", dump({}));
  const Trace t = read_lbdump((folder_ / "d.7").string());
  EXPECT_EQ(t.program, "d");
  ASSERT_EQ(t.work.fragments.size(), 10u) << "two steps; the ninth is not there";
  EXPECT_EQ(t.work.fragments[5].series, t.work.fragments[0].series);
  EXPECT_EQ(t.work.fragments[5].weight, 250'000'000);
  ASSERT_EQ(t.work.fragments[7].inputs.size(), 2u) << "the barrier, and what object 1 sent in two messages";
  EXPECT_EQ(t.work.fragments[7].inputs[1].bytes, 1500);
  for (const char* balancer : {"none", "auto", "gossip"}) {
    Options o;
    o.balancer = balancer;
    o.ranks = 2;
    EXPECT_EQ(simulate(t.work, o).faults, std::vector<std::string>{}) << balancer;
  }
}

TEST_F(LbDump, WhatIsWrongIsToldWithItsByte) {
  const auto told = [&](const std::string& text) { return refusal(read_lbdump, write("bad.0", text)); };
  EXPECT_NE(told("nothing of the kind, but long enough").find("no LB dump"), std::string::npos);
  std::string text = dump({});
  text[4] = 9;
  EXPECT_NE(told(text).find("byte 4: is an LB dump of a machine"), std::string::npos);
  text = dump({});
  text[16] = 9;
  EXPECT_NE(told(text).find("byte 16: version 9"), std::string::npos);
  text = dump({});
  EXPECT_NE(told(text + "x").find("byte " + std::to_string(text.size()) + ": more than belongs"), std::string::npos);
  EXPECT_NE(told(text.substr(0, text.size() - 1)).find("byte " + std::to_string(text.size() - 1)), std::string::npos);
  EXPECT_THROW(read_lbdump((folder_ / "none.0").string()), TraceError);
}

// Cut off anywhere it is refused; with any bit turned over it is read or refused, and does no harm.
TEST_F(LbDump, BrokenFilesAreRefused) {
  for (const Charm& charm : {Charm{}, Charm{.seven = false, .pointer = true, .id_words = 4, .cpu_times = true}}) {
    const std::string text = dump(charm);
    for (std::size_t n = 0; n < text.size(); ++n) {
      EXPECT_NE(refusal(read_lbdump, write("bad.0", text.substr(0, n))), "") << n;
    }
    int refused = 0;
    for (std::size_t bit = 0; bit < 8 * text.size(); bit += 3) {
      std::string broken = text;
      broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ 1 << bit % 8);
      refused += refusal(read_lbdump, write("bad.0", broken)).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 150) << "lengths, places and bools";
  }
}

TEST_F(LbDump, SoAreThoseOfVt) {
  const std::string task = R"({"entity":{"id":1,"type":"object","migratable":true},"node":1,"time":0.5})";
  const std::string edge = R"({"bytes":10.5,"from":{"id":1,"type":"object"},"to":{"seq_id":3,"type":"object"}})";
  const std::string text = R"({"phases":[{"id":0,"tasks":[)" + task + "," + task + R"(],"communications":[)" + edge +
                           R"(]},{"id":1,"tasks":[)" + task + "]}]}";
  ASSERT_EQ(refusal(read_lbaf, write("bad.0.json", text)), "");
  for (std::size_t n = 0; n < text.size(); ++n) {
    EXPECT_NE(refusal(read_lbaf, write("bad.0.json", text.substr(0, n))), "") << n;
  }
  for (std::size_t bit = 0; bit < 8 * text.size(); bit += 3) {
    std::string broken = text;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ 1 << bit % 8);
    refusal(read_lbaf, write("bad.0.json", broken));
  }
  EXPECT_NE(refusal(read_lbaf, write("bad.0.json", "{\"phases\":[\n{]}")).find("line 2, column 2"), std::string::npos);
  EXPECT_NE(refusal(read_lbaf, write("bad.0.json", R"({"phases":[{"id":4,"tasks":[)" + task + R"(,{"time":1}]}]})"))
                .find("in phase 4, tasks[1]"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::balancer::simulator
