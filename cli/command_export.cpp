// `tessera export`: a recorded run for other programs.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/export/export.hpp"
#include "cli/failure.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

struct ExportRequest {
  std::string trace, format, output;
  Part part;
};

void write_one(const fs::path& path, void (*write)(const RunRecord&, std::ostream&), const RunRecord& r) {
  const std::string wrong = files::write_whole(path, [&](std::ostream& out) { write(r, out); });
  if (!wrong.empty()) throw environment_error("-o: can't write " + path.string() + ": " + wrong);
}

int export_run(const ExportRequest& q) {
  const bool tables = q.format == "csv";
  std::error_code e;
  if (tables) {
    fs::create_directories(q.output, e);
    if (!fs::is_directory(q.output))
      throw usage_error("-o: csv is several files, and " + q.output + " can't be their folder");
  } else {
    try {
      launch::check_writable(q.output, "-o");
    } catch (const launch::OptionsError& wrong) {
      throw usage_error(wrong.what());
    }
  }
  const RunRecord r = read_run(q.trace, q.part);
  for (const std::string& n : r.times().notes) std::fprintf(stderr, "tessera: note: %s\n", n.c_str());
  if (tables) {
    for (const CsvFile& f : csv_files()) write_one(fs::path(q.output) / f.name, f.write, r);
  } else {
    write_one(q.output, q.format == "perfetto" ? write_perfetto : q.format == "chrome" ? write_chrome : write_dot, r);
  }
  return runtime::kExitOk;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("export", "a recorded run for other programs: Perfetto, Chrome, tables, Graphviz");
  const auto q = std::make_shared<ExportRequest>();
  sub->add_option("trace", q->trace, "a recorded run (run --record)")->option_text("TRACE")->required();
  sub->add_option("-f,--format", q->format,
                  "perfetto (ui.perfetto.dev), chrome (JSON), csv (a folder of tables), dot (Graphviz)")
      ->option_text("NAME")
      ->required()
      ->check(CLI::IsMember({"perfetto", "chrome", "csv", "dot"}));
  sub->add_option("-o,--output", q->output, "where to write; of csv a folder")->option_text("FILE|FOLDER")->required();
  add_part(*sub, q->part);
  sub->footer(
      "docs/reading-a-report.md says what is in them.\n\n"
      "  tessera run app.fa -n 4 --record app.trace && tessera export app.trace -f perfetto -o app.pftrace\n"
      "  tessera export app.trace -f csv -o app.tables");
  sub->callback([q, &action] { action = [q](const Arguments&) { return export_run(*q); }; });
}

}  // namespace tessera::cli
