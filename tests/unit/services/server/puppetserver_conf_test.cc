// SPDX-License-Identifier: Apache-2.0
// Tests that all settings in puppetserver's files are either used or logged.
#include "services/server/puppetserver_conf.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "net/http/auth_conf.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;

class PuppetserverConf : public testing::Test {
protected:
    PuppetserverConf() {
        char name[] = "/tmp/puppetserver_conf_test_XXXXXX";
        root_ = ::mkdtemp(name);
        settings_.set("confdir", root_ + "/puppet");
    }
    ~PuppetserverConf() override { fs::remove_all(root_); }
    std::string put(const std::string& name, const std::string& text) {
        const auto full = fs::path(root_) / "puppetserver/conf.d" / name;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
        return full;
    }
    std::string listeners(const std::string& text) {
        put("webserver.conf", text);
        const auto found = webserver_listeners(settings_);
        if (!found) return found.error().message;
        std::string out;
        for (const auto& l : *found)
            out += fmt::format("{}{}://{}:{}", out.empty() ? "" : " ", l.tls ? "https" : "http",
                               l.host, l.port);
        return out;
    }

    std::string root_;
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
};

TEST_F(PuppetserverConf, Listeners) {
    EXPECT_EQ(webserver_listeners(settings_)->size(), 0u);
    EXPECT_EQ(listeners("webserver: { ssl-host: 127.0.0.1, ssl-port: 8142 }"),
              "https://127.0.0.1:8142");
    EXPECT_EQ(listeners("webserver { ssl-port = \"8143\", host = localhost, port = 8080 }"),
              "https://127.0.0.1:8143 http://127.0.0.1:8080");
    EXPECT_EQ(listeners("webserver.ssl-host = 0.0.0.0"), "https://0.0.0.0:8081");
    EXPECT_EQ(listeners("webserver: { client-auth: want }"), "");
    EXPECT_EQ(listeners("webserver: { ssl-port: many }"),
              root_ + "/puppetserver/conf.d/webserver.conf: many is not HOST:PORT");
    EXPECT_NE(listeners("webserver: {").find("webserver.conf: String: 1: "), std::string::npos);
}

TEST_F(PuppetserverConf, ReportsUnsupportedSettings) {
    const auto web =
        put("webserver.conf",
            "webserver: { ssl-port: 8140, client-auth: need, ssl-protocols: [TLSv1.3],\n"
            "  ssl-cert: /other.pem, ssl-ca-cert: /same.pem }\n");
    const auto ruby = put("puppetserver.conf",
                          "jruby-puppet: { gem-home: /g, max-active-instances: 3,\n"
                          "  server-var-dir: /srv/var }\n"
                          "versioned-code: { code-id-command: /bin/id }\n");
    settings_.set("localcacert", "/same.pem");
    settings_.set("hostcert", "/own.pem");
    settings_.set("vardir", "/var/own");
    ASSERT_TRUE(
        settings_.load_text("[main]\nlocation_trusted = true\nstringify_facts = false\n"
                            "certnam = x\nmy_sites_own_thing = 1\n",
                            "puppet.conf", "server"));
    report_unhonoured(settings_, log_);
    std::string lines;
    for (const auto& record : log_.records)
        lines += fmt::format("{}: {}\n", base::level_name(record.level), record.message);
    EXPECT_EQ(
        lines,
        "warning: Unknown setting certnam: did you mean certname?\n"
        "warning: The setting location_trusted has no effect: credentials are not sent on to "
        "another host\n"
        "notice: my_sites_own_thing is not a setting of Puppet or Bunraku; only code that reads "
        "$settings::my_sites_own_thing sees it\n"
        "warning: The setting stringify_facts has no effect: Puppet 8 does not have it\n"
        "warning: ssl-cert in " +
            web +
            " has no effect: the setting hostcert is used (/own.pem)\n"
            "warning: ssl-protocols in " +
            web +
            " has no effect: TLS 1.2 and 1.3 are offered\n"
            "warning: client-auth = need in " +
            web +
            " has no effect: certificates are requested, "
            "and auth.conf decides\n"
            "warning: server-var-dir in " +
            ruby +
            " has no effect: the setting vardir is used "
            "(/var/own)\n"
            "warning: code-id-command in " +
            ruby +
            " has no effect: the server finds the version of "
            "an environment itself\n");
    EXPECT_EQ(jruby_setting(settings_, "max-active-instances"), "3");
    EXPECT_EQ(jruby_setting(settings_, "max-queued-requests"), "");
}

TEST_F(PuppetserverConf, AuthConfIncludesFilesAndAcceptsAnyMethod) {
    const auto rules = [](const std::string& name, const std::string& method) {
        return fmt::format(
            "{{ match-request: {{ path: \"/{0}\", type: path, method: {1} }}, "
            "allow: \"*\", sort-order: 500, name: \"{0}\" }}",
            name, method);
    };
    put("rules.conf", "authorization.rules += " + rules("included", "[get, any]") + "\n");
    const auto main = put("auth.conf", "authorization: { version: 1, rules: [" +
                                           rules("own", "any") + "] }\ninclude \"rules\"\n");
    settings_.set("auth_config", main);
    auto authorization = http::read_authorization(settings_, log_);
    ASSERT_TRUE(authorization) << authorization.error().message;
    http::Request request;
    request.peer.tls = true;
    auto certificate = std::make_shared<http::ClientCertificate>();
    certificate->trust = http::ClientCertificate::Trust::Verified;
    certificate->name = "a";
    request.peer.certificate = certificate;
    for (const char* path : {"/own", "/included"}) {
        for (const char* method : {"GET", "POST", "DELETE"}) {
            request.path = path;
            request.method = method;
            EXPECT_EQ((*authorization)->current()->decide(request).rule, path + 1) << method;
        }
    }
    put("auth.conf", "include required(\"absent.conf\")\n");
    const auto missing = http::read_authorization(settings_, log_);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, main + ": String: 1: absent.conf is not there");
}

TEST_F(PuppetserverConf, SectionsMayBeInAnyFile) {
    const auto own = put("site-auth.conf",
                         "authorization: { version: 1, rules: [{ match-request: { path: \"/x\", "
                         "type: path }, allow: \"*\", sort-order: 1, name: \"of the site\" }] }\n");
    put("product.conf", "product: { check-for-updates: false }\n");
    put("zz.conf",
        "webserver: { ssl-port: 8144, ssl-host: 127.0.0.1 }\n"
        "jruby-puppet: { max-active-instances: 5 }\n");
    put("broken.conf", "other: {\n");
    put("ignored.txt", "authorization: { rules: [] }\n");
    auto authorization = http::read_authorization(settings_, log_);
    ASSERT_TRUE(authorization) << authorization.error().message;
    EXPECT_FALSE((*authorization)->current()->is_stock());
    const auto listeners = webserver_listeners(settings_);
    ASSERT_TRUE(listeners) << listeners.error().message;
    ASSERT_EQ(listeners->size(), 1u);
    EXPECT_EQ((*listeners)[0].port, 8144);
    EXPECT_EQ(jruby_setting(settings_, "max-active-instances"), "5");

    const auto second = put("auth.conf", "authorization: { version: 1, rules: [] }\n");
    const auto twice = http::read_authorization(settings_, log_);
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().message, second + " and " + own +
                                         " both contain the section authorization; puppetserver "
                                         "refuses this, too");
}

TEST_F(PuppetserverConf, ReloadReadsRulesThatWereAdded) {
    put("product.conf", "product: {}\n");
    auto authorization = http::read_authorization(settings_, log_);
    ASSERT_TRUE(authorization) << authorization.error().message;
    EXPECT_TRUE((*authorization)->current()->is_stock());
    const auto file = put("late.conf",
                          "authorization: { version: 1, rules: [{ match-request: { path: \"/x\", "
                          "type: path }, deny: \"*\", sort-order: 1, name: late }] }\n");
    const auto read = (*authorization)->reload();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_FALSE((*authorization)->current()->is_stock());
    EXPECT_EQ(log_.records.back().message, "Using the access rules in " + file);
    fs::remove(file);
    const auto gone = (*authorization)->reload();
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().message, file +
                                        " no longer exists; its rules stay in force until the "
                                        "server is restarted");
    EXPECT_FALSE((*authorization)->current()->is_stock());
}

TEST_F(PuppetserverConf, ReportsLegacyAccessLists) {
    const auto server =
        put("puppetserver.conf", "puppet-admin: { client-whitelist: [a], extra: 1 }\n");
    const auto ca = put("ca.conf",
                        "certificate-authority: { certificate-status: { authorization-required: "
                        "false } }\n");
    report_unhonoured(settings_, log_);
    std::string lines;
    for (const auto& record : log_.records) lines += record.message + "\n";
    EXPECT_EQ(lines, "client-whitelist in " + server +
                         " has no effect: auth.conf decides; add the names to a rule there\n"
                         "authorization-required in " +
                         ca + " has no effect: auth.conf decides\n");
}

}  // namespace
}  // namespace bunraku::server
