#include "compiler/semantics/declarations.hpp"

#include <cctype>
#include <set>
#include <unordered_map>
#include <vector>

namespace tessera::compiler::semantics {
namespace {

using syntax::Word;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// add_words collects the words of a C++ text.
void add_words(const std::string& text, std::set<std::string>& words) {
  for (std::size_t k = 0; k < text.size();) {
    if (!is_name_char(text[k])) {
      ++k;
      continue;
    }
    std::size_t end = k;
    while (end < text.size() && is_name_char(text[end])) ++end;
    words.insert(text.substr(k, end - k));
    k = end;
  }
}

enum class Kind { fragment, parameter, counter, let };

class Checker {
 public:
  Checker(const syntax::Program& program, const std::string& skipped, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics), mentioned_(program.in_pragmas.begin(), program.in_pragmas.end()) {
    add_words(skipped, mentioned_);
  }

  void run() {
    for (const syntax::Sub& s : program_.subs) sub(s);
    for (const syntax::CxxSub& s : program_.cxx_subs) add_words(s.body.text, in_cpp_);
    for (const syntax::ForeignText& h : program_.heads) add_words(h.text, in_cpp_);
    callees();
  }

 private:
  struct Declared {
    Kind kind;
    const Word* word;
    bool used = false;
  };
  struct Scope {
    std::vector<Declared> all;                             // in order of declaration
    std::unordered_map<std::string, std::size_t> by_name;  // index in `all`
    Declared& add(Declared d) {
      by_name.try_emplace(d.word->text, all.size());
      all.push_back(d);
      return all.back();
    }
  };

  // ---------------------------------------------------------------- names of values
  Declared* find(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto it = scope->by_name.find(name);
      if (it != scope->by_name.end()) return &scope->all[it->second];
    }
    return nullptr;
  }
  void mark(const std::string& name) {
    if (Declared* d = find(name)) d->used = true;
  }

  void declare(Kind kind, const Word& word) {
    Declared* outer = find(word.text);
    const bool hides_counter =
        outer != nullptr && outer->kind == Kind::counter && (kind == Kind::counter || kind == Kind::fragment);
    if (hides_counter && may_report(word)) {
      diagnostics_
          .warning("T216", word.at,
                   std::string(kind == Kind::counter ? "counter " : "data fragment ") + quote(word.text) +
                       " hides the counter " + quote(word.text) +
                       " of the loop around it; give one of them another name")
          .note(outer->word->at, "the counter that is hidden");
      outer->used = true;  // one message is enough
    }
    scopes_.back().add({kind, &word});
  }

  void open() { scopes_.emplace_back(); }
  void close() {
    for (const Declared& d : scopes_.back().all) {
      if (!d.used) report(d);
    }
    scopes_.pop_back();
  }

  bool may_report(const Word& word) const {
    return word.text[0] != '_' && mentioned_.count(word.text) == 0 && !diagnostics_.from_macro(word.at);
  }

  void report(const Declared& d) {
    const Word& w = *d.word;
    if (!may_report(w) || !diagnostics_.in_main_file(w.at)) return;
    const std::string keep = "; remove it, or call it " + quote("_" + w.text);
    switch (d.kind) {
      case Kind::fragment:
        diagnostics_.warning("T252", w.at, "data fragment " + quote(w.text) + " is never used" + keep);
        break;
      case Kind::parameter:
        diagnostics_.warning("T255", w.at, "parameter " + quote(w.text) + " is never used" + keep);
        break;
      case Kind::counter:
        diagnostics_.warning("T256", w.at,
                             "counter " + quote(w.text) +
                                 " is never used: every iteration is the same; if that is meant, call it " +
                                 quote("_" + w.text));
        break;
      case Kind::let:
        diagnostics_.warning("T251", w.at, "the name " + quote(w.text) + " of this `let` is never used" + keep);
        break;
    }
  }

  // ---------------------------------------------------------------- the tree
  void id(const syntax::Id& i) {
    mark(i.name.text);
    for (const syntax::ExprPtr& e : i.indices) expression(*e);
  }
  void expression(const syntax::Expr& e) {
    if (e.kind == syntax::Expr::Kind::id) id(e.id);
    for (const syntax::ExprPtr& k : e.kids) expression(*k);
  }
  void advice(const syntax::Advice& rules) {
    for (const syntax::Rule& r : rules) {
      for (const syntax::Id& i : r.ids) id(i);
      if (r.expr != nullptr) expression(*r.expr);
    }
  }

  void sub(const syntax::Sub& s) {
    open();
    for (const syntax::Parameter& p : s.parameters) {
      scopes_.back().add({Kind::parameter, &p.name, s.body.statements.empty()});
    }
    block(s.body);
    close();
  }

  void block(const syntax::Block& b) {
    open();
    for (const Word& w : b.names) declare(Kind::fragment, w);
    for (const syntax::Statement& s : b.statements) std::visit([&](const auto& n) { node(n); }, s.node);
    advice(b.advice);
    close();
  }

  void node(const syntax::Call& c) {
    called_.insert(c.callee.text);
    if (c.label) {
      for (const syntax::ExprPtr& e : c.label->indices) expression(*e);
    }
    for (const syntax::ExprPtr& e : c.arguments) expression(*e);
    for (const syntax::Id& i : c.done) id(i);
    for (const syntax::Id& i : c.deletes) id(i);
    advice(c.advice);
  }
  void node(const syntax::For& f) {
    expression(*f.first);
    expression(*f.last);
    open();
    declare(Kind::counter, f.counter);
    scopes_.back().all.back().used = f.body.statements.empty();
    block(f.body);
    close();
  }
  void node(const syntax::While& w) {
    expression(*w.start);
    id(w.out);
    open();
    declare(Kind::counter, w.counter);
    expression(*w.condition);
    block(w.body);
    close();
  }
  void node(const syntax::If& i) {
    expression(*i.condition);
    block(i.body);
    if (i.otherwise) block(*i.otherwise);
  }
  void node(const syntax::Let& l) {
    for (const syntax::Binding& b : l.bindings) {
      expression(*b.value);
      open();
      declare(Kind::let, b.name);
    }
    block(l.body);
    for (std::size_t k = 0; k < l.bindings.size(); ++k) close();
  }

  // ---------------------------------------------------------------- subs and kernels
  void callee(const char* code, const Word& name, const char* what) {
    if (name.text == "main" || called_.count(name.text) != 0 || in_cpp_.count(name.text) != 0) return;
    if (!may_report(name) || !diagnostics_.in_main_file(name.at)) return;
    diagnostics_.warning(code, name.at,
                         std::string(what) + " " + quote(name.text) + " is never called: call it, or remove it");
  }
  void callees() {
    for (const syntax::Sub& s : program_.subs) callee("T253", s.name, "sub");
    for (const syntax::CxxSub& s : program_.cxx_subs) callee("T253", s.name, "kernel");
    for (const syntax::Import& i : program_.imports) callee("T254", i.alias, "the imported kernel");
  }

  const syntax::Program& program_;
  Diagnostics& diagnostics_;
  std::vector<Scope> scopes_;
  std::set<std::string> called_;
  std::set<std::string> in_cpp_;     // words of C++ text
  std::set<std::string> mentioned_;  // in pragmas and in text that was skipped
};

}  // namespace

void check_declarations(const syntax::Program& program, const std::string& skipped, Diagnostics& diagnostics) {
  Checker(program, skipped, diagnostics).run();
}

}  // namespace tessera::compiler::semantics
