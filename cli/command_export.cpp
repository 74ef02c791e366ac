// `tessera export`: a recorded run for other programs.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/export/export.hpp"
#include "cli/failure.hpp"
#include "cli/tools.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

struct ExportRequest {
  std::string trace, format, output;
  Part part;
};

[[noreturn]] void refuse(const std::string& wrong) { throw environment_error("-o: can't write " + wrong); }

void write_file(const RunRecord& r, const std::string& path, void (*write)(const RunRecord&, std::ostream&)) {
  const std::string wrong = files::write_whole(path, [&](std::ostream& out) { write(r, out); });
  if (!wrong.empty()) refuse(path + ": " + wrong);
}

// All of them, or none: what was in the folder stays as it is, and folders that were not there go away again.
void write_tables(const RunRecord& r, const fs::path& folder) {
  std::vector<fs::path> made;
  std::error_code e;
  for (fs::path p = folder.has_filename() ? folder : folder.parent_path(); !p.empty() && !fs::exists(p, e);
       p = p.parent_path())
    made.push_back(p);
  fs::create_directories(folder, e);
  std::string wrong = e ? folder.string() + ": " + e.message() : "";
  std::vector<std::pair<fs::path, files::Writer>> all;
  for (const CsvFile& f : csv_files())
    all.emplace_back(folder / f.name, [&r, &f](std::ostream& out) { f.write(r, out); });
  if (wrong.empty()) wrong = files::write_all(all);
  if (wrong.empty()) return;
  for (const fs::path& p : made) fs::remove(p, e);
  refuse(wrong);
}

int export_run(const ExportRequest& q) {
  const bool tables = q.format == "csv";
  if (tables && fs::exists(q.output) && !fs::is_directory(q.output))
    throw usage_error("-o: csv is several files, and " + q.output + " can't be their folder");
  if (!tables) {
    try {
      launch::check_writable(q.output, "-o");
    } catch (const launch::OptionsError& wrong) {
      throw usage_error(wrong.what());
    }
  }
  const RunRecord r = read_run(q.trace, q.part);
  for (const std::string& n : r.times().notes) std::fprintf(stderr, "tessera: note: %s\n", n.c_str());
  if (tables) {
    write_tables(r, q.output);
  } else {
    write_file(r, q.output, q.format == "perfetto" ? write_perfetto : q.format == "chrome" ? write_chrome : write_dot);
  }
  return runtime::kExitOk;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("export", tool_about("export"));
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
