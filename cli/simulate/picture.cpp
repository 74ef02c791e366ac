// --plot, whatever kind of file it is to be.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cli/failure.hpp"
#include "cli/process.hpp"
#include "cli/report/page.hpp"
#include "cli/simulate/inputs.hpp"
#include "cli/simulate/study.hpp"
#include "files/whole_file.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
namespace sim = balancer::simulator;

constexpr const char* kConverter = "rsvg-convert";

bool ends_with(const std::string& path, const char* ending) { return fs::path(path).extension() == ending; }

void write_png(const std::string& path, const std::string& svg) {
  std::string name = (fs::temp_directory_path() / "tessera-plot-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw environment_error("--plot: no folder for temporary files");
  const fs::path folder = name, in = folder / "plot.svg", out = folder / "plot.png";
  std::ofstream(in) << svg;
  const Finished done = run_all({{kConverter, "--zoom", "2", "-o", out.string(), in.string()}}).front();
  const std::string png = files::read_whole(out).value_or("");
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (done.exit_code != 0 || png.empty()) {
    throw environment_error(std::string("--plot: ") + kConverter + " could not make a PNG of it: " + done.output);
  }
  write_output("--plot", path, png);
}

// Each balancer's run once more, which is the same again, and noted this time.
std::string page(Study study, const std::vector<StudyRow>& rows) {
  study.trace = trace_of("--plot", study);
  std::vector<RunRecord> runs;
  for (const Study::Balancer& b : study.balancers) {
    std::int32_t most = 0;
    for (const StudyRow& r : rows) {
      if (r.balancer == b.name() && r.outcome) most = std::max(most, r.ranks);
    }
    if (most == 0) continue;
    sim::Times times;
    study.record = &times;
    const std::int32_t count = *std::max_element(study.counts.begin(), study.counts.end());
    const StudyRow row = run_row(study, b, count, INT64_MAX);
    runs.push_back(run_of(record_of(study, row), b.name()));
  }
  if (runs.empty()) throw usage_error("--plot: none of the balancers ran");
  return page_of(runs);
}

}  // namespace

void check_plot(const std::string& path, const Study& study) {
  if (ends_with(path, ".png") && !find_program(kConverter)) {
    throw environment_error(std::string("--plot: a PNG is made by ") + kConverter +
                            ", which is not here: install librsvg2-bin, or have a .svg drawn");
  }
  if (!ends_with(path, ".html")) return;
  if (study.balancers.size() > kMostRuns) throw usage_error("--plot: a page has room for four balancers (-b)");
  trace_of("--plot", study);
}

void write_plot(const std::string& path, Study study, const std::vector<StudyRow>& rows) {
  if (path.empty()) return;
  if (ends_with(path, ".html")) return write_output("--plot", path, page(std::move(study), rows));
  const std::string svg = svg_text(study, rows);
  ends_with(path, ".png") ? write_png(path, svg) : write_output("--plot", path, svg);
}

}  // namespace tessera::cli
