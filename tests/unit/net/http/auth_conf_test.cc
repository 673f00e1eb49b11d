// SPDX-License-Identifier: Apache-2.0
// Tests auth.conf against the decisions of puppetserver 7.9.5 (trapperkeeper-authorization 1.0).
#include "net/http/auth_conf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "net/http/path.h"

namespace bunraku::http {
namespace {

using Trust = http::ClientCertificate::Trust;

/// `who` is "NAME", "NAME+pp_cli_auth=true" or "NAME DNS:other"; "" means no certificate.
http::Request ask(std::string method, std::string path, const std::string& who) {
    http::Request out;
    out.method = std::move(method);
    const auto mark = path.find('?');
    out.path = path.substr(0, mark);
    if (mark != std::string::npos) out.query = *http::parse_query(path.substr(mark + 1));
    out.peer.tls = true;
    if (who.empty()) return out;
    auto certificate = std::make_shared<http::ClientCertificate>();
    certificate->trust = Trust::Verified;
    const auto blank = who.find(' ');
    const auto plus = who.find('+');
    certificate->name = who.substr(0, std::min(blank, plus));
    if (plus != std::string::npos) {
        const auto equal = who.find('=', plus);
        const auto name = who.substr(plus + 1, equal - plus - 1);
        certificate->extensions.push_back({name == "pp_cli_auth" ? "1.3.6.1.4.1.34380.1.3.39"
                                           : name == "pp_role"   ? "1.3.6.1.4.1.34380.1.1.13"
                                                                 : "1.3.6.1.4.1.34380.1.2.7",
                                           name, who.substr(equal + 1)});
    }
    if (blank != std::string::npos) certificate->alternative_names = {who.substr(blank + 1)};
    out.peer.certificate = certificate;
    return out;
}

TEST(AuthConf, StockRules) {
    const auto conf = AuthConf::stock();
    struct Case {
        const char *method, *path, *who;
        bool allowed;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"GET", "/puppet-ca/v1/certificate/ca", "", true},
             {"POST", "/puppet-ca/v1/certificate/ca", "", false},
             {"HEAD", "/puppet-ca/v1/certificate/ca", "", false},
             {"GET", "/puppet-ca/v1/certificate_revocation_list/ca", "", true},
             {"GET", "/puppet-ca/v1/certificate_revocation_list/foo", "", false},
             {"PUT", "/puppet-ca/v1/certificate_request/a", "", true},
             {"DELETE", "/puppet-ca/v1/certificate_request/a", "", false},
             {"DELETE", "/puppet-ca/v1/certificate_request/a", "a", false},
             {"DELETE", "/puppet-ca/v1/certificate_request/a", "s+pp_cli_auth=true", true},
             {"GET", "/puppet-ca/v1/certificate_status/a", "", false},
             {"GET", "/puppet-ca/v1/certificate_status/a", "a", false},
             {"GET", "/puppet-ca/v1/certificate_status/a", "s+pp_cli_auth=true", true},
             {"GET", "/puppet-ca/v1/certificate_status/a", "s+pp_cli_auth=false", false},
             {"GET", "/puppet-ca/v1/certificate_statuses/any", "s+pp_cli_auth=true", true},
             {"PUT", "/puppet-ca/v1/clean", "s+pp_cli_auth=true", true},
             {"PUT", "/puppet-ca/v1/clean", "s", false},
             {"POST", "/puppet-ca/v1/sign/all", "s+pp_cli_auth=true", true},
             {"POST", "/puppet-ca/v1/sign", "s", false},
             {"GET", "/puppet-ca/v1/expirations", "s", true},
             {"GET", "/puppet-ca/v1/expirations", "", false},
             {"POST", "/puppet-ca/v1/certificate_renewal", "s", true},
             {"POST", "/puppet-ca/v1/certificate_renewal", "", false},
             {"PUT", "/puppet-ca/v1/certificate_revocation_list", "s+pp_cli_auth=true", true},
             {"GET", "/puppet-ca/v1/foo", "s+pp_cli_auth=true", false},
             {"POST", "/puppet/v3/catalog/a.example", "a.example", true},
             {"POST", "/puppet/v3/catalog/A.Example", "a.example", true},
             {"POST", "/puppet/v3/catalog/b.example", "a.example", false},
             {"POST", "/puppet/v3/catalog/b.example", "a.example DNS:b.example", true},
             {"POST", "/puppet/v3/catalog/a.example/x", "a.example", false},
             {"POST", "/puppet/v3/catalog/*", "a.example", false},
             {"POST", "/puppet/v4/catalog", "a", false},
             {"PUT", "/puppet/v3/report/a", "a", true},
             {"PUT", "/puppet/v3/report/a", "b", false},
             {"PUT", "/puppet/v3/facts/a", "a", true},
             {"GET", "/puppet/v3/node/a", "a", true},
             {"GET", "/puppet/v3/file_metadatas/plugins", "a", true},
             {"GET", "/puppet/v3/file_metadatas/plugins", "", false},
             {"DELETE", "/puppet/v3/file_bucket_file/x", "a", false},
             {"GET", "/puppet/v3/tasks", "a", true},
             {"GET", "/status/v1/simple", "", true},
             {"GET", "/other", "a", false},
         }) {
        EXPECT_EQ(conf.decide(ask(c.method, c.path, c.who)).allowed, c.allowed)
            << c.method << " " << c.path << " as '" << c.who << "'";
    }
}

std::string rule(const std::string& name, const std::string& match, const std::string& rest,
                 int order = 500) {
    return fmt::format("{{name: \"{}\", sort-order: {}, match-request: {{{}}}, {}}}", name, order,
                       match, rest);
}

base::Result<AuthConf> read(const std::string& rules, const std::string& more = {}) {
    return AuthConf::parse(
        fmt::format("authorization: {{version: 1, {} rules: [{}]}}", more, rules), "auth.conf",
        {{"1.3.6.1.4.1.34380.1.2.7", "my_tier"}});
}

TEST(AuthConf, Rules) {
    struct Case {
        std::string rules;
        const char *method, *path, *who;
        bool allowed;
        const char* rule;
    };
    const auto all = "path: \"/\", type: path";
    for (const auto& c : std::initializer_list<Case>{
             // Clients.
             {rule("r", all, "allow: \"*\""), "GET", "/x", "a", true, "r"},
             {rule("r", all, "allow: \"*\""), "GET", "/x", "", false, "r"},
             {rule("r", all, "allow: \"*.example\""), "GET", "/x", "a.example", true, "r"},
             {rule("r", all, "allow: \"*.example\""), "GET", "/x", "a.b.EXAMPLE", true, "r"},
             {rule("r", all, "allow: \"*.example\""), "GET", "/x", "example", true, "r"},
             {rule("r", all, "allow: \"*.example\""), "GET", "/x", "badexample", false, "r"},
             {rule("r", all, "allow: [\"b\", {certname: \"a\"}]"), "GET", "/x", "a", true, "r"},
             {rule("r", all, "allow: \"/^a[0-9]+$/\""), "GET", "/x", "a12", true, "r"},
             {rule("r", all, "allow: \"/^a[0-9]+$/\""), "GET", "/x", "a12b", false, "r"},
             {rule("r", all, "allow: \"/^a[0-9]+$/\""), "GET", "/x", "x\na12", false, "r"},
             {rule("r", all, "allow: \"*\", deny: \"a\""), "GET", "/x", "a", false, "r"},
             {rule("r", all, "allow: \"*\", deny: \"a\""), "GET", "/x", "b", true, "r"},
             {rule("r", all, "allow: \"*\", deny: \"a\""), "GET", "/x", "b DNS:a", false, "r"},
             {rule("r", all, "allow-unauthenticated: true"), "GET", "/x", "", true, "r"},
             {rule("r", all, "allow: {extensions: {pp_role: [\"x\", \"db\"]}}"), "GET", "/x",
              "a+pp_role=db", true, "r"},
             {rule("r", all, "allow: {extensions: {pp_role: \"x\"}}"), "GET", "/x", "a+pp_role=db",
              false, "r"},
             {rule("r", all, "allow: {extensions: {pp_role: \"db\", pp_zone: \"z\"}}"), "GET", "/x",
              "a+pp_role=db", false, "r"},
             {rule("r", all, "allow: {extensions: {\"1.3.6.1.4.1.34380.1.1.13\": \"db\"}}"), "GET",
              "/x", "a+pp_role=db", true, "r"},
             {rule("r", all, "allow: {extensions: {my_tier: \"1\"}}"), "GET", "/x", "a+other=1",
              true, "r"},
             {rule("r", all,
                   "allow: {extensions: {subject-alt-name: {dns-name: [\"o.example\"]}}}"),
              "GET", "/x", "a DNS:o.example", true, "r"},
             {rule("r", all, "allow: {extensions: {subject-alt-name: {ip: \"10.0.0.1\"}}}"), "GET",
              "/x", "a DNS:o.example", false, "r"},
             {rule("r", all, "allow: {rbac: {permission: \"a:b:c\"}}"), "GET", "/x", "a", false,
              "r"},
             // Paths and methods.
             {rule("r", "path: \"/a\", type: path", "allow: \"*\""), "GET", "/abc", "a", true, "r"},
             {rule("r", "path: \"/a.c\", type: path", "allow: \"*\""), "GET", "/abc", "a", false,
              ""},
             {rule("r", "path: \"b/(.)\", type: regex", "allow: \"$1\""), "GET", "/ab/z/y", "z",
              true, "r"},
             {rule("r", "path: \"/(.*)/(.*)\", type: regex", "allow: \"$2.$1\""), "GET",
              "/example/a", "a.example", true, "r"},
             {rule("r", "path: \"/\", type: path, method: [get, put]", "allow: \"*\""), "PUT", "/x",
              "a", true, "r"},
             {rule("r", "path: \"/\", type: path, method: post", "allow: \"*\""), "PUT", "/x", "a",
              false, ""},
             {rule("r", "path: \"/\", type: path, query-params: {environment: [\"p\", \"q\"]}",
                   "allow: \"*\""),
              "GET", "/x?environment=q", "a", true, "r"},
             {rule("r", "path: \"/\", type: path, query-params: {environment: [\"p\", \"q\"]}",
                   "allow: \"*\""),
              "GET", "/x?environment=r", "a", false, ""},
             // Rules are sorted by sort-order, then by name.
             {rule("b", all, "allow: \"*\"") + "," + rule("a", all, "deny: \"*\""), "GET", "/x",
              "a", false, "a"},
             {rule("b", all, "allow: \"*\"", 1) + "," + rule("a", all, "deny: \"*\""), "GET", "/x",
              "a", true, "b"},
         }) {
        auto conf = read(c.rules);
        ASSERT_TRUE(conf) << conf.error().message << "\n" << c.rules;
        auto verdict = conf->decide(ask(c.method, c.path, c.who));
        EXPECT_EQ(verdict.allowed, c.allowed) << c.rules << " as " << c.who;
        EXPECT_EQ(verdict.rule, c.rule) << c.rules;
    }
}

/// Returns all spellings of one character of a path.
std::vector<std::string> spellings_of(char c) {
    const auto hex = fmt::format("{:02x}", static_cast<unsigned char>(c));
    std::vector<std::string> out = {"%" + hex};
    if (base::lower(hex) != base::upper(hex)) out.push_back("%" + base::upper(hex));
    if (c != ' ' && static_cast<unsigned char>(c) < 0x80) out.emplace_back(1, c);
    if (c == '/')
        for (const char* more : {"//", "/%2f", "%2F/", "///", "/./", "/x/../", "/%2e/", "/.%2f"})
            out.emplace_back(more);
    return out;
}

// For every spelling of a path, the server either refuses it (400) or applies the rules to the path
// that it serves.
TEST(AuthConf, NoSpellingBypassesARule) {
    const auto conf = read(
        rule("secret",
             "path: \"^/puppet/v3/file_(content|metadatas?)/modules/secret/\", type: regex",
             "allow: \"web1\"", 100) +
        "," +
        rule("space", "path: \"/puppet/v3/file_content/modules/open/a b\xc3\xa4\", type: path",
             "allow: \"web1\"", 101) +
        "," + rule("own", "path: \"^/puppet/v3/catalog/([^/]+)$\", type: regex", "allow: \"$1\"") +
        "," + rule("files", "path: \"/puppet/v3/file\", type: path", "allow: \"*\""));
    ASSERT_TRUE(conf) << conf.error().message;
    struct Case {
        std::string path;
        const char* rule;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"/puppet/v3/file_content/modules/secret/k", "secret"},
             {"/puppet/v3/file_content/modules/open/a b\xc3\xa4/k", "space"},
             {"/puppet/v3/catalog/web1", "own"},
             {"/puppet/v3/file_content/modules/open/k", "files"},
         }) {
        std::size_t served = 0;
        for (std::size_t i = 0; i < c.path.size(); i++) {
            for (std::size_t j = i; j < c.path.size(); j++) {
                for (const auto& first : spellings_of(c.path[i])) {
                    for (const auto& second : spellings_of(c.path[j])) {
                        std::string sent;
                        for (std::size_t k = 0; k < c.path.size(); k++) {
                            const char plain = c.path[k];
                            sent += k == i   ? first
                                    : k == j ? second
                                    : plain == ' ' || static_cast<unsigned char>(plain) >= 0x80
                                        ? spellings_of(plain).front()
                                        : std::string(1, plain);
                        }
                        const auto path = http::canonical_path(sent);
                        if (!path) continue;
                        if (http::decoded_path(*path) != c.path) continue;
                        served++;
                        EXPECT_EQ(conf->decide(ask("GET", *path, "web1")).rule, c.rule) << sent;
                        EXPECT_EQ(conf->decide(ask("GET", *path, "web2")).allowed,
                                  c.rule == std::string_view("files"))
                            << sent;
                    }
                }
            }
        }
        EXPECT_GT(served, 1000U) << c.path;
    }
    // A search of a folder also returns the paths below it.
    for (const char* path : {"/puppet/v3/file_metadatas/modules/secret",
                             "/puppet/v3/file_metadatas/modules/secret/"}) {
        EXPECT_EQ(conf->decide(ask("GET", path, "web2")).rule, "secret") << path;
        EXPECT_TRUE(conf->decide(ask("GET", path, "web1")).allowed) << path;
    }
    EXPECT_TRUE(conf->decide(ask("GET", "/puppet/v3/file_metadatas/modules/open", "web2")).allowed);
}

TEST(AuthConf, RefusesInvalidRules) {
    const auto all = "path: \"/\", type: path";
    struct Case {
        std::string text;
        const char* error;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"", "Missing authorization service configuration."},
             {"authorization: 1", "The authorization service configuration is not a map."},
             {"authorization: {rules: []}",
              "Unsupported or missing version in configuration file. Supported versions are: 1"},
             {"authorization: {version: 1}",
              "The authorization service configuration rules is not a list."},
             {"authorization: {version: 1, allow-header-cert-info: 3, rules: []}",
              "allow-header-cert-info is not a boolean."},
             {"authorization: {version: 1, rules: [x]}",
              "An authorization rule should be specified as a map."},
             {"authorization: {version: 1, rules: [{name: x}]}",
              "An authorization rule must contain a 'match-request' section."},
             {"authorization: {version: 1, rules: [" + rule("r", all, "x: 1") + "]}",
              "Authorization rule specified as 'r' must contain either a 'deny' or 'allow' rule."},
             {"authorization: {version: 1, rules: [" + rule("r", all, "allow: a", 1000) + "]}",
              "The sort-order set in the authorization rule specified as 'r' is invalid. It should "
              "be a number from 1 to 999."},
             {"authorization: {version: 1, rules: [" + rule("r", all, "allow: \"a b\"") + "]}",
              "invalid domain value: a b"},
             {"authorization: {version: 1, rules: [" +
                  rule("r", "path: \"(a)\", type: regex", "allow: \"$2\"") + "]}",
              "The allow field provided in the rule specified as 'r' contains the back reference "
              "'$2' which refers to a capture group in the regex that doesn't exist."},
             {"authorization: {version: 1, rules: [" + rule("r", all, "allow: a") + "," +
                  rule("r", all, "allow: b") + "]}",
              "Duplicate rules named 'r'. Rules must be uniquely named."},
             {"authorization: {version: 1, rules: [" +
                  rule("r", "path: \"/\", type: path, method: patch", "allow: a") + "]}",
              "Invalid method in the authorization rule specified as 'r'. The method should be a "
              "string or list of strings equal to one of the following: 'delete', 'get', 'head', "
              "'post', 'put'"},
         }) {
        auto conf = AuthConf::parse(c.text, "auth.conf");
        ASSERT_FALSE(conf) << c.text;
        EXPECT_EQ(conf.error().message, std::string("auth.conf: ") + c.error);
    }
}

TEST(AuthConf, CallersByHeader) {
    const auto rules = rule("r", "path: \"/\", type: path", "allow: \"a\"");
    struct Case {
        bool info, tls;
        const char *verify, *dn;
        bool allowed;
    };
    for (const auto& c : std::initializer_list<Case>{
             {true, false, "SUCCESS", "CN=a", true},
             {true, false, "SUCCESS", "/O=x/CN=a", true},
             {true, false, "SUCCESS", "O=x, CN=a", true},
             {true, false, "NONE", "CN=a", false},
             {true, false, "SUCCESS", "CN=b", false},
             // With TLS, every client could send this header.
             {true, true, "SUCCESS", "CN=a", false},
             {false, false, "SUCCESS", "CN=a", false},
         }) {
        auto conf = read(rules, c.info ? "allow-header-cert-info: true," : "");
        ASSERT_TRUE(conf);
        auto request = ask("GET", "/x", "");
        request.peer.tls = c.tls;
        request.headers.set("X-Client-Verify", c.verify);
        request.headers.set("X-Client-DN", c.dn);
        EXPECT_EQ(conf->decide(request).allowed, c.allowed) << c.verify << c.dn;
    }
}

// openvox-server 9 lets only administrators read backups, because any node could read those of all.
TEST(AuthConf, StockRulesForTheFilebucket) {
    using enum config::Compatibility;
    for (const auto level : {Puppet8, OpenVox8, OpenVox9}) {
        const auto conf = AuthConf::stock({}, level);
        const auto allowed = [&](const char* method, const char* who) {
            return conf.decide(ask(method, "/puppet/v3/file_bucket_file/sha256/1", who)).allowed;
        };
        for (const char* method : {"GET", "POST"}) {
            EXPECT_EQ(allowed(method, "a"), level != OpenVox9) << method;
            EXPECT_TRUE(allowed(method, "s+pp_cli_auth=true")) << method;
            EXPECT_FALSE(allowed(method, "")) << method;
        }
        for (const char* method : {"HEAD", "PUT"}) EXPECT_TRUE(allowed(method, "a")) << method;
        EXPECT_FALSE(allowed("PUT", ""));
    }
}

TEST(AuthConf, UntrustedCertificatesAreUnauthenticated) {
    const auto conf = AuthConf::stock();
    for (auto trust : {Trust::Revoked, Trust::Untrusted}) {
        auto request = ask("GET", "/puppet-ca/v1/expirations", "a");
        auto bad = std::make_shared<http::ClientCertificate>(*request.peer.certificate);
        bad->trust = trust;
        request.peer.certificate = bad;
        EXPECT_FALSE(conf.decide(request).allowed);
    }
}

TEST(AuthConf, RefusalText) {
    base::MemorySink log;
    auto authorization = Authorization::read([] { return "/nonexistent/auth.conf"; }, {},
                                             config::kDefaultLevel, log);
    ASSERT_TRUE(authorization);
    auto access = (*authorization)->access();
    auto refusal = access.refusal(ask("DELETE", "/puppet-ca/v1/certificate_request/a", ""), {});
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 403);
    EXPECT_EQ(refusal->body,
              "Forbidden request: /puppet-ca/v1/certificate_request/a (method :delete). Please see "
              "the server logs for details.");
    EXPECT_EQ(log.records.size(), 1u);
    EXPECT_FALSE(access.refusal(ask("GET", "/puppet-ca/v1/certificate/ca", ""), {}));
}

}  // namespace
}  // namespace bunraku::http
