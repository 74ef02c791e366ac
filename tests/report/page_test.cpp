// The page in a browser: it opens from the disk without a network, its numbers are those of the record, and zoom,
// search, filter and clicks do what they say.
#include <fstream>

#include "browser.hpp"
#include "command.hpp"
#include "small_trace.hpp"

namespace tessera::tests {
namespace {

class Page : public Command {
 protected:
  void SetUp() override {
    const std::string program = Browser::find();
    if (program.empty())
      GTEST_SKIP() << "no Chromium on this machine: install chromium-headless-shell, or set TESSERA_BROWSER";
    browser_ = std::make_unique<Browser>(program);
  }
  void TearDown() override {
    if (!browser_) return;
    EXPECT_EQ(browser_->complaints(), std::vector<std::string>{});
  }
  void show(const std::string& trace) {
    write("r.trace", trace);
    ASSERT_TRUE(ended(tessera({"report", "r.trace", "-o", "r.html"}), 0));
    browser_->open(path("r.html").string());
    ASSERT_EQ(value("report.error || null"), nullptr);
  }
  nlohmann::json value(const std::string& expression) { return browser_->value(expression); }
  std::string text(const std::string& id) { return value("document.getElementById('" + id + "').innerText"); }
  // Where on the screen that time (ns) of a row of the timeline is.
  std::pair<double, double> place(double at, int row) {
    const auto p =
        value("(() => { const t = report.timeline, r = t.canvas.getBoundingClientRect(); return [r.left + t.x(" +
              std::to_string(at) + "), r.top + t.rows[" + std::to_string(row) + "].y + t.height / 2]; })()");
    return {p[0], p[1]};
  }
  // `#rrggbb` of that point of the timeline.
  std::string colour(double at, int row) {
    return value(
        "(() => { const t = report.timeline, c = document.createElement('canvas'); c.width = c.height = 1; "
        "const g = c.getContext('2d'); g.drawImage(t.canvas, t.x(" +
        std::to_string(at) + ") * t.dpr, (t.rows[" + std::to_string(row) +
        "].y + t.height / 4) * t.dpr, 1, 1, 0, 0, 1, 1); return '#' + Array.from(g.getImageData(0, 0, 1, "
        "1).data).slice(0, 3).map((v) => v.toString(16).padStart(2, '0')).join(''); })()");
  }
  std::unique_ptr<Browser> browser_;
};

TEST_F(Page, ShowsWhatTheRecordHas) {
  show(kSmallTrace);
  EXPECT_NE(text("facts").find("6.11 ms on 2 ranks, 2 workers, balancer steal, 3 runs of kernels"), std::string::npos)
      << text("facts");
  // Of each item all that the record says.
  EXPECT_EQ(value("(() => { const r = report.runs[0]; return [0, 1, 2].map((i) => [r.start(i), r.end(i), r.label(i), "
                  "r.where(i), r.wait(i), r.travel(i), r.by(i), r.slots(i, true)]); })()"),
            nlohmann::json::parse(R"json([
    [100000, 2100000, "work (i=1)", "rank 0", 0, 0, -1, ["x[1]"]],
    [4005000, 6005000, "work (i=3)", "rank 0", 4992, 489472, 2, ["x[3]"]],
    [510000, 3510000, "work (i=2)", "rank 1", 9984, 399360, -1, ["x[2]"]]])json"));
  EXPECT_EQ(value("report.runs[0].inputs(1)"),
            nlohmann::json::parse(R"json([{"item": 2, "bytes": 8, "came": 4000008}])json"));
  EXPECT_EQ(value("report.runs[0].readers(2)"), nlohmann::json({1}));
  // Tables.
  EXPECT_NE(text("groups").find("work\tsmall.fa:3\t3\t2.33 ms"), std::string::npos) << text("groups");
  EXPECT_NE(text("pathlist").find("waiting until the balancer moved something"), std::string::npos);
  EXPECT_NE(text("decisions_title").find("1 decision"), std::string::npos);
  EXPECT_NE(value("document.getElementById('decisions').textContent")
                .get<std::string>()
                .find("rank 1: stolen: 1 of work 0 → 1; rank 0 had 7.00 ms"),
            std::string::npos);
  EXPECT_NE(text("source").find("</script><!--<script>"), std::string::npos);
  // Bars where they belong, in the colour of their group; nothing between them.
  browser_->drawn();
  const std::string work = value("report.runs[0].groups[1].colour"), paper = "#ffffff";
  EXPECT_EQ(colour(1e6, 0), work);
  EXPECT_EQ(colour(3.3e6, 0), paper);
  EXPECT_EQ(colour(5e6, 0), work);
  EXPECT_EQ(colour(0.2e6, 1), paper);
  EXPECT_EQ(colour(1e6, 1), work);
  EXPECT_EQ(colour(5.3e6, 1), paper);
}

TEST_F(Page, ZoomsSearchesFiltersAndTellsWhy) {
  show(kSmallTrace);
  const auto view = [&] { return value("[report.timeline.t0, report.timeline.t1]"); };
  // Ctrl + wheel: what is under the mouse stays there.
  auto [x, y] = place(4.5e6, 0);
  browser_->wheel(x, y, -400, true);
  const auto closer = view();
  EXPECT_LT(closer[1].get<double>() - closer[0].get<double>(), 4e6);
  EXPECT_NEAR(place(4.5e6, 0).first, x, 1.5);
  // Drag: a hundred pixels.
  browser_->drag(x, y, x - 100);
  EXPECT_NEAR(place(4.5e6, 0).first, x - 100, 1.5);
  browser_->press("0");
  EXPECT_EQ(view()[0], 0);
  // A click tells what it waited for, and who for it.
  std::tie(x, y) = place(5e6, 0);
  browser_->click(x, y);
  std::string detail = text("detail");
  EXPECT_NE(detail.find("work (i=3)"), std::string::npos) << detail;
  EXPECT_NE(detail.find("What it waited for last: work (i=2); then 489 µs on the way"), std::string::npos) << detail;
  EXPECT_NE(detail.find("x[2] of work (i=2), rank 1, made at 3.5100 ms, 8 B; came by a message at 4.0000 ms"),
            std::string::npos)
      << detail;
  value("document.querySelector('#detail a').click()");
  detail = text("detail");
  EXPECT_NE(detail.find("came from rank 0 to rank 1 at 500.00 µs: the balancer moved it"), std::string::npos) << detail;
  browser_->press("Escape");
  EXPECT_TRUE(value("document.getElementById('detail').hidden"));
  browser_->press("0");
  // Search: what is not found is pale.
  for (const auto& [words, found] : std::vector<std::pair<std::string, int>>{
           {"x[2]", 1}, {"i=3", 1}, {"work", 3}, {"work rank 0", 2}, {"x[*]", 3}, {"nothing", 0}}) {
    value("report.find('" + words + "')");
    EXPECT_EQ(text("found"), std::to_string(found) + " found") << words;
  }
  value("report.find('')");
  browser_->press("/");
  browser_->type("x[2]");
  browser_->press("Enter");
  EXPECT_EQ(text("found"), "1 of 1");
  EXPECT_NE(text("detail").find("work (i=2)"), std::string::npos);
  EXPECT_LE(view()[1].get<double>() - view()[0].get<double>(), 24.1e6);
  value("document.getElementById('search').blur(), report.find(''), report.timeline.select(null)");
  browser_->press("0");
  // The legend takes groups away and brings them back.
  const std::string work = value("report.runs[0].groups[1].colour");
  value("document.querySelector('#legend button').click()");
  browser_->drawn();
  EXPECT_NE(colour(1e6, 0), work);
  value("document.querySelector('#legend button').click()");
  browser_->drawn();
  EXPECT_EQ(colour(1e6, 0), work);
  // Dark is dark, everywhere.
  value("document.getElementById('theme').click()");
  browser_->drawn();
  EXPECT_EQ(colour(3.3e6, 0), "#14171b");
  EXPECT_EQ(colour(1e6, 0), work);
}

// A hundred thousand fragments: bins of time instead of bars, and the same sums.
TEST_F(Page, ShowsManyFragments) {
  constexpr int kMany = 100'000, kRanks = 4;
  std::string fragments, times;
  for (int i = 0; i < kMany; ++i) {
    const std::string id = std::to_string(i);
    fragments += "f " + id + " 0 - - 800 8\n";
    times += "t " + id + " " + std::to_string(i % kRanks) + " 0 " + std::to_string(i / kRanks * 1000) + " 800 0 " + id +
             "\n";
  }
  std::string text = "tessera-trace 1\nprogram - p\ngroup 0 : k at p:1\n" + fragments + "run 25000000 live none\n";
  for (int r = 0; r < kRanks; ++r) text += "rank " + std::to_string(r) + " 1 same-host 0 0 h\n";
  text += "block 0 0 kernel 1 i : 1 in p k(i)\n" + times + "end " + std::to_string(kMany) + "\n";
  show(text);
  EXPECT_LT(std::filesystem::file_size(path("r.html")), 400'000u);
  EXPECT_EQ(value("report.runs[0].count"), kMany);
  EXPECT_EQ(value("report.runs[0].label(77777 % 25000 + 25000)"),
            "k (i=" + std::to_string((77777 % 25000) * 4 + 1) + ")");
  EXPECT_NE(this->text("groups").find("100000\t800 ns"), std::string::npos) << this->text("groups");
  browser_->drawn();
  const std::string k = value("report.runs[0].groups[0].colour");
  EXPECT_EQ(value("report.timeline.rows[2].lane.levels.levels[0].bins"), 65536);
  const double cover = value("report.timeline.rows[2].lane.levels.levels.at(-1).cover[20]");
  EXPECT_NEAR(cover, 0.8, 0.02) << "four fifths of the time";
  value("report.timeline.show(1e7, 1.001e7)");
  browser_->drawn();
  EXPECT_EQ(colour(10.0004e6, 3), k);
  EXPECT_EQ(colour(10.0009e6, 3), "#ffffff");
}

}  // namespace
}  // namespace tessera::tests
