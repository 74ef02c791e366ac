#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/report/page.hpp"
#include "cli/tools.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"

namespace tessera::cli {
namespace {

struct ReportRequest {
  std::vector<std::string> traces;
  std::string output = "report.html";
  Part part;
};

int report(const ReportRequest& q) {
  try {
    launch::check_writable(q.output, "-o");
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  std::vector<RunRecord> runs;
  for (const std::string& path : q.traces) runs.push_back(read_run(path, q.part));
  for (const RunRecord& r : runs) {
    if (runs.size() > 1) std::printf("%s:\n", r.name.c_str());
    for (const std::string& n : r.times().notes) std::printf("note: %s\n", n.c_str());
    for (const std::string& s : sentences(r)) std::printf("- %s\n", s.c_str());
  }
  const std::string wrong = files::write_whole(q.output, page_of(runs));
  if (!wrong.empty()) throw environment_error("-o: can't write " + q.output + ": " + wrong);
  std::printf("%s: open it with a browser\n", q.output.c_str());
  return runtime::kExitOk;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("report", tool_about("report"));
  const auto q = std::make_shared<ReportRequest>();
  sub->add_option("traces", q->traces, "recorded runs (run --record); several are shown on one time axis")
      ->option_text("TRACE...")
      ->required()
      ->expected(1, kMostRuns);
  sub->add_option("-o,--output", q->output, "the page, one file; default report.html")->option_text("FILE.html");
  add_part(*sub, q->part);
  sub->footer(
      "The page needs a browser and no network. docs/reading-a-report.md shows how to read it.\n\n"
      "  tessera run app.fa -n 4 --record app.trace && tessera report app.trace -o app.html\n"
      "  tessera report before.trace after.trace");
  sub->callback([q, &action] { action = [q](const Arguments&) { return report(*q); }; });
}

}  // namespace tessera::cli
