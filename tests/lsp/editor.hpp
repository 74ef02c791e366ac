// Editor: a client of `tessera lsp` that a test drives, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace tessera::tests {

using Json = nlohmann::json;

class Editor : public testing::Test {
 protected:
  Editor();
  ~Editor() override;

  void start();       // the server, without a word
  void initialize();  // start, and the greetings
  // stop says goodbye; returns the server's exit code.
  int stop();
  int wait();  // for its end

  void write(const std::string& name, const std::string& text) const;
  std::string uri(const std::string& name) const;

  void send(const Json& message);
  void send_raw(const std::string& bytes);
  void hang_up();  // closes the server's input
  void notify(const std::string& method, Json params);
  int request(const std::string& method, Json params);  // returns its id
  // answer waits for the answer to `id`; other messages are kept for later.
  Json answer(int id);
  Json call(const std::string& method, Json params) { return answer(request(method, std::move(params))); }
  // notification waits for the next one of this method.
  Json notification(const std::string& method);
  // receive waits for the next message of any kind; null at the end of the server's output.
  Json receive();

  void open(const std::string& name, const std::string& text);
  void change(const std::string& name, const std::string& text);
  // diagnostics waits for those of the document's latest version.
  Json diagnostics(const std::string& name);
  // A position request on a document: `marked` is the place where `@` would stand before `word`
  // number `nth` (from 0) of the text opened last.
  Json at(const std::string& name, const std::string& word, int nth = 0, int into = 0) const;
  Json on(const std::string& method, const std::string& name, const std::string& word, int nth = 0) {
    return call(method, at(name, word, nth)).at("result");
  }
  // The document's text with the edits of an answer.
  static std::string edited(std::string text, const Json& edits);
  // The text that a range covers.
  static std::string covered(const std::string& text, const Json& range);

  std::filesystem::path folder_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, int> versions_;

 private:
  Json read_message();

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  int last_id_ = 0;
  std::string buffer_;
  std::deque<Json> kept_;
};

}  // namespace tessera::tests
