// SPDX-License-Identifier: Apache-2.0
// Tests responses against tables recorded from puppetserver 7.9.5: environments, files, file
// buckets, reports, facts, tasks, catalogs, and invalid requests.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/executor.h"
#include "core/value/msgpack.h"
#include "core/value/rich_data.h"
#include "net/http/network.h"
#include "services/server/ast_text.h"
#include "services/server/catalog_input.h"
#include "services/server/role.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;

const std::string kReport =
    R"({"host":"a","time":"2024-01-01T00:00:00Z","logs":[],"metrics":{},"resource_statuses":{}})";

class Answers : public testing::Test {
protected:
    Answers() {
        char name[] = "/tmp/answers_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("production/manifests/site.pp", "notify { $environment: }\n");
        write("other/manifests/site.pp", "notify { $environment: }\n");
        write("binary/manifests/site.pp", "notify { 'x': message => Binary('AAEC') }\n");
        write("other/modules/m/files/f", "text\n");
        write("other/modules/m/files/d/leaf", "leaf\n");
        fs::create_symlink("nowhere", root_ + "/envs/other/modules/m/files/dangling");
        write("other/modules/m/lib/facter/x.rb", "#\n");
        write("other/modules/m/tasks/init.sh", "echo\n");
        write("other/modules/m/tasks/init.json", R"({"description":"d"})");
        write("other/modules/m/tasks/two.sh", "echo\n");
        write("other/modules/m/tasks/two.json", "{\"bad");
        write("other/modules/m/plans/init.pp", "plan m() { }\n");
        write("other/modules/m/plans/p.pp", "plan m::p() { }\n");
        settings_.set("environmentpath", root_ + "/envs");
        settings_.set("statedir", root_ + "/state");
        settings_.set("vardir", root_ + "/var");
        settings_.set("confdir", root_ + "/conf");
        settings_.set("basemodulepath", root_ + "/modules");
        settings_.set("storeconfigs", "false");
        settings_.set("reports", "none");
        fs::create_directories(root_ + "/state");
        context_.authorization = *http::read_authorization(settings_, log_);
        auto role = make_compiler_role(context_);
        EXPECT_TRUE(role) << role.error().message;
        role_ = std::move(*role);
        role_->mount(router_);
    }
    ~Answers() override {
        aside_->stop();
        role_->stop();
        role_.reset();
        fs::remove_all(root_);
    }
    void write(const std::string& path, const std::string& text) {
        const auto full = fs::path(root_) / "envs" / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    /// `line` is "GET /path?query", followed by one "Name: value" header per line.
    http::Response ask(std::string_view who, const std::string& line,
                       const std::string& body = {}) {
        http::Request r;
        std::string_view rest = line;
        const auto head = rest.substr(0, rest.find('\n'));
        while (rest.find('\n') != std::string_view::npos) {
            rest.remove_prefix(rest.find('\n') + 1);
            const auto one = rest.substr(0, rest.find('\n'));
            const auto colon = one.find(": ");
            r.headers.set(one.substr(0, colon), one.substr(colon + 2));
        }
        const auto blank = head.find(' ');
        r.method = head.substr(0, blank);
        r.target = head.substr(blank + 1);
        const auto mark = r.target.find('?');
        r.path = r.target.substr(0, mark);
        if (mark != std::string::npos) r.query = *http::parse_query(r.target.substr(mark + 1));
        r.body = body;
        r.peer.tls = true;
        if (!who.empty()) {
            auto certificate = std::make_shared<http::ClientCertificate>();
            certificate->trust = http::ClientCertificate::Trust::Verified;
            certificate->name = who;
            if (who == "admin") certificate->extensions.push_back(mark_of_admin());
            r.peer.certificate = certificate;
        }
        return router_.handle(r);
    }
    static pki::Extension mark_of_admin() {
        pki::Extension out;
        out.name = "pp_cli_auth";
        out.value = "true";
        return out;
    }

    std::string root_;
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
    base::Counters counters_;
    sys::Runtime& runtime_ = http::sockets().runtime();
    std::unique_ptr<sys::Executor> aside_ = runtime_.executor({.threads = 1, .name = "aside"});
    Context context_{settings_, counters_,        log_, runtime_, http::sockets(), *aside_,
                     "1",       root_ + "/state", ""};
    http::Router router_;
    std::unique_ptr<Role> role_;
};

struct Case {
    const char* who;
    std::string ask;
    std::string body;
    int status;
    const char* holds;  ///< a text that the response contains
};

const std::string kJson = "\nAccept: application/json";
const std::string kSends = "\nAccept: application/json\nContent-Type: application/json";

TEST_F(Answers, MatchPuppetserver) {
    const std::string sum = codec::hex_digest(codec::DigestKind::Sha256, "x"),
                      env = "?environment=other";
    const std::string bucket = "/puppet/v3/file_bucket_file/sha256/" + sum;
    const std::string bytes = "\nAccept: application/octet-stream",
                      saves = bytes + "\nContent-Type: application/octet-stream";
    const auto file = [&](const std::string& rest) { return "GET /puppet/v3/file_" + rest; };
    const std::vector<Case> cases{
        // Files.
        {"a", file("metadata/modules/m/f?environment=nope") + kJson, "", 404,
         "Could not find environment 'nope'"},
        {"a", file("metadata/modules/m/f" + env) + "\nAccept: application/*", "", 406, ""},
        {"a", file("metadata/modules/m/f" + env) + "\nAccept: ", "", 406, ""},
        {"a", file("metadata/modules/m/f" + env), "", 400, "Missing required Accept header"},
        {"a", file("metadata/modules/m/f" + env) + "\nAccept: pson", "", 200, "sha256"},
        {"a", file("metadata/modules/m/dangling" + env) + kJson, "", 404, ""},
        {"a", file("metadata/nomount/x" + env) + kJson, "", 500,
         "Not authorized to call find on /file_metadata/nomount/x"},
        {"a", file("metadata/modules" + env) + kJson, "", 500, "No module specified"},
        {"a", file("metadata/modules/m/f" + env + "&links=x") + kJson, "", 500,
         ":links can only be set to :manage or :follow"},
        {"a", file("metadata/modules/m/f" + env + "&checksum_type=x") + kJson, "", 500,
         "Unsupported checksum type x"},
        {"a", file("metadata/modules/m/f" + env + "&source_permissions=x") + kJson, "", 500,
         "Unsupported source_permission x"},
        {"a", file("metadata/modules/m/f" + env + "&source_permissions=") + kJson, "", 500,
         "Unsupported source_permission "},
        {"a", file("metadata/%C3%A4/x" + env) + kJson, "", 500,
         "Cannot find file: Invalid mount 'ä'"},
        {"a", file("metadatas/modules/m/none" + env + "&links=x") + kJson, "", 404,
         "Could not find instances in file_metadata with 'modules/m/none'"},
        {"a", file("metadatas/modules/m/d" + env + "&recurse=") + kJson, "", 200, "\"leaf\""},
        {"a", file("metadata/modules//m/f" + env) + kJson, "", 200, "sha256"},
        {"a", file("metadata//modules/m/f" + env) + kJson, "", 200, "sha256"},
        {"a", file("content/modules/m//f" + env) + bytes, "", 200, ""},
        {"a", file("metadata/modules/m/f" + env + "&environment=x") + kJson, "", 400,
         R"(not '[\"other\" \"x\"]')"},
        {"a", file("metadatas/modules/m/d" + env + "&links=x") + kJson, "", 500,
         "Invalid :links value 'x'"},
        {"a", file("metadatas/modules/m/d" + env + "&recurse=remote&recurselimit=x") + kJson, "",
         500, "comparison of Integer with String failed"},
        {"a", file("metadatas/modules/m/d" + env + "&recurse=true&max_files=x") + kJson, "", 500,
         "comparison of String with 0 failed"},
        {"a", file("metadatas/modules/m/d" + env + "&recurse=true&max_files=-1") + kJson, "", 200,
         "\"leaf\""},
        {"a", file("metadatas/modules/m" + env + "&recurse=true&links=follow") + kJson, "", 500,
         "No such file or directory @ rb_file_s_stat"},
        {"a", file("metadatas/modules/m" + env + "&recurse=true&links=manage") + kJson, "", 200,
         "\"dangling\""},
        {"a", file("metadatas/plugins/nothing" + env + "&recurse=true") + kJson, "", 200,
         "facter/x.rb"},
        {"a", file("metadatas/modules/m/d"), "", 400, "A file_metadatas request must include"},
        {"a", file("content/modules/m/f"), "", 400, "A file_content request must include"},
        {"a", file("content/modules/m/none" + env) + "\nAccept: text/html", "", 404, ""},
        {"a", file("content/modules/m/f" + env) + "\nAccept: text/html", "", 406, ""},
        {"a", file("content/modules/m/d" + env) + bytes, "", 200, ""},
        {"", file("content/modules/m/f" + env) + bytes, "", 403, "Forbidden request"},
        {"a", "PUT /puppet/v3/file_content/modules/m/f" + env, "", 404, ""},
        {"a", "HEAD /puppet/v3/file_content/modules/m/f" + env, "", 404, ""},
        {"a", "POST /puppet/v3/file_metadata/modules/m/f" + env, "", 404, "\"Not Found\""},
        {"", "GET /puppet/v3/nothing", "", 404, "\"url\":\"/puppet/v3/nothing\""},
        // The bucket.
        {"a", "PUT " + bucket + "//tmp/x" + env + saves, "x", 200, ""},
        {"a", "HEAD " + bucket + env, "", 200, ""},
        {"a", "HEAD " + bucket + "//tmp/x" + env, "", 200, ""},
        {"a", "HEAD " + bucket + "/tmp/x" + env, "", 200, ""},
        {"a", "HEAD " + bucket + "//tmp/y" + env, "", 404, ""},
        {"a", "GET " + bucket + bytes, "", 400, "An environment parameter must be specified"},
        {"a", "GET " + bucket + "?environment=nope" + bytes, "", 404, ""},
        {"a", "GET " + bucket + env, "", 400, "Missing required Accept header"},
        {"a", "GET " + bucket + env + kJson, "", 406, ""},
        {"a", "GET " + bucket + env + "&list_all=true" + bytes, "", 500, "Listing remote"},
        {"a", "PUT " + bucket + env + bytes, "x", 400, "No Content-Type header"},
        {"a", "PUT " + bucket + env + bytes + "\nContent-Type: text/plain", "x", 415, "text/plain"},
        {"a", "PUT " + bucket + env + "\nContent-Type: application/octet-stream", "x", 406, ""},
        {"a", "GET /puppet/v3/file_bucket_file/bogus/x" + env + bytes, "", 500,
         "Unsupported checksum type \\\"bogus\\\""},
        {"a", "GET /puppet/v3/file_bucket_file/sha256/x" + env + bytes, "", 500,
         "Invalid checksum \\\"x\\\""},
        {"a", "GET /puppet/v3/file_bucket_file/sha256" + env + bytes, "", 500,
         "Invalid checksum nil"},
        // Reports and facts.
        {"a", "PUT /puppet/v3/report/a" + env + kSends, kReport, 200, "[]"},
        {"a", "PUT /puppet/v3/report/a" + kSends, kReport, 400,
         "An environment parameter must be specified"},
        {"a", "PUT /puppet/v3/report/a?environment=nope" + kSends, kReport, 404, ""},
        {"a", "PUT /puppet/v3/report/a" + env + "\nContent-Type: application/json", kReport, 200,
         ""},
        {"a", "PUT /puppet/v3/report/a" + env + kJson, kReport, 400, "No Content-Type header"},
        {"a", "PUT /puppet/v3/report/a" + env + kSends, "", 400, "unexpected token at ''"},
        {"a", "PUT /puppet/v3/report/a" + env + kSends,
         R"({"host":"a","logs":[1],"metrics":{},"resource_statuses":{}})", 400, "logs"},
        {"a", "PUT /puppet/v3/report/a" + env + kSends, R"({"host":"a","logs":[]})", 400,
         "metrics"},
        {"a", "PUT /puppet/v3/report/a" + env + kSends,
         R"({"host":"b","logs":[],"metrics":{},"resource_statuses":{}})", 500,
         "Instance name \\\"b\\\" does not match requested key \\\"a\\\""},
        {"a", "PUT /puppet/v3/facts/a" + env + kSends, R"({"values":{}})", 500,
         "Instance name nil does not match requested key \\\"a\\\""},
        {"a", "PUT /puppet/v3/facts/a?environment=nope" + kSends, "{}", 404, ""},
        {"a", "PUT /puppet/v3/facts/a" + env + kSends, "{}", 400, "Could not intern from json"},
        {"a", "GET /puppet/v3/facts/a" + env + kJson, "", 404, ""},
        // Nodes, catalogs, environments.
        {"a", "GET /puppet/v3/node/a?environment=nope" + kJson, "", 404, "'nope'"},
        {"a", "GET /puppet/v3/node/a" + env + kJson, "", 200,
         R"({"name":"a","environment":"other"})"},
        {"a", "GET /puppet/v3/node/" + env + kJson, "", 403, "Forbidden request"},
        {"a", "PUT /puppet/v3/report/a/b" + env + kSends, kReport, 403, "Forbidden request"},
        {"admin", "GET /puppet/v3/environment_modules/x" + env, "", 200, "\"other\""},
        {"admin", "GET /puppet/v3/environment_classes/" + env, "", 200, "\"files\""},
        {"", "GET /puppet/v3/environment_transports/x" + env, "", 403, "Forbidden request"},
        {"a", "GET /puppet/v3/catalog/a?environment=nope" + kJson, "", 200,
         "\"title\":\"production\""},
        {"a", "GET /puppet/v3/catalog/a?environment=nope&check_environment=true" + kJson, "", 200,
         "\"title\":\"production\""},
        {"a", "GET /puppet/v3/catalog/a?environment=other" + kJson, "", 200, "\"title\":\"other\""},
        {"a", "GET /puppet/v3/catalog/a?environment=other&environment=x" + kJson, "", 400,
         "The environment must be purely alphanumeric, not '[\"other\" \"x\"]'"},
        {"a", "GET /puppet/v3/catalog/a?environment=binary" + kJson, "", 200, "AAEC"},
        {"a", "GET /puppet/v3/catalog/A?environment=other" + kJson, "", 403, "Forbidden request"},
        {"admin", "GET /puppet/v3/environment_classes?environment=nope", "", 404,
         "Could not find environment 'nope'"},
        {"admin", "GET /puppet/v3/environment_classes", "", 400,
         "An environment parameter must be specified"},
        {"admin", "GET /puppet-admin-api/v1/environment-cache", "", 405, "Method not allowed."},
        {"admin", "DELETE /puppet-admin-api/v1/environment-cache", "", 204, ""},
        {"admin", "GET /puppet-admin-api/v1/jruby-pool", "", 404, "Not Found"},
        {"", "GET /puppet-admin-api/v1/nothing", "", 403, "Forbidden request"},
        {"a", "POST /status/v1/services", "", 403, "Forbidden request"},
        {"a", "OPTIONS /status/v1/services", "", 403, "global deny all - no rules matched"},
        // Tasks and plans.
        {"a", "GET /puppet/v3/tasks" + env, "", 200,
         R"([{"name":"m","private":false,"description":"d","environment":[{"name":"other","code_id":null}]}])"},
        {"a", "GET /puppet/v3/tasks?environment=production", "", 200, "[]"},
        {"a", "GET /puppet/v3/tasks", "", 400, "An environment parameter must be specified"},
        {"a", "GET /puppet/v3/tasks?environment=nope", "", 404,
         "Could not find environment 'nope'"},
        {"a", "GET /puppet/v3/tasks/m/init" + env, "", 200,
         R"("uri":{"path":"/puppet/v3/file_content/tasks/m/init.sh","params":{"environment":"other"}})"},
        {"a", "GET /puppet/v3/tasks/m/two" + env, "", 500, "puppet.tasks/unparseable-metadata"},
        {"a", "GET /puppet/v3/tasks/m/three" + env, "", 404, "Could not find task 'three'"},
        {"a", "GET /puppet/v3/tasks/none/init" + env, "", 404, "Could not find module 'none'"},
        {"a", "GET /puppet/v3/tasks/m" + env, "", 404, "\"Not Found\""},
    };
    for (const auto& c : cases) {
        const auto answer = ask(c.who, c.ask, c.body);
        EXPECT_EQ(answer.status, c.status) << c.ask << "\n" << answer.body;
        EXPECT_NE(answer.body.find(c.holds), std::string::npos) << c.ask << "\n" << answer.body;
    }
}

// The rules of auth.conf decide before the body is read. A form must not lead to an environment
// that they would refuse in the query.
TEST_F(Answers, RulesApplyToEnvironmentsOfForms) {
    const std::string conf = root_ + "/auth.conf";
    std::ofstream(conf) << R"(authorization: { version: 1, rules: [
        { name: "secret", sort-order: 1, allow: "b", match-request: { path: "/puppet/v3/catalog/",
          type: path, query-params: { environment: [other] } } },
        { name: "own", sort-order: 2, allow: "$1", match-request: { type: regex,
          path: "^/puppet/v3/catalog/([^/]+)$" } } ] })";
    settings_.set("auth_config", conf);
    context_.authorization = *http::read_authorization(settings_, log_);
    auto role = make_compiler_role(context_);
    ASSERT_TRUE(role) << role.error().message;
    router_ = http::Router();
    role_->stop();
    role_ = std::move(*role);
    role_->mount(router_);
    const auto catalog = [&](const std::string& query, const std::string& form) {
        const auto answer = ask("a", "POST /puppet/v3/catalog/a" + query + kJson, form);
        if (answer.status != 200) return fmt::format("{} {}", answer.status, answer.body);
        const auto at = answer.body.find("\"environment\":\"") + 15;
        return answer.body.substr(at, answer.body.find('"', at) - at);
    };
    const std::string refused =
        "403 Forbidden request: /puppet/v3/catalog/a (method :post). Please see the server logs "
        "for details.";
    const auto two = [](const char* first, const char* second) {
        return fmt::format("400 The environment must be purely alphanumeric, not '[\"{}\" \"{}\"]'",
                           first, second);
    };
    EXPECT_EQ(catalog("?environment=production", ""), "production");
    EXPECT_EQ(catalog("?environment=production", "environment=production"), "production");
    EXPECT_EQ(catalog("?check_environment=true", "environment=production"), "production");
    EXPECT_EQ(catalog("", "environment=production&environment=production"), "production");
    EXPECT_EQ(catalog("?environment=other", ""), refused);
    EXPECT_EQ(catalog("", "environment=other"), refused);
    EXPECT_EQ(catalog("?check_environment=true", "%65nvironment=other"), refused);
    EXPECT_EQ(catalog("?environment=production", "environment=other"), two("production", "other"));
    EXPECT_EQ(catalog("?environment=production", "environment=production&environment=other"),
              two("production", "other"));
    EXPECT_EQ(catalog("", "environment=production&environment=other"), two("production", "other"));
}

TEST_F(Answers, CreatesProductionEnvironment) {
    const auto production = fs::path(root_) / "envs/production";
    fs::remove_all(production);
    fs::create_symlink("/nowhere", production);
    ASSERT_TRUE(make_compiler_role(context_));
    EXPECT_TRUE(fs::is_symlink(production));
    fs::remove(production);
    ASSERT_TRUE(make_compiler_role(context_));
    EXPECT_TRUE(fs::is_directory(production));
}

TEST_F(Answers, BoltSyntaxTrees) {
    // notify { $v: } on line 3, as Puppet 8.11 converts it to data.
    const std::string tree =
        R"({"__ptype":"Puppet::AST::ResourceExpression","offset":2,"length":15,)"
        R"("locator":{"__ptype":"Puppet::AST::Locator","string":"\n\nnotify { $v: }",)"
        R"("file":"/plan.pp","line_index":[0,1,2]},"form":"regular",)"
        R"("type_name":{"__ptype":"Puppet::AST::QualifiedName","offset":2,"length":6,)"
        R"("locator":{"__ptype":"LocalRef","__pvalue":"$['locator']"},"value":"notify"},)"
        R"("bodies":[{"__ptype":"Puppet::AST::ResourceBody","offset":2,"length":0,)"
        R"("locator":{"__ptype":"LocalRef","__pvalue":"$['locator']"},"title":)"
        R"({"__ptype":"Puppet::AST::VariableExpression","offset":11,"length":2,)"
        R"("expr":{"__ptype":"Puppet::AST::QualifiedName","value":"v"}}}]})";
    const auto body = [](const std::string& ast, const std::string& more) {
        return fmt::format(
            R"({{"certname":"a","code_ast":{},"trusted_facts":{{"values":{{}}}},)"
            R"("facts":{{"values":{{}}}},"variables":{{"values":{{"v":"told"}}}}{}}})",
            codec::json_string(ast), more);
    };
    const std::string env = R"(,"environment":"other")";
    const std::string ask_for = "POST /puppet/v3/compile" + kSends;
    const std::vector<Case> cases{
        {"admin", ask_for, body(tree, env), 200,
         R"("title":"told","tags":["notify","told","class"],"file":"/plan.pp","line":3)"},
        {"admin", ask_for, body("null", env), 200, R"("title":"Settings")"},
        {"admin", ask_for, body(tree, env + R"(,"options":{"capture_logs":true})"), 200,
         R"("logs":[{"level":"notice","message":"Compiled catalog for a)"},
        {"admin", ask_for, body(R"({"__ptype":"Puppet::AST::EppExpression"})", env), 400,
         "EppExpression cannot be compiled separately"},
        {"admin", ask_for, body(R"({"__ptype":"LocalRef","__pvalue":"$"})", env), 400,
         "The references are circular"},
        {"admin", ask_for,
         body(
             R"({"__ptype":"Puppet::AST::LiteralList","values":[{"__ptype":"LocalRef","__pvalue":"$"}]})",
             env),
         400, "nested too deeply"},
        {"admin", ask_for, body("x", env), 400, "code_ast is invalid JSON"},
        {"admin", ask_for, body(tree, ""), 400, "must include an `environment`"},
        {"admin", ask_for, body(tree, R"(,"versioned_project":"x")"), 400, "versioned_project"},
        {"admin", ask_for, body(tree, env + R"(,"options":{"compile_for_plan":true})"), 500,
         "compile_for_plan needs Bolt"},
        {"admin", ask_for, "{}", 400, "\"code_ast\" missing-required-key"},
        {"admin", ask_for, body(tree, env + R"(,"options":{"log_level":"err"})"), 400,
         R"((not (#{"warning" "info" "error" "debug"} "err")))"},
        {"admin", ask_for, body(tree, R"(,"environment":"nope")"), 500, "'nope'"},
        {"admin", ask_for, body(tree, R"(,"environment":"")"), 500, "environment ''"},
        {"a", ask_for, body(tree, env), 403, "Forbidden request"},
    };
    for (const auto& c : cases) {
        const auto answer = ask(c.who, c.ask, c.body);
        EXPECT_EQ(answer.status, c.status) << c.body << "\n" << answer.body;
        EXPECT_NE(answer.body.find(c.holds), std::string::npos) << c.body << "\n" << answer.body;
    }
}

TEST(AstText, EachKindOfTree) {
    const auto node = [](const std::string& type, const std::string& more) {
        return fmt::format(R"({{"__ptype":"Puppet::AST::{}"{}{}}})", type, more.empty() ? "" : ",",
                           more);
    };
    const auto one = node("LiteralInteger", R"("value":1)");
    const auto x =
        node("VariableExpression", "\"expr\":" + node("QualifiedName", R"("value":"x")"));
    const auto sides = "\"left_expr\":" + x + ",\"right_expr\":" + one;
    const auto name = node("QualifiedName", R"("value":"include")");
    struct Tree {
        std::string json, code;
    };
    for (const auto& [json, code] : std::vector<Tree>{
             {one, "1"},
             {node("LiteralString", R"("value":"a\"$\n\\")"), R"("a\"\$\n\\")"},
             {node("LiteralRegularExpression", R"("pattern":"/a\\/b/","value":null)"), R"(/a\/b/)"},
             {node("LiteralFloat", R"("value":1.5e+30)"), "1.5e30"},
             {node("AssignmentExpression", R"("operator":"+=",)" + sides), "$x += (1)"},
             {node("NotExpression", "\"expr\":" + node("InExpression", sides)), "!($x in (1))"},
             {node(
                  "LiteralHash",
                  "\"entries\":[" + node("KeyedEntry", "\"key\":" + one + ",\"value\":" + x) + "]"),
              "{ (1) => $x, }"},
             {node("ConcatenatedString", "\"segments\":[" +
                                             node("LiteralString", R"("value":"$")") + "," +
                                             node("TextExpression", "\"expr\":" + x) + "]"),
              R"("\$${($x)}")"},
             {node("CallMethodExpression",
                   "\"functor_expr\":" +
                       node("NamedAccessExpression",
                            "\"left_expr\":" + one + ",\"right_expr\":" + name) +
                       ",\"lambda\":" +
                       node("LambdaExpression",
                            "\"parameters\":[" +
                                node("Parameter", R"("name":"p","captures_rest":true)") +
                                "],\"body\":" + x)),
              "(1).include() |*$p| { $x }"},
             {node("BlockExpression",
                   "\"statements\":[" +
                       node("CallNamedFunctionExpression",
                            "\"functor_expr\":" + name + ",\"arguments\":[" + x + "]") +
                       "," + node("LiteralList", "\"values\":[" + one + "]") + "]"),
              "include($x); ([1])"},
             {node("IfExpression",
                   "\"test\":" + x + ",\"then_expr\":" + one + ",\"else_expr\":" + node("Nop", "")),
              "if $x { 1 }"},
             {node("CollectExpression",
                   "\"type_expr\":" + node("QualifiedReference", R"("cased_value":"Notify")") +
                       ",\"query\":" + node("ExportedQuery", "")),
              "Notify <<|  |>>"},
             {R"("no tree")", ""},
         }) {
        base::Arena arena;
        const auto tree = value::parse_json(arena, json);
        ASSERT_TRUE(tree) << json;
        const auto text = ast_text(*tree);
        ASSERT_TRUE(text) << json << text.error().message;
        EXPECT_EQ(text->code, code) << json;
    }
}

/// Reports are stored in files if the settings request it.
class ReportFiles : public Answers {
protected:
    void begin(bool each) {
        settings_.set("reports", "store");
        settings_.set("reportdir", root_ + "/reports");
        settings_.set("store_reports_at_rest", each ? "true" : "false");
        role_->stop();
        role_ = std::move(*make_compiler_role(context_));
        router_ = http::Router();
        role_->mount(router_);
    }
    http::Response put(const std::string& as, const std::string& time) {
        return ask(
            "a",
            "PUT /puppet/v3/report/a?environment=other" + kSends + "\nBunraku-As-Report: " + as,
            fmt::format(R"({{"host":"a","time":"{}","report_format":12,"status":"unchanged",)"
                        R"("logs":[],"metrics":{{}},"resource_statuses":{{}}}})",
                        time));
    }
    fs::path newest() const {
        fs::path out;
        for (const auto& e : fs::directory_iterator(root_ + "/reports/a"))
            out = std::max(out, e.path());
        return out;
    }
    static bool says(const fs::path& file, std::string_view word) {
        std::ifstream in(file);
        const std::string text(std::istreambuf_iterator<char>(in), {});
        return text.find(word) != std::string::npos;
    }
};

TEST_F(ReportFiles, UnchangedRunUpdatesTimeOfLastReport) {
    for (const bool each : {false, true}) {
        begin(each);
        const auto first = put("new", "2024-01-01T00:00:00Z");
        ASSERT_EQ(first.status, 200);
        const std::string as(first.headers.get("Bunraku-As-Report"));
        ASSERT_FALSE(as.empty());
        // No file is recorded for this report yet.
        ASSERT_EQ(put(as, "2024-01-02T00:00:00Z").status, 200);
        const auto file = newest();
        EXPECT_TRUE(says(file, "2024-01-02T00:00:00"));
        const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
        fs::last_write_time(file, old);
        ASSERT_EQ(put(as, "2024-01-03T00:00:00Z").status, 200);
        EXPECT_EQ(says(newest(), "2024-01-03T00:00:00"), each);
        EXPECT_GT(fs::last_write_time(newest()), old + std::chrono::hours(23));
        // A file that another program removed is written again.
        fs::remove_all(root_ + "/reports/a");
        ASSERT_EQ(put(as, "2024-01-04T00:00:00Z").status, 200);
        EXPECT_TRUE(says(newest(), "2024-01-04T00:00:00"));
        EXPECT_EQ(put("nobody's", "2024-01-05T00:00:00Z").status, 412);
        fs::remove_all(root_ + "/reports");
    }
}

TEST_F(Answers, MessagePack) {
    const std::string env = "?environment=other";
    const std::string packs =
        "\nAccept: application/x-msgpack\nContent-Type: application/x-msgpack";
    base::Arena arena;
    const auto report = value::to_msgpack(*value::parse_json(arena, kReport));
    const auto read = [&](const http::Response& answer) {
        EXPECT_EQ(answer.status, 200) << answer.body;
        const auto data = value::parse_msgpack(arena, answer.body);
        return data ? value::to_json(*data) : data.error().message;
    };
    EXPECT_EQ(read(ask("a", "PUT /puppet/v3/report/a" + env + packs, report)), "[]");
    EXPECT_EQ(ask("a", "PUT /puppet/v3/report/a" + env + packs, report + "x").status, 400);
    const auto file = ask("a", "GET /puppet/v3/file_metadata/modules/m/f" + env + packs);
    EXPECT_EQ(file.headers.get("Content-Type"), "application/x-msgpack");
    EXPECT_NE(read(file).find(R"("relative_path":null)"), std::string::npos);
    const auto catalog =
        ask("a",
            "GET /puppet/v3/catalog/a?environment=binary\nAccept: application/vnd.puppet.rich+"
            "msgpack, application/json");
    EXPECT_EQ(catalog.headers.get("Content-Type"), "application/vnd.puppet.rich+msgpack");
    EXPECT_NE(read(catalog).find(R"({"__ptype":"Binary","__pvalue":"AAEC"})"), std::string::npos);
}

TEST(CatalogInput, RefusesInvalidRequests) {
    const auto with = [](const std::string& more) {
        return R"({"certname":"a","environment":"e","persistence":{"facts":true,"catalog":true})" +
               more + "}";
    };
    struct Input {
        std::string json;
        const char* problem;
    };
    for (
        const auto& c : std::vector<Input>{
            {with(""), ""},
            {with(R"(,"facts":{"values":{}},"options":{"capture_logs":true})"), ""},
            {"{}",
             R"({"certname" missing-required-key, "persistence" missing-required-key, "environment" missing-required-key})"},
            {with(R"(,"facts":1)"), R"({"facts" (not (map? 1))})"},
            {with(R"(,"facts":null)"), R"({"facts" (not (map? nil))})"},
            {with(R"(,"facts":[])"), R"({"facts" (not (map? []))})"},
            {with(R"(,"facts":{})"), R"({"facts" {"values" missing-required-key}})"},
            {with(R"(,"facts":{"values":[]})"), R"({"facts" {"values" (not (map? []))}})"},
            {with(R"(,"facts":{"values":{},"x":1})"), R"({"facts" {"x" disallowed-key}})"},
            {with(R"(,"extra":1)"), R"({"extra" disallowed-key})"},
            {with(R"(,"job_id":7)"), R"({"job_id" (not (instance? java.lang.String 7))})"},
            {with(R"(,"options":[])"), R"({"options" (not (map? []))})"},
            {with(R"(,"options":{"capture_logs":"x"})"),
             R"({"options" {"capture_logs" (not (instance? java.lang.Boolean "x"))}})"},
            {with(R"(,"options":{"log_level":"bogus"})"),
             R"({"options" {"log_level" (not (#{"warning" "err" "info" "debug"} "bogus"))}})"},
            {R"({"certname":"a","environment":"a-b","persistence":{"facts":true}})",
             R"({"persistence" {"catalog" missing-required-key}, "environment" (not (puppetlabs.services.master.master-core/valid-env-name? "a-b"))})"},
        }) {
        base::Arena arena;
        const auto data = value::parse_json(arena, c.json);
        ASSERT_TRUE(data) << c.json;
        EXPECT_EQ(catalog_input_problem(*data), c.problem) << c.json;
    }
}

}  // namespace
}  // namespace bunraku::server
