// SPDX-License-Identifier: Apache-2.0
#include "services/server/tokens.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace bunraku::server {
namespace {

class Tokens : public testing::Test {
protected:
    void SetUp() override {
        std::string name = "/tmp/bunraku-tokens-XXXXXX";
        folder = ::mkdtemp(name.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    std::string path() const { return folder + "/state/tokens.json"; }
    static http::Request request(std::string method, std::string path, std::string header,
                                 std::string value) {
        http::Request out;
        out.method = std::move(method);
        out.path = std::move(path);
        if (!header.empty()) out.headers.set(header, value);
        return out;
    }
    std::string folder;
};

TEST_F(Tokens, GrantScopesUntilExpiry) {
    ApiTokens tokens(path());
    const auto text = tokens.create({.name = "deploy",
                                     .scopes = {"cache", "GET /puppet-ca/v1/certificate_status"},
                                     .created_s = 100,
                                     .expires_s = 200});
    ASSERT_TRUE(text) << text.error().message;
    struct Case {
        const char *method, *path;
        bool good;
    };
    for (const auto& c : std::initializer_list<Case>{
             {"DELETE", "/puppet-admin-api/v1/environment-cache", true},
             {"GET", "/puppet-admin-api/v1/environment-cache", false},
             {"DELETE", "/puppet-admin-api/v1", true},
             {"DELETE", "/puppet-admin-api/v10", false},
             {"GET", "/puppet-ca/v1/certificate_status/a.test", true},
             {"HEAD", "/puppet-ca/v1/certificate_status/a.test", true},
             {"PUT", "/puppet-ca/v1/certificate_status/a.test", false},
             {"GET", "/puppet-ca/v1/certificate_statuses/any", false},
             {"POST", "/puppet/v4/catalog", false},
             {"GET", "/", false},
         }) {
        const auto own = request(c.method, c.path, "X-Authentication", *text);
        EXPECT_EQ(tokens.bearer(own, 199).has_value(), c.good) << c.method << " " << c.path;
        const auto standard = request(c.method, c.path, "Authorization", "bearer " + *text);
        EXPECT_EQ(tokens.bearer(standard, 199).has_value(), c.good) << c.method << " " << c.path;
        EXPECT_FALSE(tokens.bearer(own, 200));
    }
    const std::string cache = "/puppet-admin-api/v1/environment-cache";
    for (const std::string& bad : {std::string(), std::string("x"), *text + "0", text->substr(1),
                                   tokens.list()->at(0).sha256})
        EXPECT_FALSE(tokens.bearer(request("DELETE", cache, "X-Authentication", bad), 150)) << bad;
    EXPECT_FALSE(tokens.bearer(request("DELETE", cache, "Authorization", "Basic " + *text), 150));
    EXPECT_FALSE(tokens.bearer(request("DELETE", cache, "", ""), 150));
}

TEST_F(Tokens, AreStoredAsDigests) {
    ApiTokens server(path()), command(path());
    const auto text = command.create({.name = "a", .scopes = {"all"}});
    ASSERT_TRUE(text);
    const auto asked = request("PUT", "/any/thing", "X-Authentication", *text);
    EXPECT_EQ(server.bearer(asked, 1), "a");
    std::ifstream file(path());
    const std::string kept((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(kept.find(*text), std::string::npos);
    EXPECT_EQ(kept.find(text->substr(5)), std::string::npos);
    struct stat status{};
    ASSERT_EQ(::stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_TRUE(command.revoke("a").value());
    EXPECT_FALSE(command.revoke("a").value());
    EXPECT_FALSE(server.bearer(asked, 1));
    // If the file cannot be parsed, no token is valid.
    ASSERT_TRUE(command.create({.name = "b", .scopes = {"all"}}));
    std::ofstream(path()) << "[{\"name\":";
    EXPECT_FALSE(server.bearer(asked, 1));
    EXPECT_FALSE(command.list());
    EXPECT_FALSE(command.create({.name = "c", .scopes = {"all"}}));
}

TEST_F(Tokens, RejectsInvalidTokens) {
    ApiTokens tokens(path());
    for (const char* scope :
         {"", "nothing", "get /x", "GET", "GET x", "GET /a,b", "GET /a b", " /x"})
        EXPECT_FALSE(tokens.create({.name = "n", .scopes = {scope}})) << scope;
    EXPECT_FALSE(tokens.create({.name = "n", .scopes = {}}));
    EXPECT_FALSE(tokens.create({.name = "", .scopes = {"all"}}));
    EXPECT_FALSE(tokens.create({.name = "a b", .scopes = {"all"}}));
    ASSERT_TRUE(tokens.create({.name = "n", .scopes = {"all"}}));
    EXPECT_EQ(tokens.create({.name = "n", .scopes = {"all"}}).error().message,
              "The token 'n' exists already");
}

}  // namespace
}  // namespace bunraku::server
