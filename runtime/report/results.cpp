// What rank 0 leaves behind after a good run. Before it the files could be written: what is in the way now is the
// machine's.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "files/whole_file.hpp"
#include "runtime/balance/profiles.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/trace/trace_report.hpp"

namespace tessera::runtime {

int write_results(Node& node) {
  const Summary s = summarise(node);
  int code = kExitOk;
  if (!node.options.quiet) std::fputs(text_of(s).c_str(), stderr);
  if (!node.options.summary_json.empty()) {
    const std::string error = files::write_whole(node.options.summary_json, json_of(s));
    if (!error.empty()) {
      std::fprintf(stderr, "tessera: error: --summary: can't write %s: %s\n", node.options.summary_json.c_str(),
                   error.c_str());
      code = kExitEnvironment;
    }
  }
  if (!node.options.record.empty()) {
    std::string missing;
    const std::string error = write_trace(node, missing);
    if (!missing.empty()) std::fprintf(stderr, "tessera: warning: --record: %s\n", missing.c_str());
    if (!error.empty()) {
      std::fprintf(stderr, "tessera: error: %s\n", error.c_str());
      code = kExitEnvironment;
    }
  }
  if (!node.options.save_groups.empty()) {
    const std::string error = save_profile(node, s);
    if (!error.empty()) {
      std::fprintf(stderr, "tessera: error: %s\n", error.c_str());
      code = kExitEnvironment;
    }
  }
  return code;
}

}  // namespace tessera::runtime
