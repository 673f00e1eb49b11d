#include "modules/forge/readers.h"

#include <gtest/gtest.h>

#include "core/codec/base64.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

TEST(Readers, AcceptsConfiguredReaders) {
    const std::vector<Reader> readers = {*Reader::parse("user:alice"),
                                         *Reader::parse("group:ops"),
                                         *Reader::parse("token:ci"),
                                         *Reader::parse("certificate:*.Example.com"),
                                         {"user", "old", 100}};
    const auto may = [&](Requester a) { return may_read(readers, "r", a, 100); };
    EXPECT_FALSE(may({}));
    EXPECT_TRUE(may({.everything = true}));
    EXPECT_TRUE(may({.user = "alice"}));
    EXPECT_FALSE(may({.user = "bob"}));
    EXPECT_TRUE(may({.user = "bob", .groups = {"dev", "ops"}}));
    EXPECT_TRUE(may({.token = "ci"}));
    EXPECT_FALSE(may({.token = "alice"}));
    EXPECT_TRUE(may({.token = "x", .token_repositories = {"r"}}));
    EXPECT_FALSE(may({.token = "x", .token_repositories = {"q"}}));
    EXPECT_TRUE(may({.certificate = "node1.example.com"}));
    EXPECT_FALSE(may({.certificate = "example.com"}));
    EXPECT_FALSE(may({.certificate = "evilexample.com"}));
    EXPECT_FALSE(may({.user = "old"}));
    for (const char* bad : {"", "alice", "user:", "user:a b", "role:x", "group:*", "certificate:*"})
        EXPECT_FALSE(Reader::parse(bad)) << bad;
    EXPECT_EQ(parse_expiry("2d", 10), 10 + 2 * 86400);
    EXPECT_EQ(parse_expiry("1970-01-02", 0), 86400);
    EXPECT_FALSE(parse_expiry("soon", 0));
}

class Private : public testing::Test {
protected:
    Private() : service({.root = scratch.path + "/forge", .default_repository = "own"}) {
        for (const char* repo : {"own", "open"}) {
            EXPECT_TRUE(service.forge_store().create(repo));
            EXPECT_TRUE(service.forge_store().upload(repo, module::test::release("a-b", "1.0.0")));
            EXPECT_TRUE(service.forge_store().publish(repo));
            EXPECT_TRUE(service.forge_store().access().bind("con", repo));
        }
        RepositoryConfig config;
        config.closed = true;
        config.readers = {*Reader::parse("user:alice"), *Reader::parse("certificate:n.example")};
        EXPECT_TRUE(service.forge_store().configure("own", config));
        mount(router, service);
    }
    int ask(const std::string& path, const std::string& authorization = {},
            const std::string& certificate = {}, const std::string& method = "GET") {
        http::Request request;
        request.method = method;
        request.target = request.path = path;
        if (!authorization.empty()) request.headers.set("Authorization", authorization);
        if (!certificate.empty()) {
            auto shown = std::make_shared<http::ClientCertificate>();
            shown->name = certificate;
            shown->trust = http::ClientCertificate::Trust::Verified;
            request.peer.certificate = shown;
        }
        last = router.handle(request);
        return last.status;
    }
    static std::string basic(const std::string& user, const std::string& password) {
        return "Basic " + codec::base64_encode(user + ":" + password);
    }
    static inline const std::string kOwn = "/pulp_puppet/forge/repository/own";
    module::test::Scratch scratch;
    ForgeService service;
    http::Router router;
    http::Response last;
};

TEST_F(Private, RefusesOtherClients) {
    const auto password = service.forge_store().access().add_user("alice", {}, 0);
    const auto other = service.forge_store().access().add_user("bob", {}, 0);
    const auto reads = service.forge_store().access().add_token("reads", {"own"}, true);
    const auto over = service.forge_store().access().add_token("over", {"own"}, true, 1);
    ASSERT_TRUE(password && other && reads && over);
    for (const std::string& path :
         {kOwn + "/v3/modules/a-b", kOwn + "/v3/files/a-b-1.0.0.tar.gz",
          kOwn + "/api/v1/releases.json", std::string("/pulp/puppet/own/modules.json"),
          std::string("/pulp/puppet_files/own/PULP_MANIFEST"), std::string("/v3/modules"),
          std::string("/pulp_puppet/forge/consumer/con/v3/modules")}) {
        EXPECT_EQ(ask(path), 401) << path;
        EXPECT_EQ(ask(path, {}, {}, "HEAD"), 401) << path;
        // At the root, a user name with an unknown password is interpreted as the name of a
        // repository.
        EXPECT_EQ(ask(path, basic("alice", "wrong")), path == "/v3/modules" ? 404 : 401) << path;
        EXPECT_EQ(ask(path, "Bearer " + *over), 401) << path;
    }
    EXPECT_EQ(ask("/v3/modules", basic(".", "own")), 401);
    EXPECT_EQ(ask(kOwn + "/v3/modules", basic("bob", *other)), 403);
    EXPECT_EQ(ask(kOwn + "/v3/modules", basic("alice", *password)), 200);
    EXPECT_EQ(last.headers.get("Cache-Control"), "private");
    EXPECT_EQ(ask("/v3/modules", basic("alice", *password)), 200);
    EXPECT_EQ(ask(kOwn + "/v3/modules", "Bearer " + *reads), 200);
    EXPECT_EQ(ask(kOwn + "/v3/modules", basic("x", *reads)), 200);
    EXPECT_EQ(ask(kOwn + "/v3/modules", {}, "n.example"), 200);
    EXPECT_EQ(ask(kOwn + "/v3/modules", {}, "m.example"), 403);
    // Selectors of repositories still work, and open repositories stay open.
    EXPECT_EQ(ask("/v3/modules", basic(".", "open")), 200);
    EXPECT_EQ(last.headers.get("Cache-Control"), "");
    // A token with read access cannot write.
    EXPECT_EQ(ask(kOwn + "/v3/releases/a-b-1.0.0", "Bearer " + *reads, {}, "DELETE"), 403);
    ASSERT_TRUE(*service.forge_store().access().remove_user("alice"));
    EXPECT_EQ(ask(kOwn + "/v3/modules", basic("alice", *password)), 401);
    const auto log = sys::make_real_file_system()->read(scratch.path + "/forge/audit.log");
    ASSERT_TRUE(log);
    EXPECT_NE(log->find("\tuser:bob\tGET " + kOwn + "/v3/modules\trefused\n"), std::string::npos);
    EXPECT_EQ(log->find(*password), std::string::npos);
}

TEST_F(Private, TokenForOneRepositorySelectsItAtTheRoot) {
    const auto token = service.forge_store().access().add_token("t", {"open"});
    ASSERT_TRUE(token);
    ASSERT_TRUE(service.forge_store().upload("open", module::test::release("c-d", "1.0.0")));
    ASSERT_TRUE(service.forge_store().publish("open"));
    EXPECT_EQ(ask("/v3/modules/c-d", "Bearer " + *token), 200);
    EXPECT_EQ(ask("/v3/modules/c-d", basic("x", *token)), 200);
    EXPECT_EQ(ask("/v3/modules/c-d?reason=x", "Bearer " + *token, {}, "DELETE"), 400);
}

}  // namespace
}  // namespace bunraku::forge
