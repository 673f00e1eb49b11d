// SPDX-License-Identifier: Apache-2.0
#include "services/console/rules.h"

#include <gtest/gtest.h>

namespace bunraku::console {
namespace {

using http::ClientCertificate;

constexpr std::string_view kConf = R"(
[certificates]
alice = admin
bob = viewer staging, testing
[proxy]
addresses = 192.0.2.7, 192.0.2.8
header = X-Remote-User
[users]
carol@example.org = operator
alice = viewer
)";

http::Request from(std::string address, std::string certname = {},
                   ClientCertificate::Trust trust = ClientCertificate::Trust::Verified) {
    http::Request out;
    out.peer.address = std::move(address);
    if (!certname.empty()) {
        auto certificate = std::make_shared<ClientCertificate>();
        certificate->name = std::move(certname);
        certificate->trust = trust;
        out.peer.certificate = certificate;
        out.peer.tls = true;
    }
    return out;
}

TEST(AccessRules, IdentifyCertificates) {
    const auto rules = AccessRules::parse(kConf, "console.conf");
    ASSERT_TRUE(rules) << rules.error().message;
    EXPECT_EQ(rules->identify(from("192.0.2.1", "alice")),
              (Viewer{"alice", Right::Administer, {}, Viewer::Via::Certificate}));
    EXPECT_EQ(rules->identify(from("192.0.2.1", "bob")),
              (Viewer{"bob", Right::View, {"staging", "testing"}, Viewer::Via::Certificate}));
    // The certificate of an agent alone opens nothing, and neither does a revoked one.
    EXPECT_EQ(rules->identify(from("192.0.2.1", "web1.example.org")), std::nullopt);
    EXPECT_EQ(rules->identify(from("192.0.2.1", "alice", ClientCertificate::Trust::Revoked)),
              std::nullopt);
    EXPECT_EQ(rules->identify(from("192.0.2.1")), std::nullopt);
}

TEST(AccessRules, BelieveOnlyTheProxy) {
    const auto rules = AccessRules::parse(kConf, "console.conf").value();
    auto request = from("192.0.2.7");
    EXPECT_EQ(rules.identify(request), std::nullopt);
    request.headers.add("x-remote-user", "carol@example.org");
    EXPECT_EQ(rules.identify(request),
              (Viewer{"carol@example.org", Right::Operate, {}, Viewer::Via::Proxy}));
    request.peer.address = "192.0.2.9";
    EXPECT_EQ(rules.identify(request), std::nullopt);
    // A second header may be the client's own.
    request.peer.address = "192.0.2.8";
    request.headers.add("X-Remote-User", "alice");
    EXPECT_EQ(rules.identify(request), std::nullopt);
    // The proxy's own certificate does not identify its users.
    EXPECT_EQ(rules.identify(from("192.0.2.7", "alice")), std::nullopt);
}

TEST(AccessRules, CommitUrl) {
    const auto rules =
        AccessRules::parse("[links]\ncommit = https://git.test/{commit}/x/{commit}\n", "c").value();
    EXPECT_EQ(rules.commit_url("4f2a91c"), "https://git.test/4f2a91c/x/4f2a91c");
    for (const char* code : {"", "4f2a91", "v1.2.3", "4F2A91C", "4f2a91c/../x"})
        EXPECT_EQ(rules.commit_url(code), "") << code;
    EXPECT_EQ(AccessRules().commit_url("4f2a91c"), "");
}

TEST(AccessRules, ReportErrorsWithTheLine) {
    struct Case {
        const char *text, *message;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"[certificates]\nalice = root\n",
              "c:2: expected viewer, operator or admin and, if needed, a list of environments, not "
              "'root'"},
             {"\n[certificates]\nalice =\n",
              "c:3: expected viewer, operator or admin and, if needed, a list of environments, not "
              "''"},
             {"alice = admin\n", "c:1: expected a section or a line of the form NAME = VALUE"},
             {"[users]\nalice\n", "c:2: expected a section or a line of the form NAME = VALUE"},
             {"[proxy]\naddress = 1\n",
              "c:2: unknown setting 'address': expected addresses, header or scheme_header"},
             {"[proxy]\nheader = X-User\n", "c: [proxy] needs addresses"},
             {"[users]\na = admin\n", "c: [users] has no effect without [proxy]"},
             {"[groups]\na = admin\n",
              "c:1: unknown section [groups]: expected [certificates], [proxy], [users] or "
              "[links]"},
         }) {
        const auto rules = AccessRules::parse(c.text, "c");
        ASSERT_FALSE(rules) << c.text;
        EXPECT_EQ(rules.error().message, c.message);
    }
    EXPECT_TRUE(AccessRules::parse("", "c"));
    EXPECT_TRUE(AccessRules::parse("[proxy]\naddresses = 192.0.2.1\n", "c"));
    EXPECT_TRUE(AccessRules::read("/nonexistent/console.conf"));
}

}  // namespace
}  // namespace bunraku::console
