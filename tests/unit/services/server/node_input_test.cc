// SPDX-License-Identifier: Apache-2.0
// Tests a compile server's inputs about a node other than its code: $trusted, also in the store,
// and facts on disk for classifiers.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "compile/site/site.h"
#include "core/sys/executor.h"
#include "core/value/rich_data.h"
#include "net/http/auth_conf.h"
#include "net/http/network.h"
#include "services/server/role.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;
using value::Value;

class NodeInput : public testing::Test {
protected:
    NodeInput() {
        char name[] = "/tmp/node_input_test_XXXXXX";
        root_ = ::mkdtemp(name);
        put("envs/production/manifests/site.pp",
            "$e = $trusted['extensions']\n"
            "notify { \"role ${e['pp_role']} own ${e['tier']} unnamed "
            "${e['1.3.6.1.4.1.34380.1.2.9']} "
            "external ${trusted['external'].keys}\": }\n");
        for (const auto& [setting, path] :
             {std::pair("environmentpath", "envs"), std::pair("statedir", "state"),
              std::pair("vardir", "var"), std::pair("confdir", "conf"), std::pair("ssldir", "ssl")})
            settings_.set(setting, root_ + "/" + path);
        settings_.set("basemodulepath", root_ + "/modules");
        settings_.set("store_key", root_ + "/store.key");
        settings_.set("storeconfigs", "false");
        settings_.set("reports", "none");
        fs::create_directories(root_ + "/state");
    }
    ~NodeInput() override {
        aside_->stop();
        if (role_) role_->stop();
        role_.reset();
        fs::remove_all(root_);
    }
    std::string put(const std::string& path, const std::string& text, bool program = false) {
        const auto full = fs::path(root_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
        if (program) fs::permissions(full, fs::perms::owner_all);
        return full;
    }
    std::string read(const std::string& path) const {
        std::ifstream file(root_ + "/" + path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void start() {
        auto authorization = http::read_authorization(settings_, log_);
        ASSERT_TRUE(authorization) << authorization.error().message;
        context_.authorization = *authorization;
        auto role = make_compiler_role(context_);
        ASSERT_TRUE(role) << role.error().message;
        role_ = std::move(*role);
        role_->mount(router_);
    }
    /// Returns the response to web1's catalog request with the fact `number`.
    http::Response catalog(int number) {
        http::Request r;
        r.method = "POST";
        r.path = r.target = "/puppet/v3/catalog/web1";
        r.headers.set("Accept", "application/json");
        r.headers.set("Content-Type", "application/x-www-form-urlencoded");
        r.body =
            "environment=production&facts_format=application/json&facts=" +
            http::percent_encode(http::percent_encode(fmt::format(
                R"({{"name":"web1","values":{{"number":{}}},"timestamp":"2026-01-01T00:00:00Z",)"
                R"("expiration":"2026-01-01T00:30:00Z"}})",
                number)));
        r.peer.tls = true;
        auto certificate = std::make_shared<http::ClientCertificate>();
        certificate->trust = http::ClientCertificate::Trust::Verified;
        certificate->name = "web1";
        certificate->extensions = {{"1.3.6.1.4.1.34380.1.1.13", "pp_role", "web"},
                                   {"1.3.6.1.4.1.34380.1.2.1", "1.3.6.1.4.1.34380.1.2.1", "gold"},
                                   {"1.3.6.1.4.1.34380.1.2.9", "1.3.6.1.4.1.34380.1.2.9", "nine"}};
        r.peer.certificate = certificate;
        return router_.handle(r);
    }
    std::string query(const std::string& pql) {
        base::Arena arena;
        site::Site site(settings_, {});
        const auto store = site.store(log_);
        const auto rows = store->query(Value::string(pql), arena);
        return rows ? value::to_json(*rows) : rows.error().message;
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

TEST_F(NodeInput, TrustedIsStoredWithTheFacts) {
    settings_.set("trusted_oid_mapping_file",
                  put("names.yaml",
                      "oid_mapping:\n  1.3.6.1.4.1.34380.1.2.1:\n"
                      "    shortname: tier\n    longname: The tier\n"
                      "  1.3.6.1.4.1.34380.1.1.13:\n    shortname: not_this\n"));
    start();
    const auto answer = catalog(1);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_NE(answer.body.find("role web own gold unnamed nine external []"), std::string::npos)
        << answer.body;
    EXPECT_EQ(query("inventory[certname, trusted]{}"),
              R"([{"certname":"web1","trusted":{"authenticated":"remote","certname":"web1",)"
              R"("domain":null,)"
              R"("extensions":{"1.3.6.1.4.1.34380.1.2.9":"nine","pp_role":"web","tier":"gold"},)"
              R"("external":{},"hostname":"web1"}}])");
    // A compile with facts from the store has $trusted, and not as a fact.
    site::Site site(settings_, {});
    site::NodeRequest request;
    request.node = "web1";
    request.facts.kind = site::FactSource::Kind::Store;
    const auto session = site.session(std::move(request), log_);
    EXPECT_EQ(value::to_json(session->facts()), R"({"number":1})");
    const auto compiled = session->compile();
    EXPECT_EQ(value::to_json(compiled.trusted.as_hash().find("extensions")->as_hash().find("tier")
                                 ? *compiled.trusted.as_hash().find("extensions")
                                 : Value()),
              R"({"1.3.6.1.4.1.34380.1.2.9":"nine","pp_role":"web","tier":"gold"})");
}

TEST_F(NodeInput, TrustedExternalFromProgram) {
    settings_.set("trusted_external_command",
                  put("external", "#!/bin/sh\necho \"{\\\"asked\\\":\\\"$1\\\"}\"\n", true));
    start();
    EXPECT_NE(catalog(1).body.find("external [asked]"), std::string::npos);
    EXPECT_NE(query("inventory[trusted]{}").find(R"("external":{"asked":"web1"})"),
              std::string::npos);
    put("external", "#!/bin/sh\nexit 3\n", true);
    const auto failed = catalog(1);
    EXPECT_EQ(failed.status, 500);
    EXPECT_NE(failed.body.find("Execution of '" + root_ + "/external web1' returned 3: "),
              std::string::npos)
        << failed.body;
    put("external", "#!/bin/sh\necho nonsense\n", true);
    EXPECT_EQ(catalog(1).status, 500);
}

TEST_F(NodeInput, TrustedExternalFromFolder) {
    put("external.d/one.sh", "#!/bin/sh\necho '{\"n\":1}'\n", true);
    put("external.d/two", "#!/bin/sh\necho '[2]'\n", true);
    put("external.d/readme", "no program\n");
    settings_.set("trusted_external_command", root_ + "/external.d/");
    start();
    EXPECT_NE(catalog(1).body.find("external [one, two]"), std::string::npos);
    EXPECT_NE(query("inventory[trusted]{}").find(R"("external":{"one":{"n":1},"two":[2]})"),
              std::string::npos);
    put("external.d/one.rb", "#!/bin/sh\necho 1\n", true);
    const auto twice = catalog(1);
    EXPECT_NE(twice.body.find("There is more than one 'one' script in " + root_ + "/external.d"),
              std::string::npos)
        << twice.body;
}

TEST_F(NodeInput, WritesFactsBeforeClassification) {
    settings_.set("node_terminus", "exec");
    settings_.set("external_nodes",
                  put("enc",
                      fmt::format("#!/bin/sh\ncp {0}/var/server_data/facts/$1.json {0}/seen\n"
                                  "echo 'classes: {{}}'\n",
                                  root_),
                      true));
    start();
    ASSERT_EQ(catalog(7).status, 200);
    EXPECT_EQ(read("seen"),
              R"({"name":"web1","values":{"number":7},"timestamp":"2026-01-01T00:00:00Z",)"
              R"("expiration":"2026-01-01T00:30:00Z"})");
    ASSERT_EQ(catalog(8).status, 200);
    EXPECT_NE(read("seen").find(R"("number":8)"), std::string::npos);
    const auto file = root_ + "/var/server_data/facts/web1.json";
    EXPECT_EQ(static_cast<unsigned>(fs::status(file).permissions()), 0660u);
}

TEST_F(NodeInput, FactsOnDiskAsYaml) {
    put("conf/routes.yaml", "server:\n  facts:\n    terminus: puppetdb\n    cache: yaml\n");
    start();
    ASSERT_EQ(catalog(7).status, 200);
    EXPECT_EQ(read("var/yaml/facts/web1.yaml"),
              "--- !ruby/object:Puppet::Node::Facts\nname: web1\nvalues:\n  number: 7\n"
              "timestamp: '2026-01-01T00:00:00Z'\nexpiration: '2026-01-01T00:30:00Z'\n");
    EXPECT_FALSE(fs::exists(root_ + "/var/server_data/facts"));
}

TEST_F(NodeInput, WritesNoFactsWithoutClassifier) {
    start();
    ASSERT_EQ(catalog(7).status, 200);
    EXPECT_FALSE(fs::exists(root_ + "/var/server_data"));
    EXPECT_FALSE(fs::exists(root_ + "/var/yaml"));
}

}  // namespace
}  // namespace bunraku::server
