#include "editor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>

namespace tessera::tests {
namespace {

constexpr int kPatience = 30000 * TESSERA_SLOWER;  // ms for one message

std::size_t offset_of(const std::string& text, const Json& position) {  // ASCII lines only
  std::size_t k = 0;
  for (int line = position.at("line"); line > 0; --line) k = text.find('\n', k) + 1;
  return k + position.at("character").get<std::size_t>();
}

}  // namespace

Editor::Editor() {
  char name[] = "/tmp/tessera lsp.XXXXXX";
  folder_ = std::filesystem::canonical(mkdtemp(name));
  signal(SIGPIPE, SIG_IGN);
}

Editor::~Editor() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {in_, out_}) {
    if (fd >= 0) close(fd);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Editor::start() {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    execl(TESSERA_COMMAND, TESSERA_COMMAND, "lsp", nullptr);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  in_ = to[1];
  out_ = from[0];
}

void Editor::initialize() {
  start();
  const Json hello =
      call("initialize", {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", Json::object()}});
  ASSERT_TRUE(hello.contains("result")) << hello;
  notify("initialized", Json::object());
}

int Editor::wait() {
  int status = 0;
  for (int k = 0; k < kPatience / 10; ++k) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    usleep(10000);
  }
  return -1;
}

int Editor::stop() {
  call("shutdown", nullptr);
  notify("exit", nullptr);
  return wait();
}

void Editor::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string Editor::uri(const std::string& name) const {
  std::string out = "file://";
  for (const char c : (folder_ / name).string()) out += c == ' ' ? std::string("%20") : std::string(1, c);
  return out;
}

void Editor::send_raw(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(in_, bytes.data() + done, bytes.size() - done);
    if (n <= 0) throw std::runtime_error("the server does not read");
    done += static_cast<std::size_t>(n);
  }
}

void Editor::hang_up() {
  close(in_);
  in_ = -1;
}

void Editor::send(const Json& message) {
  const std::string body = message.dump();
  send_raw("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

void Editor::notify(const std::string& method, Json params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

int Editor::request(const std::string& method, Json params) {
  send({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", std::move(params)}});
  return last_id_;
}

Json Editor::read_message() {
  const auto fill = [&] {
    pollfd waiting{out_, POLLIN, 0};
    if (poll(&waiting, 1, kPatience) <= 0) throw std::runtime_error("the server is silent");
    char bytes[65536];
    const ssize_t n = read(out_, bytes, sizeof bytes);
    if (n > 0) buffer_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  };
  std::size_t head;
  while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return nullptr;
  }
  const std::size_t length = std::stoul(buffer_.substr(buffer_.find(':') + 1));
  while (buffer_.size() < head + 4 + length) {
    if (!fill()) return nullptr;
  }
  const Json message = Json::parse(buffer_.substr(head + 4, length));
  buffer_.erase(0, head + 4 + length);
  return message;
}

Json Editor::receive() {
  if (kept_.empty()) return read_message();
  Json first = kept_.front();
  kept_.pop_front();
  return first;
}

Json Editor::answer(int id) {
  while (true) {
    Json m = read_message();
    if (m.is_null()) throw std::runtime_error("the server ended");
    if (m.contains("id") && m["id"] == id) return m;
    kept_.push_back(std::move(m));
  }
}

Json Editor::notification(const std::string& method) {
  while (true) {
    Json m = receive();
    if (m.is_null()) throw std::runtime_error("the server ended");
    if (m.value("method", "") == method) return m["params"];
  }
}

void Editor::open(const std::string& name, const std::string& text) {
  texts_[name] = text;
  versions_[name] = 1;
  notify("textDocument/didOpen",
         {{"textDocument", {{"uri", uri(name)}, {"languageId", "tessera"}, {"version", 1}, {"text", text}}}});
}

void Editor::change(const std::string& name, const std::string& text) {
  texts_[name] = text;
  notify("textDocument/didChange", {{"textDocument", {{"uri", uri(name)}, {"version", ++versions_[name]}}},
                                    {"contentChanges", {{{"text", text}}}}});
}

Json Editor::diagnostics(const std::string& name) {
  while (true) {
    const Json p = notification("textDocument/publishDiagnostics");
    if (p.at("uri") != uri(name)) continue;
    if (versions_.count(name) == 0 || p.value("version", 0) == versions_[name]) return p.at("diagnostics");
  }
}

Json Editor::at(const std::string& name, const std::string& word, int nth, int into) const {
  const std::string& text = texts_.at(name);
  std::size_t k = text.find(word);
  for (; nth > 0 && k != text.npos; --nth) k = text.find(word, k + 1);
  if (k == text.npos) throw std::runtime_error("no such word: " + word);
  k += static_cast<std::size_t>(into);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(k), '\n');
  const std::size_t start = k == 0 || text.rfind('\n', k - 1) == text.npos ? 0 : text.rfind('\n', k - 1) + 1;
  return {{"textDocument", {{"uri", uri(name)}}}, {"position", {{"line", line}, {"character", k - start}}}};
}

std::string Editor::edited(std::string text, const Json& edits) {
  for (auto e = edits.rbegin(); e != edits.rend(); ++e) {  // the server sends them in order
    const std::size_t begin = offset_of(text, (*e)["range"]["start"]);
    const std::size_t end = offset_of(text, (*e)["range"]["end"]);
    text.replace(begin, end - begin, (*e)["newText"].get<std::string>());
  }
  return text;
}

std::string Editor::covered(const std::string& text, const Json& range) {
  const std::size_t begin = offset_of(text, range["start"]);
  return text.substr(begin, offset_of(text, range["end"]) - begin);
}

}  // namespace tessera::tests
