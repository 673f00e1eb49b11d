#include "forge/sync.h"

#include <gtest/gtest.h>

#include "codec/digest.h"
#include "forge/http_api.h"
#include "forge/service.h"
#include "http/server.h"
#include "support.h"

namespace bunraku::forge {
namespace {

/// An upstream that answers what the test says, and a repository to sync.
class Sync : public testing::Test {
protected:
    Sync() : depot(scratch.path + "/forge") { EXPECT_TRUE(depot.create("r")); }
    void serve(http::Router router) {
        http::ServerOptions options;
        options.listeners.push_back({});
        auto started = http::Server::start(std::move(router), options);
        ASSERT_TRUE(started) << started.error().message;
        server = std::move(*started);
        url = server->urls()[0];
    }
    SyncResult run(const std::string& feed, bool mirror = false,
                   std::vector<std::string> queries = {}) {
        complaints.clear();
        failure.clear();
        SyncOptions o;
        o.feed = feed;
        o.remove_missing = mirror;
        o.queries = std::move(queries);
        o.complaint = [&](const std::string& text) { complaints.push_back(text); };
        auto r = sync(depot, "r", o);
        if (!r) failure = r.error().message;
        return r ? *r : SyncResult{};
    }
    std::string have() {
        std::string out;
        for (const Unit& u : depot.units("r")) out += u.name.slug() + " ";
        return out;
    }
    static std::string described(const std::string& name, const std::string& version,
                                 const std::string& sha256) {
        return fmt::format(R"({{"slug":"{0}-{1}","metadata":{{"name":"{0}","version":"{1}"}},)"
                           R"("file_uri":"/v3/files/{0}-{1}.tar.gz","file_sha256":"{2}"}})",
                           name, version, sha256);
    }
    static std::string page(const std::string& results, const std::string& next, int total = 1) {
        return fmt::format(R"({{"pagination":{{"next":{},"total":{}}},"results":[{}]}})",
                           next.empty() ? "null" : "\"" + next + "\"", total, results);
    }
    static std::string sha256(const std::string& bytes) {
        return codec::hex_digest(codec::DigestKind::Sha256, bytes);
    }
    test::Scratch scratch;
    Depot depot;
    std::unique_ptr<http::Server> server;
    std::string url, failure;
    std::vector<std::string> complaints;
};

TEST_F(Sync, FromAForgeOfOurOwn) {
    ForgeService service({.root = scratch.path + "/other"});
    ASSERT_TRUE(service.depot().create("up"));
    for (const char* v : {"1.0.0", "1.1.0"}) {
        ASSERT_TRUE(service.depot().upload("up", test::release("a-b", v)));
    }
    ASSERT_TRUE(service.depot().upload("up", test::release("c-d", "1.0.0")));
    ASSERT_TRUE(service.depot().publish("up"));
    http::Router router;
    mount(router, service);
    serve(std::move(router));
    const std::string v3 = url + "/pulp_puppet/forge/repository/up";
    SyncResult r = run(v3, false, {"c-d"});
    EXPECT_EQ(failure, "");
    EXPECT_EQ(have(), "c-d-1.0.0 ");
    r = run(v3);
    EXPECT_EQ(r.fetched, 2U);
    EXPECT_EQ(r.present, 1U);
    EXPECT_EQ(have(), "a-b-1.0.0 a-b-1.1.0 c-d-1.0.0 ");
    EXPECT_EQ(run(url + "/pulp/puppet/up").present, 3U);
    EXPECT_EQ(run(url + "/pulp/puppet_files/up/PULP_MANIFEST").present, 3U);
    EXPECT_EQ(run("file://" + service.depot().published_folder() + "/up").present, 3U);
    ASSERT_TRUE(depot.upload("r", test::release("x-y", "1.0.0")));
    EXPECT_EQ(run(v3, true).removed, 1U);
    EXPECT_EQ(have(), "a-b-1.0.0 a-b-1.1.0 c-d-1.0.0 ");
    // A pull-through repository describes what upstream has, and fetches when asked.
    ForgeService through({.root = scratch.path + "/through"});
    ASSERT_TRUE(through.depot().create("p", v3));
    ASSERT_TRUE(through.depot().publish("p"));
    http::Router front;
    mount(front, through);
    http::Request request;
    request.method = "GET";
    request.path = request.target = "/pulp_puppet/forge/repository/p/v3/files/a-b-1.1.0.tar.gz";
    http::Response file = front.handle(request);
    ASSERT_EQ(file.status, 200) << file.body;
    EXPECT_EQ(through.depot().units("p").size(), 2U);
    request.path = request.target = "/pulp_puppet/forge/repository/p/v3/modules/no-such";
    EXPECT_EQ(front.handle(request).status, 404);
}

TEST_F(Sync, UpstreamsThatLie) {
    const std::string good = test::release("a-b", "1.0.0"), other = test::release("c-d", "1.0.0");
    http::Router router;
    router.add("GET", "/v3/modules",
               [](http::Request&) { return http::Response::json(200, page("", "")); });
    router.add("GET", "/v3/releases", [&](http::Request&) {
        return http::Response::json(
            200, page(described("a-b", "1.0.0", sha256(good)) + "," +
                          described("l-ies", "1.0.0", std::string(64, '0')) + "," +
                          described("h-alf", "1.0.0", sha256(good)) + "," +
                          described("w-rong", "1.0.0", sha256(other)) + "," +
                          described("../../e-vil", "1.0.0", sha256(good)) + "," +
                          described("g-one", "1.0.0", sha256(good)),
                      ""));
    });
    const std::map<std::string, std::string> files = {{"a-b-1.0.0.tar.gz", good},
                                                      {"l-ies-1.0.0.tar.gz", good},
                                                      {"h-alf-1.0.0.tar.gz", good.substr(0, 200)},
                                                      {"w-rong-1.0.0.tar.gz", other}};
    router.add("GET", "/v3/files/{name}", [&](http::Request& r) {
        auto f = files.find(std::string(r.param("name")));
        return f == files.end() ? http::Response::text(404, "")
                                : http::Response::text(200, f->second);
    });
    serve(std::move(router));
    ASSERT_TRUE(depot.upload("r", test::release("k-ept", "1.0.0")));
    const SyncResult r = run(url, true);
    EXPECT_EQ(failure, "");
    EXPECT_EQ(r.fetched, 1U);
    EXPECT_EQ(r.failed, 5U);
    EXPECT_EQ(r.removed, 0U);  // a listing with bad entries takes nothing away
    EXPECT_EQ(have(), "a-b-1.0.0 k-ept-1.0.0 ");
    std::string all;
    for (const std::string& c : complaints) all += c + "\n";
    EXPECT_NE(all.find("l-ies-1.0.0: checksum mismatch"), std::string::npos) << all;
    EXPECT_NE(all.find("w-rong-1.0.0"), std::string::npos) << all;
    EXPECT_NE(all.find("is not a valid release"), std::string::npos) << all;
}

TEST_F(Sync, PagesWithoutEnd) {
    int asked = 0;
    std::string mode;
    http::Router router;
    router.add("GET", "/v3/modules",
               [](http::Request&) { return http::Response::json(200, page("", "")); });
    router.add("GET", "/v3/releases", [&](http::Request&) {
        ++asked;
        std::string next = "/v3/releases?offset=0";
        if (mode == "ever") next = fmt::format("/v3/releases?offset={}", asked);
        if (mode == "elsewhere") next = "http://127.0.0.1:1/v3/releases";
        std::string results;
        for (int i = 0; i < 100; ++i) {
            if (i) results += ',';
            results += described("a-b", fmt::format("1.{}.{}", asked, i), std::string(64, '0'));
        }
        return http::Response::json(200, page(results, next, 100));
    });
    router.add("GET", "/broken/v3/modules",
               [](http::Request&) { return http::Response::json(200, "{\"results\":"); });
    serve(std::move(router));
    for (const char* m : {"again", "ever", "elsewhere"}) {
        mode = m;
        asked = 0;
        run(url);
        EXPECT_NE(failure, "") << m;
        EXPECT_LT(asked, 20) << m;
        EXPECT_EQ(have(), "") << m;
    }
    run(url + "/broken");
    EXPECT_NE(failure, "");
    run(url + "/nothing");
    EXPECT_NE(failure.find("is neither a v3 forge nor"), std::string::npos) << failure;
}

}  // namespace
}  // namespace bunraku::forge
