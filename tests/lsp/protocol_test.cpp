// The conversation itself: greetings, goodbyes, what is no message, cancellation.
#include "editor.hpp"

namespace tessera::tests {
namespace {

int code(const Json& answer) { return answer.at("error").at("code"); }

TEST_F(Editor, SaysHelloAndGoodbye) {
  start();
  EXPECT_EQ(code(call("textDocument/hover", Json::object())), -32002) << "not initialized";
  const Json hello = call("initialize", {{"capabilities", Json::object()}});
  const Json can = hello["result"]["capabilities"];
  EXPECT_EQ(can["positionEncoding"], "utf-16");
  EXPECT_EQ(can["textDocumentSync"]["change"], 1);
  for (const char* what : {"definitionProvider", "referencesProvider", "hoverProvider", "documentSymbolProvider",
                           "documentFormattingProvider"}) {
    EXPECT_EQ(can[what], true) << what;
  }
  EXPECT_EQ(call("shutdown", nullptr)["result"], nullptr);
  EXPECT_EQ(code(call("textDocument/hover", Json::object())), -32600) << "after shutdown";
  notify("exit", nullptr);
  EXPECT_EQ(wait(), 0);
}

TEST_F(Editor, ExitWithoutShutdownIsAnError) {
  initialize();
  notify("exit", nullptr);
  EXPECT_EQ(wait(), 1);
}

TEST_F(Editor, AnEditorThatGoesAwayEndsTheServer) {
  initialize();
  hang_up();
  EXPECT_EQ(wait(), 1);
}

TEST_F(Editor, WhatIsNoRequestIsRefused) {
  initialize();
  EXPECT_EQ(code(call("textDocument/fly", Json::object())), -32601);
  notify("textDocument/fly", Json::object());
  notify("textDocument/didOpen", {{"textDocument", 3}});
  EXPECT_EQ(notification("window/logMessage")["type"], 1);
  EXPECT_EQ(code(call("textDocument/hover", {{"textDocument", {{"uri", uri("p.fa")}}}})), -32602) << "not open";
  EXPECT_EQ(code(call("textDocument/hover", Json::array())), -32602);
  open("p.fa", "sub main() {}\n");
  EXPECT_EQ(code(call("textDocument/hover",
                      {{"textDocument", {{"uri", uri("p.fa")}}}, {"position", {{"line", "x"}, {"character", 0}}}})),
            -32602);
  EXPECT_EQ(stop(), 0);
}

TEST_F(Editor, MalformedMessagesAreSurvived) {
  initialize();
  for (const std::string& body :
       {std::string("{\"jsonrpc\": "), std::string("\xff\xfe"), std::string("{\"a\": \"\\ud800\"}")}) {
    send_raw("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    const Json m = receive();
    EXPECT_EQ(code(m), -32700) << body;
    EXPECT_TRUE(m["id"].is_null());
  }
  for (const char* body : {"[]", "3", "null", "{}", "{\"id\": 7, \"method\": 3}"}) {
    send(Json::parse(body));
    EXPECT_EQ(code(receive()), -32600) << body;
  }
  send({{"jsonrpc", "2.0"}, {"id", 99}, {"result", nullptr}});  // answers nothing we asked
  send_raw("Content-Length: many\r\n\r\n");
  send_raw("Content-Length: 99999999999999999999\r\n\r\n");
  send_raw("Nonsense without a length\r\n\r\n{}");
  send_raw("content-type: x\r\n");
  EXPECT_EQ(stop(), 0);
}

TEST_F(Editor, CancelledRequestsAreAnsweredSo) {
  initialize();
  std::string slow = "C++ sub f(int v, name x) ${{ x = v; $}}\nsub main() {\n";
  for (int k = 0; k < 3000; ++k) slow += "{ df x; for i = 1..3 f(i, x[i]); }\n";
  open("p.fa", slow + "}\n");
  const int first = request("textDocument/documentSymbol", at("p.fa", "main"));
  const int second = request("textDocument/hover", at("p.fa", "main"));
  notify("$/cancelRequest", {{"id", second}});
  notify("$/cancelRequest", {{"id", 12345}});
  EXPECT_TRUE(answer(first).contains("result"));
  EXPECT_EQ(code(answer(second)), -32800);
  EXPECT_EQ(stop(), 0);
}

}  // namespace
}  // namespace tessera::tests
