// What people wrote about a declaration, and what there is to say about words of the language.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::cli::lsp {

// comment_above returns the text of the comments that stand directly above the line of `offset`,
// without their signs; "" when there are none. It reads .fa and C++ alike.
std::string comment_above(std::string_view text, std::size_t offset);

// comment_behind returns the `//` comment at the end of that line, or "".
std::string comment_behind(std::string_view text, std::size_t offset);

using Explained = std::vector<std::pair<std::string, std::string>>;  // word, what it means
const Explained& advice_words();
const Explained& pragma_words();
const Explained& keyword_words();
const Explained& directive_words();

// explanation of `word` in a list, or "".
std::string explanation(const Explained& list, std::string_view word);

}  // namespace tessera::cli::lsp
