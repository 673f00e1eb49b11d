#include "services/server/instance.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/http/client.h"
#include "net/pki/authority.h"
#include "services/server/setting_values.h"

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
        int port;  // -1: refused
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

TEST(Instance, Periods) {
    EXPECT_EQ(parse_period("7d"), 7 * 86400000LL);
    EXPECT_EQ(parse_period("0"), 0);
    EXPECT_EQ(parse_period("500ms"), 500);
    for (const char* bad : {"", "7", "7w", "d", "-1d", "99999999999999999d"})
        EXPECT_FALSE(parse_period(bad)) << bad;
}

TEST(Instance, RefusalsSayWhy) {
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
              "There is no role 'x'; the roles are: ca, store, compiler, forge");
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

/// A server with TLS and, second, plain HTTP; clients "good", "other" and "" (no certificate).
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
        settings_.set("statedir", folder_.path + "/state");
        settings_.set("store_key", folder_.path + "/store.key");
        settings_.set("hostcert", folder_.path + "/server.pem");
        settings_.set("hostprivkey", folder_.path + "/server.key");
        settings_.set("localcacert", folder_.put("ca.pem", ca_.certificate().pem()));
        settings_.set("hostcrl", folder_.put("crl.pem", ca_.crl_pem().value()));
    }
    base::Result<void> start() {
        instance_.reset();
        auto started = Instance::start(settings_, log_,
                                       {.listeners = {{"127.0.0.1", 0, true}, {}}, .version = "1"});
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
    // By whatever spelling.
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

TEST_F(InstanceTls, WithoutAllowListACertificateIsNeeded) {
    auto started = start();
    ASSERT_TRUE(started) << started.error().message;
    for (const char* path :
         {"/pdb/query/v4/nodes", "/pdb/cmd/v1", "/pdb/meta/v1/version", "/metrics"}) {
        EXPECT_EQ(ask("", path),
                  "403 A client certificate signed by this server's certificate authority is needed"
                  " (see the")
            << path;
    }
    EXPECT_EQ(ask("other", "/pdb/query/v4/nodes"), "200 []");
    // Of these auth.conf decides, as on a puppetserver.
    for (const char* who : {"", "other"})
        EXPECT_EQ(ask(who, "/metrics/v2/list").substr(0, 21), "403 Forbidden request") << who;
    EXPECT_EQ(ask("", "/status/v1/simple"), "200 running");
    EXPECT_EQ(ask("", "/v3/modules").substr(0, 3), "401");  // the forge has its own rules
    EXPECT_EQ(http::Client().get(instance_->urls()[1] + "/pdb/query/v4/nodes")->body, "[]");
    settings_.set("client-auth", "want");
    ASSERT_TRUE(start());
    EXPECT_EQ(ask("", "/pdb/query/v4/nodes"), "200 []");
    settings_.set("client-auth", "maybe");
    EXPECT_EQ(start().error().message,
              "The setting client-auth is none of need, want, none: maybe");
}

}  // namespace
}  // namespace bunraku::server
