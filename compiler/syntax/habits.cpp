// What people write by habit of C and its kin: found where it stands, told in the words of this language.
#include <algorithm>
#include <iterator>

#include "compiler/syntax/parser.hpp"

namespace tessera::compiler::syntax {
namespace {

bool is_name(const Token& t) { return t.kind == TokenKind::name; }
bool is_word(const Token& t, std::string_view text) { return is_name(t) && t.text == text; }

bool names_type(const Token& t) {
  static constexpr std::string_view kOthers[] = {"auto",  "bool", "char",   "const",    "double",
                                                 "float", "long", "size_t", "unsigned", "var"};
  if (is_name(t)) return std::find(std::begin(kOthers), std::end(kOthers), t.text) != std::end(kOthers);
  return t.is("int") || t.is("real") || t.is("string") || t.is("name") || t.is("value");
}

// The text from the first token to the last, which are of one text.
std::string between(const Token& first, const Token& last) {
  return {first.text.data(), last.text.data() + last.text.size()};
}

ExprPtr zero(Extent at) {
  auto e = std::make_unique<Expr>();
  e->at = at;
  return e;
}

struct Instead {
  std::string_view word, text;
};
constexpr Instead kInstead[] = {
    {"and", "`and` is written `&&`"},
    {"break",
     "a loop is not left: a `while` ends with its condition, and `if` in the body chooses what an iteration does"},
    {"continue", "an iteration is not left: `if` in the body chooses what it does"},
    {"do", "the body follows the condition without `do`"},
    {"elif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"foreach", "a loop has a counter and its two bounds, both included: `for i = first..last`"},
    {"not", "`not` is written `!`"},
    {"or", "`or` is written `||`"},
    {"return", "nothing is returned: a sub or kernel gives its results to its `name` parameters"},
    {"then", "the body follows the condition without `then`"},
};

}  // namespace

void Parser::skip_bracket() {
  int depth = 0;
  while (peek().kind != TokenKind::end && !peek().is("{") && !peek().is("}")) {
    const Token& t = take();
    if (t.is("(")) ++depth;
    if (t.is(")") && --depth == 0) return;
  }
}

void Parser::c_loop(For& node) {
  if (!peek().is("(")) return;
  const std::size_t typed = names_type(peek(1)) && is_name(peek(2)) ? 1 : 0;
  const Token& counter = peek(1 + typed);
  if (!is_name(counter) || !peek(2 + typed).is("=")) return;
  const std::size_t first = 3 + typed;
  std::size_t ends[3] = {0, 0, 0};  // of the three parts, or of a range
  std::size_t parts = 0;
  std::string range;
  int depth = 1;
  for (std::size_t k = 1; parts < 3 && peek(k).kind != TokenKind::end && !peek(k).is("{"); ++k) {
    if (peek(k).is("(")) ++depth;
    if (peek(k).is(")")) --depth;
    if ((peek(k).is(";") && depth == 1) || depth == 0) ends[parts++] = k;
    if (depth == 0) break;
  }
  if (parts == 1 && ends[0] > first) range = between(peek(first), peek(ends[0] - 1));
  const std::size_t test = ends[0] + 1;
  const bool compares = parts == 3 && peek(test).text == counter.text && ends[1] > test + 2 && ends[0] > first &&
                        (peek(test + 1).is("<") || peek(test + 1).is("<="));
  if (compares) {
    range = between(peek(first), peek(ends[0] - 1)) + ".." + between(peek(test + 2), peek(ends[1] - 1));
    if (peek(test + 1).is("<")) range += " - 1";
  }
  if (range.empty()) range = "first..last";
  node.counter = {std::string(counter.text), counter.extent};
  const Extent begin = peek().extent;
  skip_bracket();
  diagnostics_.error("T143", join(begin, behind()),
                     "a loop has a counter and its two bounds, both included, without brackets: `for " +
                         node.counter.text + " = " + range + "`");
  node.first = zero(begin);  // its body may have mistakes of its own
  node.last = zero(begin);
}

bool Parser::c_variable(Block* block) {
  if (!names_type(peek()) || !is_name(peek(1))) return false;
  const Token& behind_name = peek(2);
  if (!behind_name.is(";") && !behind_name.is("=") && !behind_name.is(",") && !behind_name.is("[")) return false;
  const std::string name(peek(1).text);
  const bool valued = behind_name.is("=");
  diagnostics_.error(
      "T144", join(peek().extent, peek(1).extent),
      "there are no variables: " +
          (valued ? "`let " + name + " = ... { }` names an expression, and `df " + name +
                        ";` a data fragment, which a call assigns"
                  : "`df " + name + ";` declares a data fragment, which has the type of what a call assigns"));
  if (block == nullptr) throw Failure{};
  take();
  block->names.push_back(this->name("a name"));  // so that its uses are no second mistake
  while (peek().kind != TokenKind::end && !peek().is("}") && !peek().is("{")) {
    if (take().is(";")) break;
    if (is_name(peek()) && tokens_[pos_ - 1].is(",")) block->names.push_back(this->name("a name"));
  }
  return true;
}

void Parser::c_change() const {
  std::size_t k = 0;
  int depth = 0;
  while (peek(k).is("[") || (depth > 0 && peek(k).kind != TokenKind::end && !peek(k).is(";"))) {
    if (peek(k).is("[")) ++depth;
    if (peek(k).is("]")) --depth;
    ++k;
  }
  if (peek(k).is("=")) {
    fail("T136", peek(k).extent, "there is no assignment: a data fragment gets its value from a call");
  }
  const bool twice = (peek(k).is("+") || peek(k).is("-")) && peek(k + 1).text == peek(k).text;
  const bool sign = peek(k).is("+") || peek(k).is("-") || peek(k).is("*") || peek(k).is("/") || peek(k).is("%");
  if (!twice && !(sign && peek(k + 1).is("="))) return;
  fail("T145", join(peek(k).extent, peek(k + 1).extent),
       "nothing changes its value: each step gives another fragment its own, as in `next(x[i], x[i + 1])`");
}

void Parser::c_word() const {
  if (!is_name(peek()) || peek(1).is("(")) return;
  for (const Instead& i : kInstead) {
    if (is_word(peek(), i.word)) fail("T147", peek().extent, std::string(i.text));
  }
}

void Parser::no_assignment() const {
  if (!peek().is("=")) return;
  fail("T146", peek().extent, "`=` does not compare, and there is no assignment: equality is written `==`");
}

}  // namespace tessera::compiler::syntax
