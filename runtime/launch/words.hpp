// Command lines as text: TESSERA_OPTIONS, CXX, CXXFLAGS and LDFLAGS are read with the shell's
// quoting rules, and arguments are written back so that splitting them gives the same words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::launch {

// split_words splits like a POSIX shell without expansions: blanks separate; '...' is literal; inside
// "..." a backslash escapes " and backslash; outside quotes it escapes anything. Throws
// std::invalid_argument when a quote is not closed.
std::vector<std::string> split_words(std::string_view text);

// join_words is the inverse: split_words(join_words(w)) == w.
std::string join_words(const std::vector<std::string>& words);

}  // namespace tessera::launch
