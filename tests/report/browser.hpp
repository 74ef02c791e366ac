// Browser: headless Chromium, driven through its DevTools protocol by two pipes (--remote-debugging-pipe): JSON, each
// message with a zero byte at its end.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera::tests {

class Browser {
 public:
  // The browser on this machine; empty: none. TESSERA_BROWSER names another one.
  static std::string find();

  explicit Browser(const std::string& program);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Asks for something and waits for the answer; an error in it is thrown.
  nlohmann::json call(const std::string& method, nlohmann::json parameters = nlohmann::json::object());
  // The value of an expression in the page; a promise's when it has one. What it throws is thrown.
  nlohmann::json value(const std::string& expression);
  // Opens a file, and waits until the page says that it is ready.
  void open(const std::string& file);
  // The page has drawn what it was told to.
  void drawn();

  void click(double x, double y, int times = 1);
  void wheel(double x, double y, double by, bool with_control);
  void drag(double x, double y, double to_x);
  void press(const std::string& key);
  void type(const std::string& text);

  // What went wrong in the page, and addresses that it asked for which are no files.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void start(const std::string& program);
  void mouse(const char* what, double x, double y, nlohmann::json more);
  nlohmann::json next();
  void event(const nlohmann::json&);

  pid_t child_ = -1;
  int to_ = -1, from_ = -1, number_ = 0;
  std::string session_, unread_, profile_;
  std::vector<std::string> complaints_;
};

}  // namespace tessera::tests
