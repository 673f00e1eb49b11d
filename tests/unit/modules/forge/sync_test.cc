#include "modules/forge/sync.h"

#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <set>

#include "core/codec/digest.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "net/http/server.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

/// An upstream with responses defined by the test, and a repository that syncs from it.
class Sync : public testing::Test {
protected:
    Sync() : forge_store(scratch.path + "/forge") { EXPECT_TRUE(forge_store.create("r")); }
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
        o.warn = [&](const std::string& text) { complaints.push_back(text); };
        auto r = sync(forge_store, "r", o);
        if (!r) failure = r.error().message;
        return r ? *r : SyncResult{};
    }
    std::string have() {
        std::string out;
        for (const Unit& u : forge_store.units("r")) out += u.name.slug() + " ";
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
    module::test::Scratch scratch;
    ForgeStore forge_store;
    std::unique_ptr<http::Server> server;
    std::string url, failure;
    std::vector<std::string> complaints;
};

TEST_F(Sync, SyncsFromBunrakuForge) {
    ForgeService service({.root = scratch.path + "/other"});
    ASSERT_TRUE(service.forge_store().create("up"));
    for (const char* v : {"1.0.0", "1.1.0"}) {
        ASSERT_TRUE(service.forge_store().upload("up", module::test::release("a-b", v)));
    }
    ASSERT_TRUE(service.forge_store().upload("up", module::test::release("c-d", "1.0.0")));
    ASSERT_TRUE(service.forge_store().publish("up"));
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
    EXPECT_EQ(run("file://" + service.forge_store().published_folder() + "/up").present, 3U);
    ASSERT_TRUE(forge_store.upload("r", module::test::release("x-y", "1.0.0")));
    EXPECT_EQ(run(v3, true).removed, 1U);
    EXPECT_EQ(have(), "a-b-1.0.0 a-b-1.1.0 c-d-1.0.0 ");
    // A pull-through repository describes the upstream's releases and fetches them on demand.
    ForgeService through({.root = scratch.path + "/through"});
    ASSERT_TRUE(through.forge_store().create("p", v3));
    ASSERT_TRUE(through.forge_store().publish("p"));
    http::Router front;
    mount(front, through);
    http::Request request;
    request.method = "GET";
    request.path = request.target = "/pulp_puppet/forge/repository/p/v3/files/a-b-1.1.0.tar.gz";
    http::Response file = front.handle(request);
    ASSERT_EQ(file.status, 200) << file.body;
    EXPECT_EQ(through.forge_store().units("p").size(), 2U);
    request.path = request.target = "/pulp_puppet/forge/repository/p/v3/modules/no-such";
    EXPECT_EQ(front.handle(request).status, 404);
}

TEST_F(Sync, RefusesWrongUpstreamData) {
    const std::string good = module::test::release("a-b", "1.0.0"),
                      other = module::test::release("c-d", "1.0.0");
    http::Router router;
    router.add("GET", "/v3/modules", http::Access::anyone(),
               [](http::Request&) { return http::Response::json(200, page("", "")); });
    router.add("GET", "/v3/releases", http::Access::anyone(), [&](http::Request&) {
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
    router.add("GET", "/v3/files/{name}", http::Access::anyone(), [&](http::Request& r) {
        auto f = files.find(std::string(r.param("name")));
        return f == files.end() ? http::Response::text(404, "")
                                : http::Response::text(200, f->second);
    });
    serve(std::move(router));
    ASSERT_TRUE(forge_store.upload("r", module::test::release("k-ept", "1.0.0")));
    const SyncResult r = run(url, true);
    EXPECT_EQ(failure, "");
    EXPECT_EQ(r.fetched, 1U);
    EXPECT_EQ(r.failed, 5U);
    EXPECT_EQ(r.removed, 0U);  // a listing with invalid entries removes nothing
    EXPECT_EQ(have(), "a-b-1.0.0 k-ept-1.0.0 ");
    std::string all;
    for (const std::string& c : complaints) all += c + "\n";
    EXPECT_NE(all.find("l-ies-1.0.0: checksum mismatch"), std::string::npos) << all;
    EXPECT_NE(all.find("w-rong-1.0.0"), std::string::npos) << all;
    EXPECT_NE(all.find("is not a valid release"), std::string::npos) << all;
}

TEST_F(Sync, LimitsEndlessPages) {
    int asked = 0;
    std::string mode;
    http::Router router;
    router.add("GET", "/v3/modules", http::Access::anyone(),
               [](http::Request&) { return http::Response::json(200, page("", "")); });
    router.add("GET", "/v3/releases", http::Access::anyone(), [&](http::Request&) {
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
    router.add("GET", "/broken/v3/modules", http::Access::anyone(),
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

TEST_F(Sync, SendsCredentialsOnlyToTheFeed) {
    // The other host records the requests that it receives. The feed lists one file on that host,
    // one file through a redirect, and one file on the feed itself. The feed itself requires the
    // password.
    const std::string tar = module::test::release("a-b", "1.0.0"),
                      moved = module::test::release("c-d", "1.0.0"),
                      own = module::test::release("e-f", "1.0.0");
    std::mutex mutex;
    std::vector<std::string> sent, asked;
    http::Router away;
    away.add("GET", "/{name}", http::Access::anyone(), [&](http::Request& r) {
        std::unique_lock held(mutex);
        sent.emplace_back(r.headers.get("Authorization"));
        return http::Response::text(200, r.path == "/ab" ? tar : moved);
    });
    http::ServerOptions options;
    options.listeners.push_back({});
    auto other = http::Server::start(std::move(away), options);
    ASSERT_TRUE(other);
    const std::string there = (*other)->urls()[0];
    http::Router router;
    const auto guarded = [&](const std::function<http::Response(http::Request&)>& answer) {
        return [&, answer](http::Request& r) {
            std::unique_lock held(mutex);
            asked.emplace_back(r.headers.get("Authorization"));
            return answer(r);
        };
    };
    router.add("GET", "/v3/modules", http::Access::anyone(),
               guarded([](http::Request&) { return http::Response::json(200, page("", "")); }));
    router.add(
        "GET", "/v3/releases", http::Access::anyone(), guarded([&](http::Request&) {
            std::string first = described("a-b", "1.0.0", sha256(tar));
            first.replace(first.find("/v3/files/a-b-1.0.0.tar.gz"), 26, there + "/ab");
            std::string last = described("e-f", "1.0.0", sha256(own));
            last.replace(last.find("/v3/files/"), 10, url + "/v3/files/");
            return http::Response::json(
                200, page(first + "," + described("c-d", "1.0.0", sha256(moved)) + "," + last, ""));
        }));
    router.add("GET", "/v3/files/{name}", http::Access::anyone(), guarded([&](http::Request& r) {
                   if (r.param("name") == "e-f-1.0.0.tar.gz") return http::Response::text(200, own);
                   http::Response redirect;
                   redirect.status = 302;
                   redirect.headers.set("Location", there + "/cd");
                   return redirect;
               }));
    serve(std::move(router));
    for (const bool in_url : {false, true}) {
        SyncOptions o;
        o.feed = in_url ? "http://user:s3cret@" + url.substr(7) : url;
        if (!in_url) o.access.client.authorization = "Bearer s3cret";
        std::string complained;
        o.warn = [&](const std::string& text) { complained += text; };
        auto r = sync(forge_store, "r", o);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_EQ(complained, "");
        EXPECT_EQ(r->fetched, 3U);
        EXPECT_EQ(sent, (std::vector<std::string>{"", ""}));
        for (const std::string& a : asked) {
            EXPECT_EQ(a, in_url ? "Basic dXNlcjpzM2NyZXQ=" : "Bearer s3cret");
        }
        sent.clear();
        asked.clear();
        ASSERT_TRUE(forge_store.remove_repository("r"));
        ASSERT_TRUE(forge_store.create("r"));
    }
}

TEST_F(Sync, HidesPasswords) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"https://a:b@h/x", "https://a:***@h/x"},
        {"https://a:b:c@h", "https://a:***@h"},
        {"https://token@h/x", "https://***@h/x"},
        {"https://a:b@c@h/", "https://a:***@h/"},
        {"https://h/x@y:z", "https://h/x@y:z"},
        {"https://h", "https://h"},
        {"a:b@h/x", "a:***@h/x"},
        {"/path/a@b", "/path/a@b"},
    };
    for (const auto& [url, want] : cases) EXPECT_EQ(module::shown_url(url), want);
    // Error messages of a program that contain a URL.
    const std::vector<std::pair<std::string, std::string>> texts = {
        {"fatal: unable to access 'https://a:b@h/x/': refused",
         "fatal: unable to access 'https://a:***@h/x/': refused"},
        {"https://a:b@h/ https://c@h/\nssh://d:e@h",
         "https://a:***@h/ https://***@h/\nssh://d:***@h"},
        {"no 'https://a:b@h", "no 'https://a:***@h"},
        {"://", "://"},
        {"a@b: nothing", "a@b: nothing"},
        {"", ""},
    };
    for (const auto& [text, want] : texts) EXPECT_EQ(module::shown_text(text), want);
    run("http://user:s3cret@127.0.0.1:1/");
    EXPECT_EQ(failure.find("s3cret"), std::string::npos) << failure;
}

TEST_F(Sync, HandlesFailingFeed) {
    // First 429 and 503, then a truncated response, and no listing at all for a mirror.
    std::map<std::string, int> asked;
    std::string listed = described("a-b", "1.0.0", sha256(module::test::release("a-b", "1.0.0")));
    const auto first_busy = [&](const char* path, int status, http::Response good) {
        if (++asked[path] > 1) return good;
        http::Response busy = http::Response::text(status, "");
        busy.headers.set("Retry-After", "0");
        return busy;
    };
    http::Router router;
    router.add("GET", "/v3/modules", http::Access::anyone(), [&](http::Request&) {
        return first_busy("modules", 429, http::Response::json(200, page("", "")));
    });
    router.add("GET", "/v3/releases", http::Access::anyone(), [&](http::Request&) {
        return first_busy("releases", 503, http::Response::json(200, page(listed, "")));
    });
    router.add("GET", "/v3/files/{name}", http::Access::anyone(), [&](http::Request&) {
        return first_busy("files", 429,
                          http::Response::text(200, module::test::release("a-b", "1.0.0")));
    });
    serve(std::move(router));
    EXPECT_EQ(run(url).fetched, 1U);
    EXPECT_EQ(failure, "");
    listed.clear();
    EXPECT_EQ(run(url, true).removed, 0U);
    EXPECT_NE(failure.find("offers nothing, and so 'r' would lose all its releases"),
              std::string::npos)
        << failure;
    EXPECT_EQ(have(), "a-b-1.0.0 ");
    SyncOptions o;
    o.feed = url;
    o.remove_missing = o.force = true;
    auto forced = sync(forge_store, "r", o);
    ASSERT_TRUE(forced);
    EXPECT_EQ(forced->removed, 1U);
    EXPECT_EQ(have(), "");
}

TEST_F(Sync, StopInterruptsHangingFeed) {
    for (const char* hangs : {"/v3/modules", "/v3/releases", "/v3/files/{name}"}) {
        std::mutex mutex;
        std::condition_variable over;
        bool done = false;
        const std::map<std::string, std::string> good = {
            {"/v3/modules", page("", "")},
            {"/v3/releases", page(described("a-b", "1.0.0", std::string(64, '0')), "")},
            {"/v3/files/{name}", "x"}};
        http::Router router;
        for (const auto& [path, body] : good) {
            router.add("GET", path, http::Access::anyone(), [&, path, body](http::Request&) {
                std::unique_lock held(mutex);
                if (path == hangs) over.wait(held, [&] { return done; });
                return http::Response::json(200, body);
            });
        }
        serve(std::move(router));
        SyncOptions o;
        o.feed = url;
        const auto begin = std::chrono::steady_clock::now();
        o.stopped = [&] {
            return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(300);
        };
        auto r = sync(forge_store, "r", o);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3)) << hangs;
        ASSERT_TRUE(r) << hangs << r.error().message;
        EXPECT_TRUE(r->stopped) << hangs;
        {
            std::unique_lock held(mutex);
            done = true;
        }
        over.notify_all();
        server.reset();
    }
}

/// An in-memory forge that is called without a network.
class Served : public testing::Test {
protected:
    Served() : service({.root = scratch.path + "/forge", .default_repository = "r"}) {
        mount(router, service);
    }
    http::Response ask(const std::string& path, const std::string& header = {},
                       const std::string& value = {}) {
        http::Request request;
        request.method = "GET";
        request.path = request.target = path;
        if (!header.empty()) request.headers.set(header, value);
        return router.handle(request);
    }
    module::test::Scratch scratch;
    ForgeService service;
    http::Router router;
};

TEST_F(Served, RecreatedRepositorySharesNothing) {
    ForgeStore& forge_store = service.forge_store();
    std::set<std::string> names, tags, dates;
    for (const char* version : {"1.0.0", "1.1.0", "2.0.0"}) {
        ASSERT_TRUE(forge_store.create("r"));
        ASSERT_TRUE(forge_store.upload("r", module::test::release("a-b", version)));
        auto name = forge_store.publish("r");
        ASSERT_TRUE(name);
        EXPECT_TRUE(names.insert(*name).second) << *name;
        for (const std::string& tag : tags) {
            EXPECT_EQ(ask("/v3/modules/a-b", "If-None-Match", tag).status, 200);
        }
        for (const std::string& date : dates) {
            EXPECT_EQ(ask("/v3/modules/a-b", "If-Modified-Since", date).status, 200);
        }
        const http::Response r = ask("/v3/modules/a-b");
        EXPECT_NE(r.body.find(fmt::format(R"("slug":"a-b-{}")", version)), std::string::npos);
        tags.emplace(r.headers.get("ETag"));
        dates.emplace(r.headers.get("Last-Modified"));
        ASSERT_TRUE(forge_store.remove_repository("r"));
        EXPECT_EQ(ask("/v3/modules/a-b").status, 404);
    }
    EXPECT_EQ(tags.size(), 3U);
}

TEST_F(Served, DeletedReleaseCanBeUploadedAgain) {
    ForgeStore& forge_store = service.forge_store();
    const std::string bytes = module::test::release("a-b", "1.0.0");
    for (const char* r : {"r", "other"}) {
        ASSERT_TRUE(forge_store.create(r));
        ASSERT_TRUE(forge_store.upload(r, bytes));
        ASSERT_TRUE(forge_store.publish(r));
    }
    const auto again = [&](const std::function<bool()>& bring) {
        ASSERT_TRUE(
            service.delete_release("r", *module::parse_release_name("a-b-1.0.0"), "broken"));
        EXPECT_EQ(ask("/v3/files/a-b-1.0.0.tar.gz").status, 404);
        ASSERT_TRUE(bring());
        ASSERT_TRUE(forge_store.publish("r"));
        EXPECT_EQ(ask("/v3/files/a-b-1.0.0.tar.gz").status, 200);
    };
    again([&] { return forge_store.upload("r", bytes).has_value(); });
    again([&] {
        return forge_store.copy("other", "r", module::parse_module_name("a-b"), "1.0.0")
            .has_value();
    });
    again([&] {
        return forge_store.remove("r", *module::parse_module_name("a-b"), "1.0.0").has_value() &&
               forge_store.upload("r", bytes).has_value();
    });
}

TEST_F(Served, AuthenticationSchemeIgnoresCase) {
    ASSERT_TRUE(service.forge_store().create("r"));
    ASSERT_TRUE(service.forge_store().publish("r"));
    ASSERT_TRUE(service.forge_store().create("s"));
    ASSERT_TRUE(service.forge_store().upload("s", module::test::release("a-b", "1.0.0")));
    ASSERT_TRUE(service.forge_store().publish("s"));
    for (const char* scheme : {"Basic", "basic", "BASIC", "bAsIc"}) {
        // ":.s" names the repository. Credentials that cannot be decoded name no repository, not
        // even the default one.
        EXPECT_EQ(ask("/v3/modules/a-b", "Authorization", fmt::format("{} Ljpz", scheme)).status,
                  200)
            << scheme;
        EXPECT_EQ(ask("/v3/modules/a-b", "Authorization", fmt::format("{} ", scheme)).status, 401)
            << scheme;
        EXPECT_EQ(ask("/v3/modules/a-b", "Authorization", fmt::format("{} ?", scheme)).status, 401)
            << scheme;
    }
    EXPECT_EQ(ask("/v3/modules/a-b", "Authorization", "Bearer x").status, 404);
}

}  // namespace
}  // namespace bunraku::forge
