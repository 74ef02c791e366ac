// What rank 0 leaves behind after a good run. Before it the files could be written: what is in the way now is the
// machine's.
#include "runtime/node/results.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "files/whole_file.hpp"
#include "runtime/balance/profiles.hpp"
#include "runtime/report/trace_report.hpp"
#include "runtime/start/caller.hpp"

namespace tessera::runtime {

int write_results(const RunOver& over) {
  const RunOptions& options = over.facts.options;
  const Summary s = summarise(over);
  int code = kExitOk;
  if (!options.quiet) std::fputs(text_of(s).c_str(), stderr);
  if (options.caller != nullptr) options.caller->summary = json_of(s);
  if (!options.summary_json.empty()) {
    const std::string error = files::write_whole(options.summary_json, json_of(s));
    if (!error.empty()) {
      tell(options, fmt::format("tessera: error: --summary: can't write {}: {}\n", options.summary_json, error));
      code = kExitEnvironment;
    }
  }
  if (!options.record.empty()) {
    std::string missing;
    const std::string error = write_trace(over, missing);
    if (!missing.empty()) std::fprintf(stderr, "tessera: warning: --record: %s\n", missing.c_str());
    if (!error.empty()) {
      tell(options, "tessera: error: " + error + "\n");
      code = kExitEnvironment;
    }
  }
  if (!options.save_groups.empty()) {
    const std::string error = save_profile(over, s);
    if (!error.empty()) {
      tell(options, "tessera: error: " + error + "\n");
      code = kExitEnvironment;
    }
  }
  return code;
}

}  // namespace tessera::runtime
