// SPDX-License-Identifier: Apache-2.0
#include "services/server/instance.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/http/client.h"
#include "net/pki/authority.h"

namespace bunraku::server {
namespace {

struct Folder {
    std::string path;
    Folder() {
        char name[] = "/tmp/bunraku-server-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::system(("rm -rf " + path).c_str()); }
    std::string put(const std::string& name, const std::string& text) {
        std::ofstream(path + "/" + name) << text;
        return path + "/" + name;
    }
};

TEST(Instance, Listeners) {
    struct Case {
        const char *text, *host;
        int port;  // -1 if the value is refused
    };
    for (const auto& c : std::initializer_list<Case>{{"127.0.0.1:80", "127.0.0.1", 80},
                                                     {"8080", "default", 8080},
                                                     {":0", "default", 0},
                                                     {"[::1]:81", "::1", 81},
                                                     {"host:65535", "host", 65535},
                                                     {"host:65536", "", -1},
                                                     {"host", "", -1},
                                                     {"", "", -1},
                                                     {"a:b", "", -1}}) {
        auto listener = parse_listener(c.text, true, "default");
        ASSERT_EQ(listener.has_value(), c.port >= 0) << c.text;
        if (!listener) continue;
        EXPECT_EQ(listener->host, c.host);
        EXPECT_EQ(listener->port, c.port);
    }
}

TEST(Instance, RefusesInvalidConfiguration) {
    Folder folder;
    base::MemorySink log;
    config::Settings settings = config::Settings::defaults();
    settings.set("statedir", folder.path + "/state");
    settings.set("store_key", folder.path + "/store.key");
    auto message = [&](InstanceOptions options) {
        auto started = Instance::start(settings, log, std::move(options));
        return started ? std::string("started") : started.error().message;
    };
    EXPECT_EQ(message({.roles = {"x"}, .listeners = {{}}}),
              "Unknown role 'x'; the roles are: ca, store, compiler, forge, console");
    EXPECT_NE(message({.roles = {"forge"}, .listeners = {{"0.0.0.0", 0, false}}})
                  .find("Plain HTTP on 0.0.0.0"),
              std::string::npos);
    settings.set("hostcert", folder.path + "/none.pem");
    EXPECT_EQ(
        message({.roles = {"forge"}, .listeners = {{"127.0.0.1", 0, true}}}),
        "Could not read the certificate " + folder.path + "/none.pem: No such file or directory");
    auto running = Instance::start(settings, log, {.roles = {"forge"}, .listeners = {{}}});
    ASSERT_TRUE(running) << running.error().message;
    EXPECT_NE(message({.roles = {"forge"}, .listeners = {{}}}).find("uses the state in"),
              std::string::npos);
    struct stat status{};
    ::stat((folder.path + "/state").c_str(), &status);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

/// A server with TLS and additionally plain HTTP; the clients are "good", "other" and "" (no
/// certificate).
class InstanceTls : public testing::Test {
protected:
    InstanceTls() {
        auto put = [&](const std::string& name, const pki::Subject& subject) {
            auto identity = ca_.issue(subject).value();
            folder_.put(name + ".pem", identity.certificate.pem());
            folder_.put(name + ".key", identity.key.pem());
        };
        put("server", {"server", {"IP:127.0.0.1"}});
        put("good", {"good"});
        put("other", {"other"});
        put("admin", {"admin", {}, 90, {{pki::puppet_oid("pp_cli_auth"), "true"}}});
        settings_.set("confdir", folder_.path + "/conf");
        settings_.set("statedir", folder_.path + "/state");
        settings_.set("store_key", folder_.path + "/store.key");
        settings_.set("hostcert", folder_.path + "/server.pem");
        settings_.set("hostprivkey", folder_.path + "/server.key");
        settings_.set("localcacert", folder_.put("ca.pem", ca_.certificate().pem()));
        settings_.set("hostcrl", folder_.put("crl.pem", ca_.crl_pem().value()));
    }
    base::Result<void> start(std::vector<std::string> roles = {}) {
        instance_.reset();
        auto started = Instance::start(
            settings_, log_,
            {.roles = std::move(roles), .listeners = {{"127.0.0.1", 0, true}, {}}, .version = "1"});
        if (!started) return std::unexpected(started.error());
        instance_ = std::move(*started);
        return {};
    }
    std::string ask(const std::string& who, const std::string& path) {
        http::ClientOptions options;
        options.ca_file = folder_.path + "/ca.pem";
        if (!who.empty()) {
            options.certificate_file = folder_.path + "/" + who + ".pem";
            options.private_key_file = folder_.path + "/" + who + ".key";
        }
        auto answer = http::Client(options).get(instance_->urls()[0] + path);
        return answer ? std::to_string(answer->status) + " " + answer->body.substr(0, 85)
                      : answer.error().message;
    }
    /// Sends a command whose body has the members `about`; returns the response status.
    std::string send(const std::string& who, const std::string& command, int version,
                     const std::string& certname, const std::string& about) {
        http::ClientOptions options;
        options.ca_file = folder_.path + "/ca.pem";
        options.certificate_file = folder_.path + "/" + who + ".pem";
        options.private_key_file = folder_.path + "/" + who + ".key";
        http::ClientRequest request{
            "POST",
            instance_->urls()[0] + fmt::format("/pdb/cmd/v1?command={}&version={}&certname={}",
                                               command, version, certname),
            {},
            fmt::format(R"({{"producer_timestamp":"2026-01-01T00:00:00Z",{}}})", about)};
        request.headers.set("Content-Type", "application/json");
        auto answer = http::Client(options).send(request);
        return answer ? std::to_string(answer->status) : answer.error().message;
    }
    Folder folder_;
    base::MemorySink log_;
    pki::Authority ca_ = pki::Authority::create("CA").value();
    config::Settings settings_ = config::Settings::defaults();
    std::unique_ptr<Instance> instance_;
};

TEST_F(InstanceTls, AllowListGuardsTheStore) {
    settings_.set("certificate-allowlist", folder_.put("allow", "# who\ngood\n\n"));
    auto started = start();
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(ask("good", "/pdb/query/v4/nodes"), "200 []");
    EXPECT_TRUE(ask("other", "/pdb/query/v4/nodes")
                    .starts_with("403 The client certificate name other doesn't appear in the "
                                 "certificate allowlist. "));
    EXPECT_TRUE(ask("", "/pdb/meta/v1/version").starts_with("403 "));
    // For every spelling of the path.
    for (const char* path :
         {"/p%64b/query/v4/nodes", "/%70db/admin/v1/archive", "/pdb/admin/v1/%61rchive",
          "/%6Detrics/v2", "/m%65trics", "/%70%64%62/meta/v1/version", "/pdb/query/v3/nodes"}) {
        EXPECT_TRUE(ask("", path).starts_with("403 ")) << path;
        EXPECT_TRUE(ask("other", path).starts_with("403 ")) << path;
        EXPECT_FALSE(ask("good", path).starts_with("403 ")) << path;
    }
    for (const char* path : {"//pdb/query/v4/nodes", "/./pdb/query/v4/nodes",
                             "/x/%2e%2e/pdb/query/v4/nodes", "/pdb//query/v4/nodes"}) {
        EXPECT_TRUE(ask("", path).starts_with("400 ")) << path;
    }
    EXPECT_TRUE(ask("", "/pdb%2Fquery/v4/nodes").starts_with("404 "));
    EXPECT_TRUE(ask("", "/pdb;x/query/v4/nodes").starts_with("404 "));
    EXPECT_EQ(ask("", "/status/v1/simple"), "200 running");
    EXPECT_EQ(http::Client().get(instance_->urls()[1] + "/pdb/query/v4/nodes")->body, "[]");
    folder_.put("allow", "good\nother\n");
    ASSERT_TRUE(instance_->reload());
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes"), "200 []");
    ::unlink((folder_.path + "/allow").c_str());
    EXPECT_FALSE(instance_->reload());
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes"), "200 []");
    instance_->stop();
}

// By default, a node can access its own data through the agents' port.
TEST_F(InstanceTls, NodeAccessesOnlyItsOwnData) {
    settings_.set("certname", "server");
    ASSERT_TRUE(start());
    for (const char* path :
         {"/pdb/query/v4", "/pdb/query/v4/nodes", "/pdb/query/v4/nodes/good",
          "/pdb/query/v4/nodes/good/facts", "/pdb/query/v4/facts?limit=2",
          "/pdb/query/v4/nodes?query=[%22=%22,%22certname%22,%22other%22]",
          "/pdb/query/v4/nodes/other/facts?query=[%22in%22,%22name%22,[%22extract%22,%22name%22,"
          "[%22select_facts%22,[%22=%22,%22certname%22,%22good%22]]]]",
          "/pdb/query/v4/environments/production/nodes", "/pdb/query/v4/nodes/oth%2565r",
          "/pdb/admin/v1/archive", "/pdb/admin/v1/summary-stats", "/bunraku/v1/drift",
          "/bunraku/v1/exports", "/bunraku/v1/nodes/good/catalogs", "/bunraku/v1/undeclared",
          "/bunraku/v1/undeclared?certname=other", "/bunraku/v1/nodes/good/undeclared"}) {
        EXPECT_EQ(ask("other", path).substr(0, 79),
                  "403 The client certificate name other may access the store only for itself: its")
            << path;
        EXPECT_FALSE(ask("admin", path).starts_with("403")) << path;
        EXPECT_FALSE(ask("server", path).starts_with("403")) << path;
    }
    for (const char* path : {"/pdb/query/v4/nodes/other", "/pdb/query/v4/nodes/oth%65r/facts",
                             "/pdb/query/v4/factsets/other", "/pdb/query/v4/catalogs/other/edges",
                             "/bunraku/v1/nodes/other/catalogs",
                             "/bunraku/v1/nodes/other/undeclared", "/pdb/meta/v1/version"}) {
        EXPECT_FALSE(ask("other", path).starts_with("403")) << path;
    }
    const std::string own = R"("certname":"other")", others = R"("certname":"good")";
    for (const std::string command : {"replace_facts", "replace%20facts", "store_report"}) {
        const int version = command == "store_report" ? 8 : 5;
        EXPECT_EQ(send("other", command, version, "other", own), "200");
        EXPECT_EQ(send("other", command, version, "good", others), "403");
        // The body decides which node the command is for.
        EXPECT_EQ(send("other", command, version, "other", others), "400");
        EXPECT_EQ(send("other", command, version, "other", own + "," + others), "400");
        EXPECT_EQ(send("other", command, version, "other", R"("x":{"certname":"other"})"), "400");
        // Older formats use other keys for the name of the node.
        EXPECT_EQ(send("other", command, version - 3, "other", own), "403");
        EXPECT_EQ(send("other", command, version, "other&certname=good", own), "400");
        EXPECT_EQ(send("other", command, version, "good&certname=other", own), "403");
        EXPECT_EQ(send("admin", command, version, "good", others), "200");
    }
    // Only a server that verified a certificate may send the trusted data.
    for (const char* values :
         {R"({"trusted":{"certname":"good"}})", R"({"a":1,"tru\u0073ted":null})"}) {
        const std::string forged = fmt::format(R"({},"values":{})", own, values);
        EXPECT_EQ(send("other", "replace_facts", 5, "other", forged), "403");
        EXPECT_EQ(send("other", "replace_facts", 5, "other", R"("values":{"a":1},)" + forged),
                  "403");
        EXPECT_EQ(send("admin", "replace_facts", 5, "other", forged), "200");
        EXPECT_EQ(send("server", "replace_facts", 5, "other", forged), "200");
    }
    EXPECT_EQ(send("other", "replace_facts", 5, "other",
                   own + R"(,"values":{"a":{"trusted":1}},"trusted":1)"),
              "200");
    // Only a compiler may send a node's exports, and only an administrator may change its state.
    for (const char* command : {"replace_catalog", "deactivate_node", "configure_expiration",
                                "replace_catalog_inputs", "x"}) {
        EXPECT_EQ(send("other", command, 9, "other", own), "403") << command;
    }
    instance_->stop();
}

// Rules that the administrator wrote also apply to the store.
TEST_F(InstanceTls, AuthConfGuardsTheStore) {
    settings_.set("certname", "server");
    const auto rules = [&](const std::string& more) {
        return folder_.put("auth.conf",
                           "authorization: { version: 1, rules: [" + more +
                               R"({ name: "deny all", sort-order: 999, match-request: )"
                               R"({ path: "/", type: path }, deny: "*" }] })");
    };
    settings_.set("auth_config", rules(""));
    ASSERT_TRUE(start());
    for (const char* who : {"other", "admin", "server"})
        EXPECT_EQ(ask(who, "/pdb/query/v4/nodes/other").substr(0, 21), "403 Forbidden request");
    // A rule that allows the request, and PuppetDB's allow list.
    rules(R"({ name: "pdb", sort-order: 1, match-request: { path: "/pdb/query", type: path }, )"
          R"(allow: "good" },)");
    ASSERT_TRUE(instance_->reload());
    EXPECT_EQ(ask("good", "/pdb/query/v4/nodes"), "200 []");
    EXPECT_EQ(ask("good", "/pdb/admin/v1/archive").substr(0, 3), "403");
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes").substr(0, 3), "403");
    rules("");
    settings_.set("certificate-allowlist", folder_.put("allow", "good\n"));
    ASSERT_TRUE(start());
    EXPECT_EQ(ask("good", "/pdb/query/v4/nodes"), "200 []");
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes/other").substr(0, 3), "403");
    instance_->stop();
}

// The server reads a new rules file. Removing the file does not allow requests that it denied.
TEST_F(InstanceTls, ReloadsChangedRules) {
    const auto path = folder_.path + "/conf/puppetserver/conf.d/auth.conf";
    ASSERT_TRUE(start());
    const auto may_list = [&] {
        return ask("other", "/puppet/v3/environments").substr(0, 3) != "403";
    };
    EXPECT_TRUE(may_list());
    std::filesystem::create_directories(folder_.path + "/conf/puppetserver/conf.d");
    std::ofstream(path) << R"(authorization: { version: 1, rules: [{ name: "deny all", )"
                           R"(sort-order: 9, match-request: { path: "/", type: path }, )"
                           R"(deny: "*" }] })";
    EXPECT_TRUE(instance_->reload());
    EXPECT_FALSE(may_list());
    std::filesystem::remove(path);
    auto reloaded = instance_->reload();
    ASSERT_FALSE(reloaded);
    EXPECT_EQ(reloaded.error().message,
              path + " no longer exists; its rules stay in force until the server is restarted");
    EXPECT_FALSE(may_list());
    instance_->stop();
}

// A local store would be empty and accessible, while all data is in the external PuppetDB.
TEST_F(InstanceTls, StoreIsDisabledWithExternalPuppetdb) {
    std::filesystem::create_directories(folder_.path + "/conf");
    folder_.put("conf/puppetdb.conf", "[main]\nserver_urls = https://puppetdb.example:8081\n");
    ASSERT_TRUE(start());
    EXPECT_EQ(ask("admin", "/pdb/query/v4/nodes").substr(0, 3), "404");
    ASSERT_TRUE(start({"compiler", "store"}));
    EXPECT_EQ(ask("admin", "/pdb/query/v4/nodes"), "200 []");
    instance_->stop();
}

TEST_F(InstanceTls, RequiresCertificateWithoutAllowList) {
    auto started = start();
    ASSERT_TRUE(started) << started.error().message;
    for (const char* path :
         {"/pdb/query/v4/nodes", "/pdb/cmd/v1", "/pdb/meta/v1/version", "/metrics"}) {
        EXPECT_EQ(ask("", path),
                  "403 A client certificate signed by this server's certificate authority is needed"
                  " (see the")
            << path;
    }
    // auth.conf decides about these paths, as in puppetserver.
    for (const char* who : {"", "other"})
        EXPECT_EQ(ask(who, "/metrics/v2/list").substr(0, 21), "403 Forbidden request") << who;
    EXPECT_EQ(ask("", "/status/v1/simple"), "200 running");
    EXPECT_EQ(ask("", "/v3/modules").substr(0, 3), "401");  // the forge has its own rules
    EXPECT_EQ(http::Client().get(instance_->urls()[1] + "/pdb/query/v4/nodes")->body, "[]");
    // A client without a certificate does not get more access.
    settings_.set("client-auth", "want");
    ASSERT_TRUE(start());
    EXPECT_EQ(ask("", "/pdb/query/v4/nodes").substr(0, 3), "403");
    // On a server with only the store role, the setting has the meaning of PuppetDB.
    ASSERT_TRUE(start({"store"}));
    EXPECT_EQ(ask("", "/pdb/query/v4/nodes"), "200 []");
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes"), "200 []");
    settings_.set("client-auth", "maybe");
    EXPECT_EQ(start().error().message,
              "Invalid setting client-auth (expected need, want or none): maybe");
}

}  // namespace
}  // namespace bunraku::server
