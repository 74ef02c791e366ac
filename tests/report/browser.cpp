#include "browser.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <stdexcept>

namespace tessera::tests {
namespace {

using nlohmann::json;

constexpr int kWaits = 60'000;  // ms for an answer; a machine may be busy

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("browser: " + what); }

// In the child: the pipes become what Chromium reads and writes.
void become(const std::string& program, int read_end, int write_end, const std::string& profile) {
  const int in = fcntl(read_end, F_DUPFD, 20), out = fcntl(write_end, F_DUPFD, 20), null = open("/dev/null", O_RDWR);
  dup2(in, 3), dup2(out, 4);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  close(in), close(out);
  setpgid(0, 0);
  const std::string folder = "--user-data-dir=" + profile;
  execl(program.c_str(), program.c_str(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
        "--no-first-run", "--disable-dev-shm-usage", "--disable-extensions", "--window-size=1300,900", folder.c_str(),
        "about:blank", static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

std::string Browser::find() {
  if (const char* named = getenv("TESSERA_BROWSER"); named != nullptr) return named;
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/"}) {
      if (access((std::string(folder) + name).c_str(), X_OK) == 0) return std::string(folder) + name;
    }
  }
  return {};
}

Browser::Browser(const std::string& program) {
  std::string name = (std::filesystem::temp_directory_path() / "tessera-browser-XXXXXX").string();
  profile_ = mkdtemp(name.data());
  start(program);
  const json target = call("Target.createTarget", {{"url", "about:blank"}})["targetId"];
  session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"}) call(domain);
  call("Emulation.setDeviceMetricsOverride",
       {{"width", 1300}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
  call("Emulation.setEmulatedMedia", {{"features", {{{"name", "prefers-color-scheme"}, {"value", "light"}}}}});
}

void Browser::start(const std::string& program) {
  std::array<int, 2> to{}, from{};
  if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) fail("no pipe");
  child_ = fork();
  if (child_ == 0) become(program, to[0], from[1], profile_);
  close(to[0]), close(from[1]);
  to_ = to[1], from_ = from[0];
}

Browser::~Browser() {
  if (child_ > 0) {
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(to_), close(from_);
  std::error_code ignored;
  std::filesystem::remove_all(profile_, ignored);
}

nlohmann::json Browser::next() {
  std::size_t end;
  while ((end = unread_.find('\0')) == std::string::npos) {
    pollfd waits{from_, POLLIN, 0};
    if (poll(&waits, 1, kWaits) <= 0) fail("no answer in a minute");
    std::array<char, 65536> piece{};
    const ssize_t got = read(from_, piece.data(), piece.size());
    if (got <= 0) fail("it has ended");
    unread_.append(piece.data(), static_cast<std::size_t>(got));
  }
  json message = json::parse(unread_.substr(0, end));
  unread_.erase(0, end + 1);
  return message;
}

void Browser::event(const json& e) {
  const std::string method = e.value("method", "");
  const json& p = e.contains("params") ? e["params"] : json::object();
  if (method == "Runtime.exceptionThrown") complaints_.push_back(p.dump());
  if (method == "Runtime.consoleAPICalled") complaints_.push_back(p["args"].dump());
  if (method == "Log.entryAdded") complaints_.push_back(p["entry"].value("text", ""));
  if (method == "Network.requestWillBeSent") {
    const std::string url = p["request"]["url"];
    if (url.rfind("file:", 0) != 0 && url.rfind("data:", 0) != 0 && url.rfind("blob:", 0) != 0) {
      complaints_.push_back("it asked for " + url);
    }
  }
}

json Browser::call(const std::string& method, json parameters) {
  json message{{"id", ++number_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump();
  for (std::size_t at = 0; at <= text.size();) {  // with the zero byte
    const ssize_t put = write(to_, text.c_str() + at, text.size() + 1 - at);
    if (put <= 0) fail("it has ended");
    at += static_cast<std::size_t>(put);
  }
  while (true) {
    const json answer = next();
    if (!answer.contains("id")) {
      event(answer);
    } else if (answer["id"] == number_) {
      if (answer.contains("error")) fail(method + ": " + answer["error"].dump());
      return answer["result"];
    }
  }
}

json Browser::value(const std::string& expression) {
  const json r =
      call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (r.contains("exceptionDetails")) fail(expression + ": " + r["exceptionDetails"].dump());
  return r["result"].contains("value") ? r["result"]["value"] : json();
}

void Browser::open(const std::string& file) {
  call("Page.navigate", {{"url", "file://" + file}});
  for (int tries = 0; tries < 2000; ++tries) {
    if (value("typeof report !== 'undefined' && (report.ready || Boolean(report.error))") == true) return;
    usleep(10'000);
  }
  fail("the page is not ready");
}

void Browser::drawn() {
  value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
}

void Browser::mouse(const char* what, double x, double y, json more) {
  more.update({{"type", what}, {"x", x}, {"y", y}});
  call("Input.dispatchMouseEvent", more);
}
void Browser::click(double x, double y, int times) {
  mouse("mouseMoved", x, y, {});
  for (int n = 1; n <= times; ++n) {
    mouse("mousePressed", x, y, {{"button", "left"}, {"buttons", 1}, {"clickCount", n}});
    mouse("mouseReleased", x, y, {{"button", "left"}, {"clickCount", n}});
  }
  drawn();
}
void Browser::wheel(double x, double y, double by, bool with_control) {
  mouse("mouseWheel", x, y, {{"deltaX", 0}, {"deltaY", by}, {"modifiers", with_control ? 2 : 0}});
  drawn();
}
void Browser::drag(double x, double y, double to_x) {
  mouse("mousePressed", x, y, {{"button", "left"}, {"buttons", 1}, {"clickCount", 1}});
  mouse("mouseMoved", (x + to_x) / 2, y, {{"button", "left"}, {"buttons", 1}});
  mouse("mouseMoved", to_x, y, {{"button", "left"}, {"buttons", 1}});
  mouse("mouseReleased", to_x, y, {{"button", "left"}, {"clickCount", 1}});
  drawn();
}
void Browser::press(const std::string& key) {
  json k{{"type", "keyDown"}, {"key", key}};
  if (key.size() == 1) k["text"] = key;
  if (key == "Tab") k["windowsVirtualKeyCode"] = 9;
  call("Input.dispatchKeyEvent", k);
  call("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", key}});
  drawn();
}
void Browser::type(const std::string& text) {
  call("Input.insertText", {{"text", text}});
  drawn();
}

}  // namespace tessera::tests
