// LB data files of vt.
#include <filesystem>

#include "balancer/simulator/cluster.hpp"
#include "balancer/simulator/lbaf_file.hpp"
#include "script.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::balancer::simulator {
namespace {

class Lbaf : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string refusal(const std::string& text) {
    write("bad.0.json", text);
    try {
      read_lbaf(path("bad.0.json"));
    } catch (const TraceError& e) {
      return e.what();
    }
    return "";
  }
  tests::TemporaryFolder folder_;
};

std::string task(int id, int node, double time, bool migratable = true) {
  return R"({"entity":{"home":0,"id":)" + std::to_string(id) + R"(,"type":"object","migratable":)" +
         (migratable ? "true" : "false") + R"(},"node":)" + std::to_string(node) + R"(,"resource":"cpu","time":)" +
         std::to_string(time) + "}";
}

TEST_F(Lbaf, PhasesAreIterationsAndObjectsFollow) {
  const std::string zero = task(1, 0, 0.5) + "," + task(2, 0, 0.25), one = task(3, 1, 0.125, false);
  const std::string edge = R"({"bytes":1000.0,"messages":2,"type":"SendRecv","from":{"id":1,"type":"object"},)"
                           R"("to":{"id":3,"type":"object"}})";
  write("d.0.json", R"({"metadata":{"type":"LBDatafile","rank":0},"phases":[{"id":0,"tasks":[)" + zero +
                        R"(],"communications":[)" + edge + "," + edge + R"(]},{"id":1,"tasks":[)" + zero + "]}]}");
  write("d.1.json", R"({"phases":[{"id":0,"tasks":[)" + one + R"(]},{"id":1,"tasks":[)" + one + "]}]}");
  EXPECT_TRUE(names_lbaf("d.0.json"));
  EXPECT_FALSE(names_lbaf("d.1.json"));
  const Trace t = read_lbaf(path("d.0.json"));
  EXPECT_EQ(t.program, "d");
  ASSERT_EQ(t.work.fragments.size(), 8u);
  EXPECT_EQ(t.work.work(), 2 * 875 * kMs + 2'000);
  const Fragment& second = t.work.fragments[4];  // of object 1
  EXPECT_EQ(second.series, t.work.fragments[0].series);
  EXPECT_EQ(t.work.fragments[6].series, 0u) << "it does not move";
  EXPECT_EQ(t.work.fragments[6].home, Rank{1});
  ASSERT_EQ(t.work.fragments[6].inputs.size(), 2u);
  EXPECT_EQ(t.work.fragments[6].inputs[1].fragment, 0u);
  EXPECT_EQ(t.work.fragments[6].inputs[1].bytes, 2000);
  EXPECT_EQ(t.work.critical_path(), 2 * 500 * kMs + 2'000);
  for (const char* balancer : {"none", "auto", "steal", "gossip", "diffusion"}) {
    Options o;
    o.balancer = balancer;
    const Outcome out = simulate(t.work, o);
    EXPECT_EQ(out.faults, std::vector<std::string>{}) << balancer;
    EXPECT_GE(out.finished, 1000 * kMs);
    EXPECT_LT(out.finished, 1510 * kMs);
  }
}

TEST_F(Lbaf, WrongFilesAreRefusedByName) {
  EXPECT_NE(refusal("no json").find("bad.0.json: is no LB data file"), std::string::npos);
  EXPECT_NE(refusal("{}").find("no `phases`"), std::string::npos);
  EXPECT_NE(refusal(R"({"phases":[]})").find("no phase"), std::string::npos);
  EXPECT_NE(refusal(R"({"phases":[{"tasks":[]}]})").find("'id'"), std::string::npos);
  EXPECT_NE(refusal(R"({"phases":[{"id":0,"tasks":[)" + task(1, 0, -1) + "]}]}").find("-1.0 seconds"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"phases":[{"id":0,"tasks":[)" + task(1, -4, 1) + "]}]}").find("node -4"), std::string::npos);
  EXPECT_NE(refusal(R"({"phases":[{"id":0,"tasks":[{"time":1,"entity":{"type":"object"}}]}]})").find("without `id`"),
            std::string::npos);
  EXPECT_THROW(read_lbaf(path("none.0.json")), TraceError);
}

}  // namespace
}  // namespace tessera::balancer::simulator
