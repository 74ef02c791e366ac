#include "cli/lsp/server.hpp"

#include <functional>
#include <map>
#include <tuple>

#include "cli/lsp/features.hpp"
#include "cli/lsp/inbox.hpp"
#include "cli/lsp/workspace.hpp"
#include "version.hpp"

namespace tessera::cli::lsp {
namespace {

namespace fs = std::filesystem;

constexpr int kParseError = -32700, kInvalidRequest = -32600, kInternalError = -32603;
constexpr int kNotInitialized = -32002, kCancelled = -32800;

// Server is one conversation. Messages are answered in order by one thread; checks of programs run
// when no message waits, and what they say is dropped when an edit has come meanwhile.
class Server {
 public:
  Server(int in, int out, compiler::Options options) : inbox_(in), out_(out), workspace_(std::move(options)) {
    add_requests();
    add_notifications();
  }

  int run() {
    while (true) {
      const bool work = !unchecked_.empty();
      const std::optional<Incoming> incoming = inbox_.take(!work);
      if (!incoming) {
        check();
      } else if (incoming->end) {
        return shut_ ? 0 : 1;
      } else if (const std::optional<int> code = handle(*incoming)) {
        return *code;
      }
      if (!alive_) return 1;
    }
  }

 private:
  using Params = const Json&;

  void send(const Json& message) {
    // Texts from disk may be no UTF-8.
    alive_ = write_frame(out_, message.dump(-1, ' ', false, Json::error_handler_t::replace)) && alive_;
  }
  void notify(const char* method, Json params) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  void answer(const Json& id, Json result) { send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}); }
  void refuse(const Json& id, int code, const std::string& text) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
  }

  // handle answers one message; a number ends the conversation.
  std::optional<int> handle(const Incoming& incoming) {
    const Json& m = incoming.message;
    if (m.is_discarded()) {
      refuse(nullptr, kParseError, "this is no JSON");
      return std::nullopt;
    }
    const bool request = m.is_object() && m.contains("id");
    const Json id = request ? m["id"] : Json();
    if (!m.is_object() || !m.contains("method") || !m["method"].is_string()) {
      // An answer to a request of ours; there are none, so nothing waits for it.
      const bool response = request && (m.contains("result") || m.contains("error"));
      if (!response) refuse(id, kInvalidRequest, "this is no request");
      return std::nullopt;
    }
    const std::string method = m["method"];
    if (method == "exit") return shut_ ? 0 : 1;
    const Json params = m.value("params", Json::object());
    if (!request) {
      const auto found = notifications_.find(method);
      if (initialized_ && !shut_ && found != notifications_.end()) {
        try {
          found->second(params);
        } catch (const std::exception& e) {
          notify("window/logMessage", {{"type", 1}, {"message", method + ": " + e.what()}});
        }
      }
      return std::nullopt;
    }
    const auto found = requests_.find(method);
    if (incoming.cancelled) {
      refuse(id, kCancelled, "cancelled");
    } else if (shut_) {
      refuse(id, kInvalidRequest, "the server has been shut down");
    } else if (!initialized_ && method != "initialize") {
      refuse(id, kNotInitialized, "initialize comes first");
    } else if (found == requests_.end()) {
      refuse(id, kMethodNotFound, "there is no method " + method);
    } else {
      try {
        answer(id, found->second(params));
      } catch (const RequestError& e) {
        refuse(id, e.code, e.what());
      } catch (const Json::exception& e) {
        const std::string text = e.what();  // "[json.exception...] ..."
        const std::size_t from = text.find("] ");
        refuse(id, kInvalidParams,
               "the parameters of " + method +
                   " are not as the protocol has them: " + (from == text.npos ? text : text.substr(from + 2)));
      } catch (const std::exception& e) {
        refuse(id, kInternalError, e.what());
      }
    }
    return std::nullopt;
  }

  // spot of a request; throws when the document is not open.
  Spot spot(Params p) {
    const fs::path path = path_of(p.at("textDocument").at("uri").get<std::string>());
    const Document* d = workspace_.document(path);
    if (d == nullptr) throw RequestError(kInvalidParams, "this document is not open");
    std::size_t offset = 0;
    if (p.contains("position")) {
      const Json& at = p.at("position");
      offset = offset_at(d->text, {at.at("line").get<std::uint32_t>(), at.at("character").get<std::uint32_t>()});
    }
    return workspace_.spot(path, offset);
  }

  void add_requests() {
    requests_["initialize"] = [this](Params) { return initialize(); };
    requests_["shutdown"] = [this](Params) {
      shut_ = true;
      return Json();
    };
    requests_["textDocument/definition"] = [this](Params p) { return definition(workspace_, kernels_, spot(p)); };
    requests_["textDocument/references"] = [this](Params p) {
      const Json context = p.value("context", Json::object());
      return references(workspace_, spot(p), context.value("includeDeclaration", true));
    };
    requests_["textDocument/hover"] = [this](Params p) { return hover(workspace_, kernels_, spot(p)); };
    requests_["textDocument/completion"] = [this](Params p) { return completion(spot(p)); };
    requests_["textDocument/documentSymbol"] = [this](Params p) { return document_symbols(spot(p)); };
    requests_["textDocument/formatting"] = [this](Params p) { return formatting(workspace_, spot(p)); };
    requests_["textDocument/prepareRename"] = [this](Params p) { return prepare_rename(spot(p)); };
    requests_["textDocument/rename"] = [this](Params p) {
      std::string warning;
      Json result = rename(workspace_, spot(p), p.at("newName").get<std::string>(), warning);
      if (!warning.empty()) notify("window/showMessage", {{"type", 2}, {"message", warning}});
      return result;
    };
  }

  void add_notifications() {
    notifications_["textDocument/didOpen"] = [this](Params p) {
      const Json& d = p.at("textDocument");
      const std::string uri = d.at("uri");
      workspace_.open(path_of(uri), {uri, d.value("version", std::int64_t{0}), d.at("text").get<std::string>()});
      check_later();
    };
    notifications_["textDocument/didChange"] = [this](Params p) {
      const Json& d = p.at("textDocument");
      const Json& changes = p.at("contentChanges");
      if (changes.empty()) return;
      const Json version = d.value("version", Json());  // the last change holds the whole text
      workspace_.change(path_of(d.at("uri").get<std::string>()),
                        version.is_number_integer() ? version.get<std::int64_t>() : 0,
                        changes.back().at("text").get<std::string>());
      check_later();
    };
    notifications_["textDocument/didClose"] = [this](Params p) {
      workspace_.close(path_of(p.at("textDocument").at("uri").get<std::string>()));
      check_later();
    };
    const auto on_disk = [this](Params) {
      workspace_.forget();
      check_later();
    };
    notifications_["textDocument/didSave"] = on_disk;
    notifications_["workspace/didChangeWatchedFiles"] = on_disk;
  }

  Json initialize() {
    initialized_ = true;
    return {{"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", 1}, {"save", true}}},
              {"definitionProvider", true},
              {"referencesProvider", true},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {"$", "#"}}}},
              {"documentSymbolProvider", true},
              {"documentFormattingProvider", true},
              {"renameProvider", {{"prepareProvider", true}}}}},
            {"serverInfo", {{"name", "tessera"}, {"version", TESSERA_VERSION}}}};
  }

  // check_later notes that the programs of all open documents want a look.
  void check_later() {
    unchecked_.clear();
    for (const auto& entry : workspace_.documents()) unchecked_.insert(entry.first);
    if (unchecked_.empty()) publish_all({});
    checked_.clear();
  }

  // check looks at one document's program and says what is wrong when all have been looked at.
  void check() {
    const fs::path path = *unchecked_.begin();
    const fs::path root = workspace_.root(path);
    if (checked_.count(root) == 0) {
      checked_[root] = workspace_.program(root).output.diagnostics;
      if (inbox_.edits_waiting()) return;  // this is about an older text; it stays unchecked
    }
    unchecked_.erase(unchecked_.begin());
    if (unchecked_.empty()) publish_all(checked_);
  }

  void publish_all(const std::map<fs::path, std::vector<compiler::Diagnostic>>& programs) {
    std::map<fs::path, Json> found;
    for (const auto& entry : workspace_.documents()) found[entry.first] = Json::array();
    for (const auto& entry : published_) found[entry.first] = Json::array();
    for (const auto& entry : programs) {
      for (const compiler::Diagnostic& d : entry.second) {
        Json one = diagnostic(workspace_, d);
        Json& list = found.try_emplace(settled(d.span.file), Json::array()).first->second;
        if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(std::move(one));
      }
    }
    for (auto& [path, list] : found) {
      const Document* d = workspace_.document(path);
      const bool known = published_.count(path) != 0;
      if (list.empty() && d == nullptr && !known) continue;
      Json params = {{"uri", known && d == nullptr ? published_[path] : workspace_.uri(path)}};
      if (d != nullptr) params["version"] = d->version;
      if (list.empty()) {
        published_.erase(path);
      } else {
        published_[path] = params["uri"];
      }
      params["diagnostics"] = std::move(list);
      notify("textDocument/publishDiagnostics", std::move(params));
    }
  }

  Inbox inbox_;
  int out_;
  Workspace workspace_;
  Kernels kernels_;
  std::map<std::string, std::function<Json(Params)>> requests_;
  std::map<std::string, std::function<void(Params)>> notifications_;
  std::set<fs::path> unchecked_;                                   // documents
  std::map<fs::path, std::vector<compiler::Diagnostic>> checked_;  // programs, since the last change
  std::map<fs::path, std::string> published_;                      // files with diagnostics, their URIs
  bool initialized_ = false;
  bool shut_ = false;
  bool alive_ = true;  // somebody reads what we write
};

}  // namespace

int serve(int in, int out, compiler::Options options) { return Server(in, out, std::move(options)).run(); }

}  // namespace tessera::cli::lsp
