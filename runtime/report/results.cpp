// What rank 0 leaves behind after a good run.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "runtime/balance/profiles.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/trace/trace_report.hpp"

namespace tessera::runtime {
namespace {

// Written beside and renamed, so that nobody sees half of it.
bool write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    if (!out.flush()) return false;
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  return !error;
}

}  // namespace

int write_results(Node& node) {
  const Summary s = summarise(node);
  int code = kExitOk;
  if (!node.options.quiet) std::fputs(text_of(s).c_str(), stderr);
  if (!node.options.summary_json.empty() && !write_file(node.options.summary_json, json_of(s))) {
    std::fprintf(stderr, "tessera: error: cannot write the summary to %s\n",
                 node.options.summary_json.c_str());
    code = kExitUsage;
  }
  if (!node.options.record.empty()) {
    const std::string error = write_trace(node);
    if (!error.empty()) {
      std::fprintf(stderr, "tessera: error: %s\n", error.c_str());
      code = kExitUsage;
    }
  }
  if (!node.options.save_groups.empty()) {
    const std::string error = save_profile(node, s);
    if (!error.empty()) {
      std::fprintf(stderr, "tessera: error: %s\n", error.c_str());
      code = kExitUsage;
    }
  }
  return code;
}

}  // namespace tessera::runtime
