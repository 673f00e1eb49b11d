// SPDX-License-Identifier: Apache-2.0
// Tests certificate requests: reading returns what was written, and all requests that puppetserver
// 7.9.5 refuses are refused.
#include "net/pki/request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/pki/authority.h"
#include "net/pki/policy.h"

namespace bunraku::pki {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Request request(const RequestContent& content) {
    static const auto key = make_key().value();
    auto made = make_request(key, content);
    EXPECT_TRUE(made) << made.error().message;
    auto read = Request::from_pem(made->pem(), "test");
    EXPECT_TRUE(read && read->is_signed() && read->belongs_to(key));
    return *read;
}

TEST(Request, ContainsRequestedContent) {
    auto full = request({"node.example",
                         "IP:10.0.0.1, other ,DNS:third",
                         {{{"1.2.840.113549.1.9.7", "secret"}, {"pp_auth_auto_renew", "true"}},
                          {{"pp_role", "web"}, {"1.3.6.1.4.1.34380.1.2.3", "x"}, {"tier", "1"}}},
                         {{"1.3.6.1.4.1.34380.1.2.9", "tier"}}});
    EXPECT_EQ(full.common_name(), "node.example");
    EXPECT_EQ(full.subject_utf8(), "CN=node.example");
    EXPECT_EQ(full.alternative_names(), (std::vector<std::string>{"DNS:node.example", "DNS:other",
                                                                  "DNS:third", "IP:10.0.0.1"}));
    EXPECT_EQ(full.attributes(),
              (Pairs{{"1.2.840.113549.1.9.7", "secret"}, {"1.3.6.1.4.1.34380.1.3.2", "true"}}));
    std::string extensions;
    for (const auto& e : full.extensions())
        if (e.oid != "2.5.29.17") extensions += e.name + "=" + e.value + " ";
    EXPECT_EQ(extensions, "pp_role=web 1.3.6.1.4.1.34380.1.2.3=x 1.3.6.1.4.1.34380.1.2.9=1 ");
    EXPECT_EQ(full.fingerprint().size(), 95u);

    auto bare = request({"node", "", {}, {}});
    EXPECT_TRUE(bare.extensions().empty() && bare.attributes().empty() &&
                bare.alternative_names().empty());
}

TEST(Request, Attributes) {
    struct Case {
        const char *yaml, *error;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"[1]",
              "invalid CSR attributes, expected instance of Hash, received instance of "
              "Array"},
             {"text",
              "invalid CSR attributes, expected instance of Hash, received instance of "
              "String"},
             {"x: 1\ncustom_attributes: {}\ny: 2", "unexpected attributes [\"x\", \"y\"] in \"f\""},
             {"extension_requests: 1", "extension_requests in \"f\" is not a hash"},
             {"extension_requests: {a: [1]}",
              "a of extension_requests in \"f\" is not a plain value"}}) {
        auto read = parse_request_attributes(c.yaml, "f");
        ASSERT_FALSE(read) << c.yaml;
        EXPECT_EQ(read.error().message, c.error);
    }
    auto read = parse_request_attributes(
        "custom_attributes:\n  1.2.840.113549.1.9.7: 342thbjkt82094y0uth\n"
        "extension_requests:\n  pp_role: 12\n  pp_zone: true\n  pp_owner:\n",
        "f");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->custom_attributes, (Pairs{{"1.2.840.113549.1.9.7", "342thbjkt82094y0uth"}}));
    EXPECT_EQ(read->extension_requests,
              (Pairs{{"pp_role", "12"}, {"pp_zone", "true"}, {"pp_owner", ""}}));
    EXPECT_TRUE(parse_request_attributes("", "f"));
}

TEST(Request, RefusesInvalidContent) {
    auto key = make_key().value();
    struct Case {
        RequestContent content;
        const char* error;
    };
    for (const auto& c : std::initializer_list<Case>{
             {{"a", "", {{{"extReq", "x"}}, {}}, {}},
              "Cannot specify CSR attribute extReq: conflicts with internally used CSR attribute"},
             {{"a", "", {{}, {{"subjectAltName", "x"}}}, {}},
              "Cannot specify CSR extension request subjectAltName: conflicts with internally used "
              "extension request"},
             {{"a", "", {{}, {{"pp_nosuch", "x"}}}, {}},
              "Cannot create CSR with extension request pp_nosuch: no such name or OID"},
             {{"a", "", {{{"1.99", "x"}}, {}}, {}},
              "Cannot create CSR with attribute 1.99: no such name or OID"},
             {{"a", "IP:x", {}, {}},
              "The alternative names IP:x cannot be used: one of them is neither a name nor an "
              "address"}}) {
        auto made = make_request(key, c.content);
        ASSERT_FALSE(made) << c.error;
        EXPECT_EQ(made.error().message, c.error);
    }
}

TEST(Request, RefusesInvalidTexts) {
    for (const char* text : {"", "junk",
                             "-----BEGIN CERTIFICATE REQUEST-----\nMIIC\n-----END CERTIFICATE "
                             "REQUEST-----\n"}) {
        auto read = Request::from_pem(text, "the body");
        ASSERT_FALSE(read);
        EXPECT_TRUE(
            read.error().message.starts_with("the body contains no certificate request in "
                                             "PEM: "))
            << read.error().message;
    }
}

TEST(Policy, Names) {
    struct Case {
        const char *requested, *subject, *problem;
    };
    const char* bad = "Subject hostname format is invalid";
    for (const auto& c : std::initializer_list<Case>{
             {"a.example", "a.example", nullptr},
             {"a_b-c.d", "a_b-c.d", nullptr},
             {"_a", "_a", nullptr},
             {"0", "0", nullptr},
             {"zz", "a", "Instance name \"a\" does not match requested key \"zz\""},
             {"Up.example", "Up.example", "Certificate names must be lower case."},
             {"*.example", "*.example",
              "Subject contains a wildcard, which is not allowed: *.example"},
             {"x-", "x-", bad},
             {"x-.y", "x-.y", bad},
             {"-x", "-x", bad},
             {".x", ".x", bad},
             {"", "", bad},
             {"a b", "a b", bad},
             {"a/b", "a/b", bad},
             {"..", "..", bad},
             {"a..b", "a..b", bad},
             // puppetserver accepts these names and applies the rules for "web1" to them.
             {"web1.", "web1.", bad},
             {"web1.example....", "web1.example....", bad},
             {"a\nb", "a\nb", bad}}) {
        EXPECT_EQ(name_problem(c.requested, c.subject).value_or("fine"),
                  c.problem ? c.problem : "fine")
            << c.subject;
    }
}

TEST(Policy, Requests) {
    struct Case {
        RequestContent content;
        SigningRules rules;
        const char* problem;
    };
    const std::string auth = "1.3.6.1.4.1.34380.1.3.13", cli = "1.3.6.1.4.1.34380.1.3.39";
    for (const auto& c : std::initializer_list<Case>{
             {{"a", "", {}, {}}, {}, nullptr},
             {{"a", "a", {}, {}}, {}, nullptr},
             {{"a", "", {{}, {{"pp_role", "x"}, {"1.3.6.1.4.1.34380.1.2.1", "y"}}}, {}},
              {},
              nullptr},
             {{"a", "b,IP:1.2.3.4", {}, {}},
              {},
              "CSR 'a' contains extra subject alternative names (DNS:b, IP:1.2.3.4), which are "
              "disallowed. To allow subject alternative names, set allow-subject-alt-names to true "
              "in your ca.conf file. Then restart the puppetserver and try signing this "
              "certificate again."},
             {{"a", "b,IP:1.2.3.4", {}, {}}, {.alternative_names = true}, nullptr},
             {{"a", "*.b", {}, {}},
              {.alternative_names = true},
              "Cert subjectAltName contains a wildcard, which is not allowed: *.b"},
             {{"a", "b.", {}, {}},
              {.alternative_names = true},
              "Cert subjectAltName contains a name that is not a host name"},
             {{"a", "", {{}, {{auth, "x"}}}, {}},
              {},
              "CSR 'a' contains an authorization extension, which is disallowed. To allow "
              "authorization extensions, set allow-authorization-extensions to true in your "
              "ca.conf file. Then restart the puppetserver and try signing this certificate "
              "again."},
             {{"a", "", {{}, {{auth, "x"}}}, {}}, {.authorization_extensions = true}, nullptr},
             // A request can never get the right to sign.
             {{"a", "", {{}, {{cli, "true"}}}, {}},
              {.authorization_extensions = true},
              "Found extensions that are not permitted: 1.3.6.1.4.1.34380.1.3.39"},
             {{"a", "", {{}, {{"1.2.3.4", "x"}, {"2.5.29.15", "y"}}}, {}},
              {},
              "Found extensions that are not permitted: 1.2.3.4, 2.5.29.15"},
         }) {
        EXPECT_EQ(signing_problem(request(c.content), c.rules).value_or("fine"),
                  c.problem ? c.problem : "fine");
    }
}

// Created by `openssl req -new -newkey rsa:512`, and with keys of `openssl gendsa`, of secp192k1
// and of Ed25519.
constexpr const char* kRsa512 =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHIMHQCAQAwDzENMAsGA1UEAwwEd2VhazBcMA0GCSqGSIb3DQEBAQUAA0sAMEgC\n"
    "QQDg759GgCsfdtZoTMjnu8Insxxv9vHjoUuVN8G5hxXLf0Jb04fZU0KNxqjLWIxV\n"
    "937OQ32o8Z+/JmNguU6YBvHFAgMBAAGgADANBgkqhkiG9w0BAQsFAANBAFSMomL/\n"
    "mMnmV4J7jdPANKitvFDJF9qfDbokFoHsIfbTv1FLkC9tBH4ERsn22yodI20CxvZQ\n"
    "H2lqlExPX3MBBJo=\n"
    "-----END CERTIFICATE REQUEST-----\n";
constexpr const char* kDsa1024 =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIICKzCCAdgCAQAwDzENMAsGA1UEAwwEd2VhazCCAb4wggEzBgcqhkjOOAQBMIIB\n"
    "JgKBgQCSJu0HIBI/1s3givNQ0wzv+rluGvnaN3dVc20nGNK10LuR5hBkInSJG5tG\n"
    "drvK6k2Sv84U28PZzEHVoiwS3v0xODd2qu5qdYO/Rl2GwswckZhPk/UFzfTsq6ts\n"
    "q0UmJniFer121grxnhsC9IRqDFQCi0CbI6MvElI3DM/roBImJwIdALgFtSZoECJt\n"
    "zMa3YSlmErt7kcUivUO9d5n+yK0CgYANzwTCTWMhmK4FPDb9DPuX5dV86ZIRZM4L\n"
    "wl6ckn5Uhof4xXGR/CNBz0vNcqrqCpedXZqOjPC5sfTYhn3fAYnOztRDtPynEb0T\n"
    "vOK+wnN65v/F9H6WHxMTuPEldQ0iyBr439BP0+1Zp52IyZTVwvWqeET4BIhQnONq\n"
    "7qB2L6/GHAOBhAACgYBz+j2piFgnBqQnlioAecaAPFc+2VBoR3vUPB1qsDK83L14\n"
    "HF5gMoXTLaTlXvbAgxu/zr7g1/3xGLYgnCGAFRrmqfBuquij9QYvUrc2wyM7bDW7\n"
    "rmt3l2DmBJVJaMBGZQZGZ3vu2iwu+gSezL4QO5UWWxNCXE9ZNzvg/AjF493GVKAA\n"
    "MAsGCWCGSAFlAwQDAgNAADA9Ah0ArYxYu1b7S2y1WgPZX8ih3A26Jpz21W2930UC\n"
    "mAIcbul1oGBaI0Mhr2DHJxhgR67DSj+Z9lSTFheUrw==\n"
    "-----END CERTIFICATE REQUEST-----\n";
constexpr const char* kEc192 =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIGnMF4CAQAwDzENMAsGA1UEAwwEd2VhazBGMBAGByqGSM49AgEGBSuBBAAfAzIA\n"
    "BNgV6fzbfrqnMZ5ME5QCrnn06KNf7jFD6rPNCXL2se4eZifSnRO1alruYNsTdNi2\n"
    "l6AAMAoGCCqGSM49BAMCAzkAMDYCGQDPxh0SYFkZxzFIRiiP9sIBDEstc4AdMvYC\n"
    "GQCm7e4iXzzvZ1ndNrbbc9W7IcKV0WsW7oE=\n"
    "-----END CERTIFICATE REQUEST-----\n";
constexpr const char* kEd25519 =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIGOMEICAQAwDzENMAsGA1UEAwwEd2VhazAqMAUGAytlcAMhAPO9SIZw/Mg51tHj\n"
    "Q1Br8wx1Pw6+oCMNxeiGHa83fnfeoAAwBQYDK2VwA0EApMrfpWa++m9NC+eVtc9N\n"
    "FwaT+ViQTxZeo6dbqRRc8WWM+f+Mb3K7XlUPrSUxyZJTIn3e1SZUrl298o0Km/YX\n"
    "CA==\n"
    "-----END CERTIFICATE REQUEST-----\n";

TEST(Policy, WeakKeys) {
    const auto problem = [](const std::string& pem) {
        auto request = Request::from_pem(pem, "test");
        EXPECT_TRUE(request && request->is_signed());
        EXPECT_EQ(signing_problem(*request, {}), key_problem(*request));
        return key_problem(*request).value_or("fine");
    };
    const auto weak = [](const char* key) {
        return fmt::format(
            "CSR 'weak' contains a weak public key ({}). Use an RSA key with at least 2048 "
            "bits, an elliptic curve key with at least 224 bits, or Ed25519.",
            key);
    };
    EXPECT_EQ(problem(kRsa512), weak("RSA, 512 bits"));
    EXPECT_EQ(problem(kDsa1024), weak("DSA, 1024 bits"));
    EXPECT_EQ(problem(kEc192), weak("EC, 192 bits"));
    EXPECT_EQ(problem(kEd25519), "fine");
    for (const int bits : {1024, 2048}) {
        const auto key = make_rsa_key(bits).value();
        EXPECT_EQ(problem(make_request(key, {"weak", "", {}, {}}).value().pem()),
                  bits < 2048 ? weak("RSA, 1024 bits") : "fine");
    }
}

}  // namespace
}  // namespace bunraku::pki
