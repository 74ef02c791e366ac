// The documents an editor has open, and what the translator says of the programs they belong to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/compiler.hpp"
#include "compiler/index.hpp"

namespace tessera::cli::lsp {

struct Document {
  std::string uri;
  std::int64_t version = 0;
  std::string text;
};

// What is known of one program.
struct Program {
  bool current = false;  // nothing changed since
  compiler::Output output;
  std::shared_ptr<const compiler::Index> index;     // of `output`, or an empty one
  std::shared_ptr<const compiler::Index> complete;  // the latest of a text without mistakes, or null
};

// A place in an open document, and the program it is seen in.
struct Spot {
  std::filesystem::path path;
  const Document* document = nullptr;
  std::size_t offset = 0;  // in the document
  const Program* program = nullptr;
  std::uint32_t file = 0;  // the document's number in program->index
  bool indexed = false;    // whether it has one
};

class Workspace {
 public:
  explicit Workspace(compiler::Options options) : options_(std::move(options)) { options_.index = true; }

  void open(const std::filesystem::path& path, Document document);
  void change(const std::filesystem::path& path, std::int64_t version, std::string text);
  void close(const std::filesystem::path& path);
  // forget: files changed on disk.
  void forget();

  const Document* document(const std::filesystem::path& path) const;
  const std::map<std::filesystem::path, Document>& documents() const { return documents_; }

  // root returns the program that a file belongs to: itself when it has a `sub main` or nobody
  // beside it includes it, else the program that does.
  std::filesystem::path root(const std::filesystem::path& path);
  // program translates a root, unless nothing changed since the last time.
  const Program& program(const std::filesystem::path& root);
  Spot spot(const std::filesystem::path& path, std::size_t offset);

  // text of a file as the editor sees it; "" when there is none.
  std::string text(const std::filesystem::path& path) const;
  // options of translation, open documents included.
  compiler::Options options() const;
  std::string uri(const std::filesystem::path& path) const;

 private:
  void changed();

  compiler::Options options_;
  std::map<std::filesystem::path, Document> documents_;
  std::map<std::filesystem::path, std::filesystem::path> roots_;
  std::map<std::filesystem::path, Program> programs_;
};

// settled: the canonical path, also of a file that does not exist.
std::filesystem::path settled(const std::filesystem::path& path);

// number_of returns which file of the index `path` is.
std::optional<std::uint32_t> number_of(const compiler::Index& index, const std::filesystem::path& path);

}  // namespace tessera::cli::lsp
