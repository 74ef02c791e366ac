#include "compiler/semantics/make_index.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace tessera::compiler::semantics {
namespace {

// The declaration of a parameter's or counter's type.
std::string typed(const Variable& v) {
  const char* type = v.letter == 'i'   ? "int"
                     : v.letter == 'l' ? "long"
                     : v.letter == 'r' ? "real"
                     : v.letter == 's' ? "string"
                     : v.letter == 'v' ? "value"
                                       : "name";
  return std::string(type) + " " + v.name;
}

std::string parameters(const std::vector<syntax::Parameter>& all) {
  std::string text = "(";
  for (const syntax::Parameter& p : all) {
    if (text.size() > 1) text += ", ";
    text += spelling(p.type);
    if (!p.name.text.empty()) text += " " + p.name.text;
  }
  return text + ")";
}

class Maker {
 public:
  Maker(const Sources& sources, const MappedText& text, const Recorder& recorder)
      : sources_(sources), text_(text), recorder_(recorder), index_(std::make_shared<Index>()) {}

  std::shared_ptr<Index> run(const syntax::Program& tree) {
    for (std::uint32_t k = 0; k < sources_.size(); ++k) {
      const SourceFile& file = sources_.file(k);
      index_->files.push_back({file.path, file.text, file.library});
    }
    callables(tree);
    for (const Recorder::Local& l : recorder_.locals) local(l);
    labels();
    for (const Recorder::Use& u : recorder_.uses) {
      const auto found = by_place_.find(u.declared.begin);
      if (found != by_place_.end()) refer(u.at, found->second, false);
    }
    finish();
    return index_;
  }

 private:
  // stretch of the bytes that the user wrote for `extent`.
  Stretch stretch(Extent extent) const {
    if (text_.at.empty()) return {};
    const auto last = static_cast<std::uint32_t>(text_.at.size()) - 1;
    const Place begin = text_.at[std::min(extent.begin, last)];
    const Place end = text_.at[std::min(extent.end == 0 ? 0 : extent.end - 1, last)];
    Stretch s{begin.file, begin.offset, begin.offset + 1, true};
    if (end.file == begin.file && end.offset >= begin.offset) s.end = end.offset + 1;
    return s;
  }
  // name is the stretch of a name: `written` only when its bytes stand in the file.
  Stretch name(Extent extent) const {
    Stretch s = stretch(extent);
    const std::string_view spelled = text_.view(extent);
    const std::string& file = sources_.file(s.file).text;
    s.written =
        !spelled.empty() && file.compare(s.begin, spelled.size(), spelled) == 0 && s.end == s.begin + spelled.size();
    if (!s.written) {  // show the whole macro use
      const Span span = sources_.span(text_, extent);
      s.end = s.begin + static_cast<std::uint32_t>(span.length);
    }
    return s;
  }

  std::uint32_t add(Symbol symbol, Extent at) {
    symbol.at = name(at);
    const auto number = static_cast<std::uint32_t>(index_->symbols.size());
    index_->symbols.push_back(std::move(symbol));
    by_place_.emplace(at.begin, number);
    refer(at, number, true);
    return number;
  }

  void refer(Extent at, std::uint32_t symbol, bool declares) { found_.push_back({at, symbol, declares}); }

  // The user and the library may have the same name, each its own.
  std::string key(const syntax::Word& word) const {
    const bool library = word.at.begin < text_.at.size() && sources_.file(text_.at[word.at.begin].file).library;
    return (library ? "<>" : "") + word.text;
  }

  void callable(Symbol::Kind kind, const syntax::Word& word, std::string signature, Extent whole) {
    const auto [it, fresh] = callables_.try_emplace(key(word), 0);
    if (!fresh) {  // an import met again through an include
      refer(word.at, it->second, false);
      return;
    }
    Symbol s;
    s.kind = kind;
    s.name = word.text;
    s.signature = std::move(signature);
    s.whole = stretch(whole);
    // From the start of the line: the keyword in front of the name belongs to it.
    const std::string& text = sources_.file(s.whole.file).text;
    while (s.whole.begin > 0 && text[s.whole.begin - 1] != '\n') --s.whole.begin;
    it->second = add(std::move(s), word.at);
  }

  void callables(const syntax::Program& tree) {
    for (const syntax::Import& i : tree.imports) {
      std::string text = "import " + i.symbol.text + parameters(i.parameters);
      if (i.alias.at.begin != i.symbol.at.begin) text += " as " + i.alias.text;
      callable(Symbol::Kind::import, i.alias, std::move(text), join(i.symbol.at, i.alias.at));
      index_->symbols[callables_.at(key(i.alias))].external = i.symbol.text;
    }
    for (const syntax::CxxSub& s : tree.cxx_subs) {
      callable(Symbol::Kind::kernel, s.name, "C++ sub " + s.name.text + parameters(s.parameters),
               join(s.name.at, s.body.at));
      for (const syntax::Parameter& p : s.parameters) {
        Symbol parameter;
        parameter.kind = Symbol::Kind::parameter;
        parameter.name = p.name.text;
        parameter.signature = std::string(spelling(p.type)) + " " + p.name.text;
        parameter.reach = stretch(s.body.at);
        add(std::move(parameter), p.name.at);
      }
    }
    for (const syntax::Sub& s : tree.subs) {
      callable(Symbol::Kind::sub, s.name, "sub " + s.name.text + parameters(s.parameters), join(s.name.at, s.body.at));
    }
  }

  void local(const Recorder::Local& l) {
    if (by_place_.count(l.at.begin) != 0) return;  // the counter of `while` is bound twice
    Symbol s;
    s.kind = l.kind;
    s.name = l.name;
    s.reach = stretch(l.reach);
    if (l.kind == Symbol::Kind::fragment) {
      s.signature = "df " + l.name;
    } else if (l.kind == Symbol::Kind::let) {
      s.signature = "let " + l.name + " = ";
      bool blank = false;  // an expression may span lines
      for (const char c : text_.view(l.value)) {
        const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!space || !blank) s.signature += space ? ' ' : c;
        blank = space;
      }
    } else if (l.variable != nullptr) {
      s.signature = typed(*l.variable);
    } else {
      s.signature = "int " + l.name;
    }
    if (l.variable != nullptr) s.producers = l.variable->producers;
    add(std::move(s), l.at);
  }

  // A label may be declared several times, and used before it is declared.
  void labels() {
    std::map<std::pair<std::size_t, std::string>, std::uint32_t> first;
    for (const Recorder::Label& l : recorder_.labels) {
      if (!l.declares) continue;
      const auto [it, fresh] = first.try_emplace({l.sub, l.name.text}, 0);
      if (fresh) {
        Symbol s;
        s.kind = Symbol::Kind::label;
        s.name = l.name.text;
        s.signature = "cf " + l.name.text;
        it->second = add(std::move(s), l.name.at);
      } else {
        refer(l.name.at, it->second, false);
      }
    }
    for (const Recorder::Label& l : recorder_.labels) {
      const auto it = first.find({l.sub, l.name.text});
      if (!l.declares && it != first.end()) refer(l.name.at, it->second, false);
    }
  }

  void finish() {
    const auto order = [](const Found& a, const Found& b) {
      return std::tuple(a.at.begin, a.symbol, !a.declares) < std::tuple(b.at.begin, b.symbol, !b.declares);
    };
    std::sort(found_.begin(), found_.end(), order);
    for (std::size_t k = 0; k < found_.size(); ++k) {
      const Found& f = found_[k];
      if (k > 0 && found_[k - 1].at.begin == f.at.begin && found_[k - 1].symbol == f.symbol) {
        continue;  // the resolver asked twice
      }
      index_->references.push_back({name(f.at), f.symbol, f.declares});
    }
  }

  struct Found {
    Extent at;
    std::uint32_t symbol;
    bool declares;
  };
  const Sources& sources_;
  const MappedText& text_;
  const Recorder& recorder_;
  std::shared_ptr<Index> index_;
  std::map<std::uint32_t, std::uint32_t> by_place_;  // where it is declared -> symbol
  std::map<std::string, std::uint32_t> callables_;
  std::vector<Found> found_;
};

}  // namespace

std::shared_ptr<Index> make_index(const Sources& sources, const MappedText& text, const syntax::Program& tree,
                                  const Recorder& recorder) {
  return Maker(sources, text, recorder).run(tree);
}

}  // namespace tessera::compiler::semantics
