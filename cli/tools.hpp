// Commands that no run needs: those that study runs, plan them, and serve editors. They are a program of their own,
// libexec/tessera-tools, which `tessera` becomes when one of them is asked for; the first `./dev run` does not build
// it.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

struct Tool {
  const char* name;
  const char* about;
};
inline constexpr Tool kTools[] = {
    {"lsp", "the language server, for editors: speaks LSP on stdin and stdout"},
    {"simulate", "run a workload on a simulated cluster, under any balancer"},
    {"advise", "which balancer, parameters and number of ranks for a program"},
    {"report", "a page that shows what a recorded run did, and why"},
    {"status", "what a running program does now"},
    {"top", "... again and again, on the terminal"},
    {"export", "a recorded run for other programs: Perfetto, Chrome, tables, Graphviz"},
};
const char* tool_about(const std::string& name);

// Goes on as tessera-tools, with these words of the command line. Throws Failure (environment) when it is not there.
[[noreturn]] void become_tools(const std::vector<std::string>& words);

}  // namespace tessera::cli
