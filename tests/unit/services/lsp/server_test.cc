// SPDX-License-Identifier: Apache-2.0
// The server with files in memory: the life of a session, invalid messages, and each feature once.
#include "services/lsp/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/lsp/json_writer.h"
#include "services/lsp/message.h"
#include "unit/language/environment/memory_files.h"

namespace bunraku::lsp {
namespace {

using Texts = probe::MemoryFiles::Texts;

const Texts kFiles = {
    {"/r/environment.conf", "modulepath = modules\n"},
    {"/r/hiera.yaml", "version: 5\nhierarchy:\n  - name: d\n    path: common.yaml\n"},
    {"/r/data/common.yaml", "---\nweb::port: 80\nweb::gone: 1\n"},
    {"/r/modules/web/manifests/init.pp",
     "# @summary A server\n# @param port the port\nclass web(Integer $port = 8080) {\n"
     "  web::site { 'main': port => $port }\n  $v = web::double($port)\n}\n"},
    {"/r/modules/web/manifests/site.pp", "define web::site(Integer $port) {\n}\n"},
    {"/r/modules/web/functions/double.pp",
     "function web::double(Integer $n) >> Integer { $n * 2 }\n"},
    {"/r/manifests/site.pp", "node default {\n  include web\n  notice($web::port)\n}\n"},
};

class LspServerTest : public testing::Test {
protected:
    LspServerTest() : server_(std::make_shared<probe::MemoryFiles>(kFiles)) {}

    /// Returns the content of the first message in response to a request.
    std::string ask(std::string_view method, std::string_view params) {
        const auto answers = server_.handle(request_text(++id_, method, params));
        return answers.empty() ? "" : answers.front();
    }
    void tell(std::string_view method, std::string_view params) {
        server_.handle(notification_text(method, params));
    }
    void start(std::string_view capabilities = R"({"general":{"positionEncodings":["utf-8"]}})") {
        ask("initialize",
            fmt::format(R"({{"rootUri":"file:///r","capabilities":{}}})", capabilities));
        tell("initialized", "{}");
    }
    void open(const std::string& path, std::string_view text) {
        JsonWriter out;
        out.object().key("textDocument").object().member("uri", "file://" + path);
        out.member("languageId", "puppet").member("version", 1).member("text", text);
        tell("textDocument/didOpen", out.end_object().end_object().text());
    }
    static std::string at(const std::string& path, int line, int character,
                          std::string_view more = "") {
        return fmt::format(R"({{"textDocument":{{"uri":"file://{}"}},)"
                           R"("position":{{"line":{},"character":{}}}{}}})",
                           path, line, character, more);
    }
    /// Returns the published messages of diagnostics.
    std::string idle() {
        std::string out;
        for (const auto& message : server_.idle()) out += message + "\n";
        return out;
    }

    Server server_;
    int id_ = 0;
};

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST_F(LspServerTest, AnswersInvalidMessagesWithErrors) {
    EXPECT_TRUE(has(server_.handle("{").front(), R"("code":-32700)"));
    EXPECT_TRUE(has(server_.handle("[]").front(), R"("code":-32600)"));
    EXPECT_TRUE(has(ask("textDocument/hover", "{}"), R"("code":-32002)"));
    start();
    EXPECT_TRUE(has(ask("no/such", "{}"), R"("code":-32601)"));
    EXPECT_TRUE(has(ask("textDocument/hover", "{}"), R"("code":-32602)"));
    EXPECT_TRUE(has(ask("textDocument/hover", at("/r/none.pp", 0, 0)), R"("code":-32803)"));
    EXPECT_TRUE(has(ask("initialize", "{}"), R"("code":-32600)"));
    EXPECT_TRUE(server_.handle(R"({"method":"$/unknown"})").empty());
    const std::string ended = ask("shutdown", "null");
    EXPECT_EQ(ended, fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":null}})", id_));
    EXPECT_TRUE(has(ask("textDocument/hover", "{}"), R"("code":-32600)"));
    tell("exit", "null");
    EXPECT_TRUE(server_.ended());
    EXPECT_EQ(server_.exit_code(), 0);
}

TEST_F(LspServerTest, NegotiatesTheEncoding) {
    const auto encoding = [](std::string_view offered) {
        Server server(std::make_shared<probe::MemoryFiles>(kFiles));
        return server
            .handle(request_text(
                1, "initialize",
                fmt::format(R"({{"capabilities":{{"general":{{"positionEncodings":{}}}}}}})",
                            offered)))
            .front();
    };
    EXPECT_TRUE(has(encoding(R"(["utf-16","utf-8"])"), R"("positionEncoding":"utf-8")"));
    EXPECT_TRUE(has(encoding(R"(["utf-16"])"), R"("positionEncoding":"utf-16")"));
    EXPECT_TRUE(has(encoding("[]"), R"("positionEncoding":"utf-16")"));
}

TEST_F(LspServerTest, GoesToDefinitions) {
    start();
    // include web -> class web
    EXPECT_TRUE(has(ask("textDocument/definition", at("/r/manifests/site.pp", 1, 11)),
                    R"("uri":"file:///r/modules/web/manifests/init.pp","range":{"start":{"line":2,)"
                    R"("character":6})"));
    // $web::port -> the parameter; the parameter -> its data
    EXPECT_TRUE(has(ask("textDocument/definition", at("/r/manifests/site.pp", 2, 17)),
                    R"(init.pp","range":{"start":{"line":2,"character":19})"));
    EXPECT_TRUE(
        has(ask("textDocument/definition", at("/r/modules/web/manifests/init.pp", 2, 20)),
            R"("uri":"file:///r/data/common.yaml","range":{"start":{"line":1,"character":0})"));
    // the key in the data -> the parameter
    EXPECT_TRUE(has(ask("textDocument/definition", at("/r/data/common.yaml", 1, 6)),
                    R"(init.pp","range":{"start":{"line":2,"character":19})"));
    // the attribute -> the parameter of the define
    EXPECT_TRUE(has(ask("textDocument/definition", at("/r/modules/web/manifests/init.pp", 3, 24)),
                    R"(site.pp","range":{"start":{"line":0,"character":26})"));
    const std::string nothing = ask("textDocument/definition", at("/r/manifests/site.pp", 0, 2));
    EXPECT_EQ(nothing, fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":null}})", id_));
}

TEST_F(LspServerTest, FindsReferencesInManifestsAndData) {
    start();
    const std::string found = ask(
        "textDocument/references",
        at("/r/modules/web/manifests/init.pp", 2, 20, R"(,"context":{"includeDeclaration":true})"));
    for (const char* place : {R"(common.yaml","range":{"start":{"line":1,"character":5})",
                              R"(manifests/site.pp","range":{"start":{"line":2,"character":15})",
                              R"(init.pp","range":{"start":{"line":1,"character":9})",
                              R"(init.pp","range":{"start":{"line":2,"character":19})",
                              R"(init.pp","range":{"start":{"line":3,"character":31})",
                              R"(init.pp","range":{"start":{"line":4,"character":20})"})
        EXPECT_TRUE(has(found, place)) << place << "\n" << found;
}

TEST_F(LspServerTest, RenamesAParameterWithItsKeys) {
    start();
    const std::string edit =
        ask("textDocument/rename", at("/r/manifests/site.pp", 2, 16, R"(,"newName":"listen")"));
    EXPECT_TRUE(has(edit, "file:///r/data/common.yaml"));
    EXPECT_TRUE(has(edit, R"("newText":"listen")"));
    EXPECT_TRUE(has(
        ask("textDocument/rename", at("/r/manifests/site.pp", 2, 16, R"(,"newName":"No Name")")),
        R"("code":-32602)"));
}

TEST_F(LspServerTest, RenamesAClassWithItsFile) {
    start(R"({"general":{"positionEncodings":["utf-8"]},"workspace":{"workspaceEdit":)"
          R"({"documentChanges":true,"resourceOperations":["rename"]}}})");
    const std::string edit = ask("textDocument/rename", at("/r/modules/web/manifests/init.pp", 3, 4,
                                                           R"(,"newName":"web::vhost")"));
    EXPECT_TRUE(has(edit, R"({"kind":"rename","oldUri":"file:///r/modules/web/manifests/site.pp",)"
                          R"("newUri":"file:///r/modules/web/manifests/vhost.pp"})"))
        << edit;
    EXPECT_TRUE(has(edit, R"("newText":"web::vhost")"));
}

TEST_F(LspServerTest, RenamesClassesThatATextWithTheTitleNames) {
    start();
    open("/r/modules/web/manifests/init.pp",
         "class web {\n  include \"${title}::linux\"\n  [1].each |$name| { include \"${name}::x\" "
         "}\n}\n");
    open("/r/modules/web/manifests/linux.pp",
         "class web::linux {\n  Class[\"${module_name}\"] -> Class[$title]\n}\n");
    const auto rename = [&](const char* file, std::string_view name) {
        return ask("textDocument/rename", at(fmt::format("/r/modules/web/manifests/{}.pp", file), 0,
                                             8, fmt::format(R"(,"newName":"{}")", name)));
    };
    // The text names the renamed class.
    std::string edit = rename("linux", "web::debian");
    EXPECT_TRUE(has(edit, R"("start":{"line":1,"character":10},"end":{"line":1,"character":27}},)"
                          R"("newText":"'web::debian'")"))
        << edit;
    // The text has the title of the renamed class, and continues to name the other class.
    edit = rename("init", "web::server");
    EXPECT_TRUE(has(edit, R"("newText":"'web::linux'")")) << edit;
    EXPECT_TRUE(has(edit, R"("newText":"'web::server'")")) << edit;
    EXPECT_FALSE(has(edit, "::x")) << edit;
}

TEST_F(LspServerTest, RefusesNamesThatAreTakenOrHaveNoModule) {
    start();
    const auto rename = [&](std::string_view name) {
        return ask("textDocument/rename", at("/r/modules/web/manifests/init.pp", 3, 4,
                                             fmt::format(R"(,"newName":"{}")", name)));
    };
    EXPECT_TRUE(has(rename("other::site"), "There is no module 'other' in this workspace"));
    EXPECT_TRUE(
        has(ask("textDocument/rename", at("/r/manifests/site.pp", 2, 16, R"(,"newName":"v")")),
            "'v' is already defined"));
}

TEST_F(LspServerTest, ReportsProblemsWhileTyping) {
    start();
    open("/r/manifests/site.pp", "node default {\n  include wbe\n  include web::none\n");
    std::string found = idle();
    EXPECT_TRUE(has(found, "Syntax error at end of input")) << found;
    EXPECT_TRUE(has(found, "Unknown class: 'web::none'"));
    tell("textDocument/didChange",
         R"({"textDocument":{"uri":"file:///r/manifests/site.pp","version":2},"contentChanges":[)"
         R"({"text":"class { 'web': port => 'x' }\nweb::site { 'a': prt => 1 }\n"}]})");
    found = idle();
    EXPECT_FALSE(has(found, "Syntax error"));
    EXPECT_TRUE(has(found, "parameter 'port' expects an Integer value, got String")) << found;
    EXPECT_TRUE(has(found, "'web::site' has no parameter named 'prt'"));
    EXPECT_TRUE(has(ask("textDocument/codeAction",
                        R"({"textDocument":{"uri":"file:///r/manifests/site.pp"},"range":{)"
                        R"("start":{"line":1,"character":18},"end":{"line":1,"character":18}}})"),
                    R"("newText":"port")"));
    EXPECT_EQ(idle(), "");
}

TEST_F(LspServerTest, DoesNotReportWhatMayBeRight) {
    start();
    // A class with the name of a resource type, a legacy fact, a key that is not a parameter, a
    // word with a capital, a name of a file that is computed.
    open("/r/modules/web/manifests/cron.pp",
         "class cron { }\nclass web::cron {\n  cron { 'a': minute => 1 }\n"
         "  notice($osfamily, lookup('web::other'), \"puppet:///modules/web/x-${title}\")\n"
         "  case $facts['os']['name'] { Ubuntu: { } default: { } }\n}\n");
    EXPECT_FALSE(has(idle(), "unknown"));
}

TEST_F(LspServerTest, ChecksHieraData) {
    start();
    open("/r/data/common.yaml", "---\nweb::port: eighty\nweb::gone: 1\n");
    const std::string found = idle();
    EXPECT_TRUE(has(found, "parameter 'port' expects an Integer value, got String")) << found;
    EXPECT_TRUE(has(found, "Class 'web' has no parameter named 'gone'"));
}

TEST_F(LspServerTest, ChecksOtherFilesAfterAChangeOfADefinition) {
    start();
    open("/r/manifests/site.pp", "class { 'web': port => 1 }\n");
    open("/r/modules/web/manifests/init.pp", "class web(Integer $port) { }\n");
    idle();
    tell("textDocument/didChange",
         R"({"textDocument":{"uri":"file:///r/modules/web/manifests/init.pp","version":2},)"
         R"("contentChanges":[{"text":"class web(Integer $other) { }\n"}]})");
    EXPECT_TRUE(has(idle(), "'web' has no parameter named 'port'"));
}

TEST_F(LspServerTest, DescribesAndCompletes) {
    start();
    const std::string hover =
        ask("textDocument/hover", at("/r/modules/web/manifests/init.pp", 4, 21));
    EXPECT_TRUE(has(hover, "Integer $port = 8080")) << hover;
    EXPECT_TRUE(has(hover, "the port"));
    EXPECT_TRUE(has(hover, "data/common.yaml:2"));
    open("/r/manifests/site.pp",
         "class { 'web':\n  po\n}\nfile { '/x': ensure => d }\n$x = web::double(\n");
    EXPECT_TRUE(has(ask("textDocument/completion", at("/r/manifests/site.pp", 1, 4)),
                    R"("newText":"port => ")"));
    EXPECT_TRUE(has(ask("textDocument/completion", at("/r/manifests/site.pp", 3, 24)),
                    R"("label":"directory")"));
    EXPECT_TRUE(has(ask("textDocument/signatureHelp", at("/r/manifests/site.pp", 4, 17)),
                    R"x("label":"web::double(Integer $n)")x"));
}

TEST_F(LspServerTest, DescribesTheStructure) {
    start();
    const std::string path = "/r/modules/web/manifests/init.pp";
    const std::string document = fmt::format(R"({{"textDocument":{{"uri":"file://{}"}}}})", path);
    EXPECT_TRUE(has(ask("textDocument/documentSymbol", document), R"("name":"web::site[main]")"));
    EXPECT_TRUE(has(ask("textDocument/foldingRange", document), R"({"startLine":2,"endLine":4})"));
    EXPECT_TRUE(has(ask("workspace/symbol", R"({"query":"dbl"})"), R"("name":"web::double")"));
    EXPECT_TRUE(has(ask("textDocument/semanticTokens/full", document), R"("data":[0,0,19,10,0)"));
    EXPECT_TRUE(has(ask("textDocument/codeLens", document), R"("title":"1 reference")"));
    const std::string item = ask("textDocument/prepareCallHierarchy", at(path, 2, 7));
    EXPECT_TRUE(has(item, R"("name":"web")"));
    const std::string params =
        fmt::format(R"({{"item":{{"uri":"file://{}","selectionRange":{{"start":)"
                    R"({{"line":2,"character":6}},"end":{{"line":2,"character":9}}}}}}}})",
                    path);
    EXPECT_TRUE(has(ask("callHierarchy/incomingCalls", params), R"("name":"default")"));
    const std::string outgoing = ask("callHierarchy/outgoingCalls", params);
    EXPECT_TRUE(has(outgoing, R"("name":"web::site")"));
    EXPECT_TRUE(has(outgoing, R"("name":"web::double")"));
}

}  // namespace
}  // namespace bunraku::lsp
