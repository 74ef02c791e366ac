// What other programs get of a record: each format is read again by somebody else's reader, or by its grammar.
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command.hpp"
#include "small_trace.hpp"

namespace tessera::tests {
namespace {

class Export : public Command {
 protected:
  void SetUp() override { write("r.trace", kSmallTrace); }
  Outcome exported(const std::string& format, const std::string& to) {
    return tessera({"export", "r.trace", "-f", format, "-o", to});
  }
};

// protoc's text of the packets, one string each.
std::vector<std::string> packets(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "packet {") all.emplace_back();
    if (!all.empty()) all.back() += line + "\n";
  }
  return all;
}
// The value after `name: ` in it; empty: it has none.
std::string field(const std::string& packet, const std::string& name) {
  std::size_t at = packet.find("\n    " + name + ": ");  // the event's own, before those of what lies in it
  if (at != std::string::npos) at += 4;
  if (at == std::string::npos) at = packet.find(" " + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 3;
  return packet.substr(from, packet.find('\n', from) - from);
}

TEST_F(Export, PerfettoIsReadByProtoc) {
  if (access("/usr/bin/protoc", X_OK) != 0) GTEST_SKIP() << "no protoc on this machine: install protobuf-compiler";
  ASSERT_TRUE(ended(exported("perfetto", "r.pftrace"), 0));
  const std::string proto = TESSERA_PERFETTO_PROTO;
  const Outcome o = run(
      {"sh", "-c", "protoc -I \"$(dirname \"$1\")\" --decode=perfetto.protos.Trace \"$1\" < r.pftrace", "sh", proto});
  ASSERT_TRUE(ended(o, 0));
  // What it does not know stands as a number.
  EXPECT_EQ(o.out.find("\n    1: "), std::string::npos) << o.out;
  std::map<std::string, std::string> names, tracks;
  std::map<std::string, std::vector<std::string>> open;
  std::vector<std::string> slices;  // TRACK NAME FROM TO
  std::multiset<std::string> flows_out, flows_in;
  std::map<std::string, std::vector<std::string>> begun;
  std::uint64_t last = 0;
  for (const std::string& p : packets(o.out)) {
    EXPECT_EQ(field(p, "trusted_packet_sequence_id"), "1");
    if (p.find("interned_data {") != std::string::npos) {
      EXPECT_EQ(field(p, "sequence_flags"), "3");
      EXPECT_NE(p.find("iid: 2\n      name: \"work\""), std::string::npos) << p;
      EXPECT_NE(p.find("file_name: \"small.fa\"\n      function_name: \"work(i, x[i])\"\n      line_number: 3"),
                std::string::npos)
          << p;
    }
    if (p.find("track_descriptor {") != std::string::npos) tracks[field(p, "uuid")] = field(p, "name");
    if (p.find("track_event {") == std::string::npos) continue;
    const std::string type = field(p, "type"), track = field(p, "track_uuid"), at = field(p, "timestamp");
    ASSERT_TRUE(tracks.contains(track)) << p;
    if (type == "TYPE_SLICE_BEGIN") {
      const std::string iid = field(p, "name_iid");
      open[track].push_back((iid.empty() ? field(p, "name") : iid == "2" ? "work" : "main") + " " + at);
      if (const std::string f = field(p, "flow_ids"); !f.empty()) flows_out.insert(f + " at " + at);
      if (const std::string f = field(p, "terminating_flow_ids"); !f.empty()) flows_in.insert(f + " at " + at);
    } else if (type == "TYPE_SLICE_END") {
      ASSERT_FALSE(open[track].empty()) << p;
      slices.push_back(tracks[track] + " " + open[track].back() + " " + at);
      open[track].pop_back();
    }
    last = std::max<std::uint64_t>(last, std::stoull(at));
  }
  for (const auto& [track, left] : open) EXPECT_TRUE(left.empty()) << tracks[track];
  EXPECT_EQ(last, 6'105'000u);
  const auto has = [&](const std::string& s) {
    EXPECT_EQ(std::count(slices.begin(), slices.end(), s), 1) << s << " is not in:\n" << nlohmann::json(slices).dump(1);
  };
  has("\"worker 0\" main 0 100000");
  has("\"worker 0\" work 100000 2100000");
  has("\"worker 0\" work 510000 3510000");
  has("\"worker 0\" work 4005000 6005000");
  has("\"worker 0\" \"idle: a transfer was under way\" 3510000 4000000");
  has("\"worker 0\" \"overhead\" 500000 510000");
  EXPECT_NE(o.out.find("string_value: \"work (i=2)\"\n      name: \"for\""), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("int_value: 1\n      name: \"rank\""), std::string::npos) << o.out;
  // What work(2) made came to work(3).
  EXPECT_EQ(flows_out, std::multiset<std::string>{"1 at 510000"});
  EXPECT_EQ(flows_in, std::multiset<std::string>{"1 at 4005000"});
  EXPECT_NE(o.out.find("name: \"stolen\""), std::string::npos);
  EXPECT_NE(o.out.find("counter_value: 20000000"), std::string::npos);
}

TEST_F(Export, ChromeIsJson) {
  ASSERT_TRUE(ended(exported("chrome", "r.json"), 0));
  const auto events = nlohmann::json::parse(read("r.json"))["traceEvents"];
  double kernels = 0, all = 0;
  std::map<std::string, int> phases;
  for (const auto& e : events) {
    ++phases[e["ph"]];
    if (e["ph"] != "X") continue;
    all += e["dur"].get<double>();
    if (e["cat"] == "kernel") kernels += e["dur"].get<double>();
    if (e["name"] == "work (i=3)") {
      EXPECT_EQ(e["ts"], 4005.0);
      EXPECT_EQ(e["args"]["assigns"], nlohmann::json({"x[3]"}));
    }
  }
  const auto about = [&](const char* name) {
    for (const auto& e : events) {
      if (e["name"] == name) return e["cat"].get<std::string>() + e["args"].dump();
    }
    return std::string("none");
  };
  const std::string transfer = about("idle: a transfer was under way");
  EXPECT_NE(transfer.find("\"rank\":1"), std::string::npos) << transfer;
  EXPECT_NE(transfer.find("work (i=2)"), std::string::npos) << transfer;
  EXPECT_EQ(about("overhead"), "overhead{}");
  EXPECT_EQ(kernels, 7000);
  EXPECT_EQ(all, 2 * 6105) << "all of both workers";
  EXPECT_EQ(phases, (std::map<std::string, int>{{"M", 4}, {"X", 12}, {"s", 1}, {"f", 1}, {"C", 2}, {"i", 1}}));
}

TEST_F(Export, TablesHaveWhatTheRecordHas) {
  ASSERT_TRUE(ended(exported("csv", "tables"), 0));
  EXPECT_NE(
      read("tables/fragments.csv")
          .find("\n3,kernel,work,small.fa,3,0,0,4005000,2000000,2000000,4000000,input,3510000,1,2,0,8,i=3,,x[3]\n"),
      std::string::npos)
      << read("tables/fragments.csv");
  EXPECT_EQ(read("tables/inputs.csv"),
            "fragment,rank,input,made_by,bytes,arrived_ns,asked_ns,asked_by\n3,0,0,2,8,4000000,,\n");
  EXPECT_EQ(read("tables/moves.csv"),
            "at_ns,fragment,from,to,by,since_ns,last_input,asked_ns,asked_by\n500000,2,0,1,balancer,,,,\n");
  EXPECT_EQ(read("tables/messages.csv"),
            "at_ns,from,to,message,bytes,fragments\n500000,0,1,Ship,200,1\n4000000,1,0,Give,60,0\n");
  EXPECT_EQ(read("tables/decisions.csv"),
            "at_ns,rank,from,to,load_from_ns,load_to_ns,fragments,why\n400000,1,0,1,7000000,0,work:1,stolen\n");
  EXPECT_NE(read("tables/workers.csv").find("\n1,0,100000,500000,idle: the balancer moved work there late,2,0,\n"),
            std::string::npos)
      << read("tables/workers.csv");
}

// Who follows the graph in the tables finds all of it: also through the end of a block, which ran nowhere.
TEST_F(Export, TablesHaveTheEndsOfBlocks) {
  std::string trace = kSmallTrace;
  trace.replace(trace.find("f 3 1 - 0 2000000 8 2:8\n"), 24, "f 3 1 - 0 2000000 8 9:8\nf 9 0 - 0 0 0 1:0 2:0\n");
  trace.replace(trace.find("end 4"), 5, "end 5");
  write("r.trace", trace);
  ASSERT_TRUE(ended(exported("csv", "tables"), 0));
  const std::string inputs = read("tables/inputs.csv");
  EXPECT_NE(inputs.find("\n3,0,0,4,8,4000000,,\n"), std::string::npos) << inputs;
  EXPECT_NE(inputs.find("\n4,,0,1,0,,,\n4,,1,2,0,,,\n"), std::string::npos) << inputs;
}

// What was there stays as it is, and what was not is not there.
TEST_F(Export, TablesAreAllThereOrNone) {
  const auto limited = [&](const std::string& to) {
    return run({"sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", TESSERA_COMMAND, "export", "r.trace", "-f",
                "csv", "-o", to});
  };
  EXPECT_TRUE(ended(limited("a/b"), 3, {"-o: can't write a/b/workers.csv: File too large"}));
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  // The first tables have room, another has not.
  std::filesystem::create_directory(path("old"));
  for (const char* name : {"fragments.csv", "memory.csv", "mine.txt"}) write(std::string("old/") + name, "old\n");
  std::string trace = kSmallTrace;
  const std::string why = " : stolen";
  trace.replace(trace.find(why), why.size(), " : " + std::string(3000, 'x'));
  write("r.trace", trace);
  EXPECT_TRUE(ended(limited("old"), 3, {"-o: can't write old/"}));
  for (const char* name : {"fragments.csv", "memory.csv", "mine.txt"})
    EXPECT_EQ(read(std::string("old/") + name), "old\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("old")), {}), 3);
  EXPECT_TRUE(ended(tessera({"export", "none.trace", "-f", "csv", "-o", "new"}), 2, {"no such trace"}));
  EXPECT_FALSE(std::filesystem::exists(path("new"))) << "nothing is made for what can't be read";
}

TEST_F(Export, GraphIsDrawn) {
  ASSERT_TRUE(ended(exported("dot", "r.dot"), 0));
  const std::string dot = read("r.dot");
  EXPECT_NE(dot.find("f3 [label=\"work (i=3)\\nrank 0, 2000.0 us\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("f2 -> f3;"), std::string::npos) << dot;
  EXPECT_EQ(dot.find("  f0 "), std::string::npos) << "main is no kernel";
}

TEST_F(Export, SaysWhatIsWrong) {
  EXPECT_TRUE(ended(tessera({"export", "r.trace", "-f", "vampir", "-o", "x"}), 2, {"perfetto"}));
  EXPECT_TRUE(ended(tessera({"export", "r.trace", "-f", "dot"}), 2, {"--output is required"}));
  EXPECT_TRUE(ended(tessera({"export", "no.trace", "-f", "dot", "-o", "x"}), 2, {"no such trace"}));
  EXPECT_TRUE(ended(exported("chrome", "no/such/x"), 2, {"-o", "no/such"}));
  EXPECT_TRUE(ended(exported("csv", "r.trace"), 2, {"csv is several files"}));
  std::string many = "tessera-trace 1\nprogram - p\ngroup 0 : k\n", times;
  for (int i = 0; i < 2001; ++i) {
    many += "f " + std::to_string(i) + " 0 - - 1 0\n";
    times += "t " + std::to_string(i) + " 0 0 " + std::to_string(i) + " 1 0\n";
  }
  write("many.trace", many + "run 3000 live none\nrank 0 1 same-host 0 0 h\nblock 0 0 kernel 1 : 1 in p k()\n" + times +
                          "end 2001\n");
  EXPECT_TRUE(ended(tessera({"export", "many.trace", "-f", "dot", "-o", "x"}), 2, {"2001 fragments"}));
}

}  // namespace
}  // namespace tessera::tests
