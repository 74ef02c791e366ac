#include "cli/lsp/workspace.hpp"

#include "cli/lsp/text.hpp"
#include "compiler/format/pieces.hpp"
#include "files/whole_file.hpp"

namespace tessera::cli::lsp {
namespace {

namespace fs = std::filesystem;
using compiler::format::Piece;

constexpr int kMostNeighbours = 200;  // files looked at to find who includes one

bool has_main(const std::string& text) {
  std::string_view before;
  for (const Piece& p : compiler::format::pieces(text)) {
    if (p.is_space() || p.is_comment()) continue;
    if (before == "sub" && p.text == "main") return true;
    before = p.text;
  }
  return false;
}

}  // namespace

fs::path settled(const fs::path& path) {
  std::error_code ignored;
  fs::path whole = fs::weakly_canonical(path, ignored);
  return whole.empty() ? path : whole;
}

std::optional<std::uint32_t> number_of(const compiler::Index& index, const fs::path& path) {
  for (std::uint32_t k = 0; k < index.files.size(); ++k) {
    if (!index.files[k].path.empty() && settled(index.files[k].path) == path) return k;
  }
  return std::nullopt;
}

void Workspace::changed() {
  for (auto& entry : programs_) entry.second.current = false;
}

void Workspace::forget() {
  changed();
  roots_.clear();
}

void Workspace::open(const fs::path& path, Document document) {
  documents_.insert_or_assign(path, std::move(document));
  forget();
}

void Workspace::change(const fs::path& path, std::int64_t version, std::string text) {
  const auto it = documents_.find(path);
  if (it == documents_.end()) return;
  it->second.version = version;
  it->second.text = std::move(text);
  changed();
}

void Workspace::close(const fs::path& path) {
  documents_.erase(path);
  forget();
  std::set<fs::path> used;
  for (const auto& entry : documents_) used.insert(root(entry.first));
  std::erase_if(programs_, [&](const auto& entry) { return used.count(entry.first) == 0; });
}

const Document* Workspace::document(const fs::path& path) const {
  const auto it = documents_.find(path);
  return it == documents_.end() ? nullptr : &it->second;
}

std::string Workspace::text(const fs::path& path) const {
  const Document* d = document(settled(path));
  return d != nullptr ? d->text : files::read_whole(path).value_or("");
}

std::string Workspace::uri(const fs::path& path) const {
  const Document* d = document(path);
  return d != nullptr ? d->uri : uri_of(path);
}

compiler::Options Workspace::options() const {
  compiler::Options options = options_;
  options.called = true;  // nobody says whether it is one
  for (const auto& [path, document] : documents_) options.unsaved[path] = document.text;
  return options;
}

fs::path Workspace::root(const fs::path& path) {
  const auto known = roots_.find(path);
  if (known != roots_.end()) return known->second;
  fs::path found = path;
  if (!has_main(text(path))) {
    std::error_code ignored;
    std::set<fs::path> neighbours;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored)) {
      if (entry.path().extension() == ".fa" && neighbours.size() < kMostNeighbours) {
        neighbours.insert(settled(entry.path()));
      }
    }
    for (const auto& entry : documents_) neighbours.insert(entry.first);
    for (const fs::path& other : neighbours) {
      if (other == path) continue;
      const std::string source = text(other);
      if (source.find("include") == source.npos || !has_main(source)) continue;
      if (number_of(*program(other).index, path)) {
        found = other;
        break;
      }
    }
  }
  roots_[path] = found;
  return found;
}

const Program& Workspace::program(const fs::path& root) {
  Program& p = programs_[root];
  if (p.current) return p;
  p.output = compiler::translate(root, options());
  p.current = true;
  p.index = p.output.index != nullptr ? p.output.index : std::make_shared<const compiler::Index>();
  if (p.index->complete) p.complete = p.index;
  p.output.program_cpp.clear();
  p.output.program_parts.clear();
  p.output.kernels_cpp.clear();
  return p;
}

Spot Workspace::spot(const fs::path& path, std::size_t offset) {
  Spot s;
  s.path = path;
  s.document = document(path);
  s.offset = offset;
  s.program = &program(root(path));
  if (const auto number = number_of(*s.program->index, path)) {
    s.file = *number;
    s.indexed = true;
  }
  return s;
}

}  // namespace tessera::cli::lsp
