#include "modules/forge/pull.h"

#include <arpa/inet.h>
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "modules/forge/http_api.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// An upstream that accepts all requests and never answers.
class Silent {
public:
    Silent() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(socket_, 100), 0);
        EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        url = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
    }
    ~Silent() { ::close(socket_); }
    std::string url;

private:
    int socket_;
};

/// A Bunraku forge as the upstream, and another one with pull-through repositories in front of it.
class PullThrough : public testing::Test {
protected:
    static std::unique_ptr<http::Server> serve(ForgeService& service, int workers = 2) {
        http::Router router;
        mount(router, service);
        http::ServerOptions options;
        options.listeners.push_back({});
        options.worker_threads = workers;
        auto started = http::Server::start(std::move(router), options);
        EXPECT_TRUE(started) << started.error().message;
        return std::move(*started);
    }
    PullThrough() : up({.root = scratch.path + "/up"}) {
        EXPECT_TRUE(up.forge_store().create("up"));
        EXPECT_TRUE(up.forge_store().upload("up", module::test::release("a-b", "1.0.0")));
        EXPECT_TRUE(up.forge_store().upload(
            "up",
            module::test::release("a-needs", "1.0.0", R"([{"name":"a-b"},{"name":"a-gone"}])")));
        EXPECT_TRUE(up.forge_store().publish("up"));
        upstream = serve(up);
        upstream_url = upstream->urls()[0] + "/pulp_puppet/forge/repository/up";
        ServiceOptions options{.root = scratch.path + "/front"};
        options.upstream_timeouts = 1500ms;
        front = std::make_unique<ForgeService>(options);
    }
    void create(const std::string& name, const std::string& url) {
        ASSERT_TRUE(front->forge_store().create(name, url));
        ASSERT_TRUE(front->forge_store().publish(name));
    }
    /// Returns the status of a request to the front, and its duration.
    static int ask(const std::string& base, const std::string& path,
                   std::chrono::milliseconds* took = nullptr, std::string* body = nullptr) {
        http::ClientOptions options;
        options.timeout = 60s;
        http::Client client(options);
        const auto begin = Clock::now();
        auto answer = client.get(base + path);
        if (took)
            *took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
        if (body && answer) *body = answer->body;
        return answer ? answer->status : -1;
    }
    static std::string repository(const std::string& name, const std::string& path) {
        return "/pulp_puppet/forge/repository/" + name + path;
    }
    module::test::Scratch scratch;
    ForgeService up;
    std::unique_ptr<http::Server> upstream;
    std::string upstream_url;
    std::unique_ptr<ForgeService> front;
};

TEST_F(PullThrough, LimitsResponsesWithAllDependencies) {
    const auto needing = [](int count) {
        std::string out = "[";
        for (int i = 0; i < count; ++i)
            out += fmt::format(R"({}{{"name":"n-o{}"}})", i > 0 ? "," : "", i);
        return out + "]";
    };
    ASSERT_TRUE(up.forge_store().upload("up", module::test::release("a-few", "1.0.0", needing(3))));
    ASSERT_TRUE(
        up.forge_store().upload("up", module::test::release("a-many", "1.0.0", needing(3000))));
    ASSERT_TRUE(up.forge_store().publish("up"));
    create("good", upstream_url);
    auto server = serve(*front);
    const auto closure = [&](const std::string& name, std::string* body) {
        return ask(server->urls()[0], repository("good", "/api/v1/releases.json?module=a/" + name),
                   nullptr, body);
    };
    std::string body;
    EXPECT_EQ(closure("few", &body), 200) << body;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(closure("many", &body), 502) << body;
        EXPECT_NE(body.find("a-many needs more than 300 modules that are not in 'good' yet"),
                  std::string::npos)
            << body;
    }
    // A request for the module alone succeeds.
    EXPECT_EQ(ask(server->urls()[0], repository("good", "/v3/modules/a-many")), 200);
}

TEST_F(PullThrough, SilentUpstreamDoesNotDelayOthers) {
    Silent silent;
    create("slow", silent.url);
    create("slow2", silent.url + "/other");
    create("good", upstream_url);
    ASSERT_TRUE(front->forge_store().create("own"));
    ASSERT_TRUE(front->forge_store().upload("own", module::test::release("o-wn", "1.0.0")));
    ASSERT_TRUE(front->forge_store().publish("own"));
    auto server = serve(*front);
    const std::string url = server->urls()[0];
    std::atomic<int> wrong{0}, ended{0};
    std::vector<std::thread> askers;
    for (int i = 0; i < 54; ++i) {
        askers.emplace_back([&, i] {
            const int status = ask(
                url, repository(i % 2 ? "slow" : "slow2", fmt::format("/v3/modules/m-ade{}", i)));
            if (status != 503 && status != 504) ++wrong;
            ++ended;
        });
    }
    std::this_thread::sleep_for(300ms);
    std::chrono::milliseconds took{};
    EXPECT_LT(ended, 54);  // some are still waiting
    EXPECT_EQ(ask(url, repository("own", "/v3/modules/o-wn"), &took), 200);
    EXPECT_LT(took, 1000ms);
    EXPECT_EQ(ask(url, repository("good", "/v3/modules/a-b"), &took), 200);
    EXPECT_LT(took, 1000ms);
    EXPECT_EQ(ask(url, repository("good", "/v3/files/a-b-1.0.0.tar.gz"), &took), 200);
    EXPECT_LT(took, 1000ms);
    for (std::thread& t : askers) t.join();
    EXPECT_EQ(wrong, 0);
    // The front does not contact the upstream again for a while, so that no request waits.
    EXPECT_EQ(ask(url, repository("slow", "/v3/modules/m-ore"), &took), 503);
    EXPECT_LT(took, 500ms);
    EXPECT_EQ(ask(url, repository("slow", "/api/v1/releases.json?module=m/ore"), &took), 503);
    EXPECT_LT(took, 500ms);
}

TEST_F(PullThrough, ServesLocalReleasesIfUpstreamIsSilent) {
    Silent silent;
    ServiceOptions options = front->options();
    options.upstream_seconds = 0;  // every request asks the upstream again
    front = std::make_unique<ForgeService>(options);
    create("r", upstream_url);
    auto server = serve(*front);
    const std::string url = server->urls()[0];
    EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-b")), 200);
    EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-1.0.0.tar.gz")), 200);
    EXPECT_EQ(ask(url, repository("r", "/v3/modules/no-such")), 404);
    ASSERT_TRUE(front->forge_store().create("r", silent.url));
    std::chrono::milliseconds took{};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-1.0.0.tar.gz"), &took), 200);
        EXPECT_LT(took, 500ms);
        EXPECT_EQ(ask(url, "/pulp/puppet/r/system/releases/a/a/a-b-1.0.0.tar.gz", &took), 200);
        EXPECT_LT(took, 500ms);
    }
    // The front answers from its cache immediately and refreshes the cache in the background.
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-b"), &took), 200);
        EXPECT_LT(took, 500ms);
    }
    // An unknown release may be a new one, so the front must not report that it does not exist.
    const int status = ask(url, repository("r", "/v3/releases/a-b-2.0.0"));
    EXPECT_TRUE(status == 503 || status == 504) << status;
    EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-needs"), &took), 503);
    EXPECT_LT(took, 500ms);
}

TEST_F(PullThrough, EqualRequestsAreSentOnce) {
    std::atomic<int> asked{0}, at_once{0}, most{0};
    http::Router router;
    router.add("GET", "/v3/releases", http::Access::anyone(), [&](http::Request&) {
        ++asked;
        int now = ++at_once;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::sleep_for(200ms);
        --at_once;
        return http::Response::json(200, R"({"pagination":{"next":null,"total":0},"results":[]})");
    });
    http::ServerOptions options;
    options.listeners.push_back({});
    options.worker_threads = 32;
    auto counting = http::Server::start(std::move(router), options);
    ASSERT_TRUE(counting);
    create("c", (*counting)->urls()[0]);
    auto server = serve(*front);
    const std::string url = server->urls()[0];
    const auto all = [&](int n, const std::function<std::string(int)>& name, int* busy) {
        std::atomic<int> refused{0}, wrong{0};
        std::vector<std::thread> askers;
        for (int i = 0; i < n; ++i) {
            askers.emplace_back([&, i] {
                const int status = ask(url, repository("c", "/v3/modules/" + name(i)));
                if (status == 503)
                    ++refused;
                else if (status != 404)
                    ++wrong;
            });
        }
        for (std::thread& t : askers) t.join();
        EXPECT_EQ(wrong, 0);
        *busy = refused;
    };
    int busy = 0;
    all(6, [](int) { return "m-one"; }, &busy);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(busy, 0);
    EXPECT_EQ(ask(url, repository("c", "/v3/modules/m-one")), 404);
    EXPECT_EQ(asked, 1);  // the result "not found" is cached
    all(40, [](int i) { return fmt::format("m-any{}", i); }, &busy);
    EXPECT_LE(most, 4);
    EXPECT_GT(busy, 0);
}

TEST_F(PullThrough, RefreshesStaleDataInBackground) {
    ServiceOptions options = front->options();
    options.upstream_seconds = 0;
    front = std::make_unique<ForgeService>(options);
    create("r", upstream_url);
    auto server = serve(*front);
    const std::string url = server->urls()[0];
    EXPECT_EQ(ask(url, repository("r", "/v3/releases/a-b-1.0.0")), 200);
    ASSERT_TRUE(up.post("up", module::test::release("a-b", "2.0.0")));
    std::string body;
    for (int i = 0; i < 100 && body.find(R"("version":"2.0.0")") == std::string::npos; ++i) {
        EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-b"), nullptr, &body), 200);
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_NE(body.find(R"("version":"2.0.0")"), std::string::npos);
    ASSERT_TRUE(up.post("up", module::test::release("a-b", "3.0.0")));
    EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-3.0.0.tar.gz")), 200);
}

TEST_F(PullThrough, OwnedNamesAreNeverRequestedUpstream) {
    std::mutex mutex;
    std::set<std::string> asked;
    http::Router router;
    mount(router, up);
    http::Router spy;
    spy.add("GET", "/{rest*}", http::Access::anyone(), [&](http::Request& request) {
        {
            std::unique_lock held(mutex);
            if (const std::string* m = request.query_value("module")) asked.insert(*m);
        }
        return router.handle(request);
    });
    http::ServerOptions options;
    options.listeners.push_back({});
    auto spying = http::Server::start(std::move(spy), options);
    ASSERT_TRUE(spying);
    for (const char* name : {"x-own", "y-any", "z-other"}) {
        ASSERT_TRUE(up.forge_store().upload("up", module::test::release(name, "9.0.0")));
    }
    ASSERT_TRUE(up.forge_store().publish("up"));
    create("r", (*spying)->urls()[0] + "/pulp_puppet/forge/repository/up");
    ASSERT_TRUE(front->forge_store().create("own"));
    ASSERT_TRUE(front->forge_store().upload("own", module::test::release("a-b", "0.5.0")));
    ASSERT_TRUE(front->forge_store().publish("own"));
    ASSERT_TRUE(front->forge_store().access().bind("con", "r"));
    ASSERT_TRUE(front->forge_store().access().bind("con", "own"));
    RepositoryConfig config = front->forge_store().config("own");
    config.own = {"x", "y-any"};
    ASSERT_TRUE(front->forge_store().configure("own", config));
    auto server = serve(*front);
    const std::string url = server->urls()[0], con = "/pulp_puppet/forge/consumer/con";
    std::string body;
    // Another client requested the public module. The consumer still gets its own module.
    EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-b")), 200);
    EXPECT_TRUE(asked.contains("a-b"));
    asked.clear();
    EXPECT_EQ(ask(url, con + "/v3/modules/a-b", nullptr, &body), 200);
    EXPECT_NE(body.find(R"("version":"0.5.0")"), std::string::npos);
    EXPECT_EQ(body.find("1.0.0\""), std::string::npos);
    EXPECT_EQ(ask(url, con + "/v3/releases?module=a-b", nullptr, &body), 200);
    EXPECT_NE(body.find(R"("total":1})"), std::string::npos);
    EXPECT_EQ(ask(url, con + "/v3/releases", nullptr, &body), 200);
    EXPECT_NE(body.find(R"("total":1})"), std::string::npos) << body;
    EXPECT_EQ(ask(url, con + "/v3/files/a-b-1.0.0.tar.gz"), 404);
    EXPECT_EQ(ask(url, con + "/v3/releases/a-b-1.0.0"), 404);
    EXPECT_EQ(ask(url, con + "/api/v1/releases.json?module=a/b", nullptr, &body), 200);
    EXPECT_NE(body.find("0.5.0"), std::string::npos);
    for (const char* name : {"x-own", "x-new", "y-any"}) {
        EXPECT_EQ(ask(url, con + "/v3/modules/" + name), 404);
    }
    EXPECT_TRUE(asked.empty()) << *asked.begin();
    EXPECT_EQ(ask(url, con + "/v3/modules/z-other"), 200);
    EXPECT_EQ(asked, std::set<std::string>{"z-other"});
    // An upload to the pull-through repository makes the name local; the releases from upstream
    // disappear.
    ASSERT_TRUE(front->post("r", module::test::release("a-b", "0.6.0")));
    EXPECT_EQ(ask(url, repository("r", "/v3/modules/a-b"), nullptr, &body), 200);
    EXPECT_NE(body.find(R"("version":"0.6.0")"), std::string::npos);
    EXPECT_EQ(body.find("1.0.0\""), std::string::npos);
    EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-2.0.0.tar.gz")), 404);
    EXPECT_EQ(asked, std::set<std::string>{"z-other"});
}

TEST_F(PullThrough, TriesUpstreamsInOrder) {
    ForgeService second({.root = scratch.path + "/second"});
    ASSERT_TRUE(second.forge_store().create("up"));
    ASSERT_TRUE(second.forge_store().upload("up", module::test::release("a-b", "7.0.0")));
    ASSERT_TRUE(second.forge_store().upload("up", module::test::release("c-d", "1.0.0")));
    ASSERT_TRUE(second.forge_store().publish("up"));
    auto other = serve(second);
    create("r", upstream_url);
    RepositoryConfig config = front->forge_store().config("r");
    config.upstreams.push_back(other->urls()[0] + "/pulp_puppet/forge/repository/up");
    ASSERT_TRUE(front->forge_store().configure("r", config));
    auto server = serve(*front);
    const std::string url = server->urls()[0];
    EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-7.0.0.tar.gz")), 404);
    EXPECT_EQ(ask(url, repository("r", "/v3/files/a-b-1.0.0.tar.gz")), 200);
    EXPECT_EQ(ask(url, repository("r", "/v3/files/c-d-1.0.0.tar.gz")), 200);
    // If the first upstream is unreachable, the second one is not used.
    upstream->stop();
    EXPECT_GE(ask(url, repository("r", "/v3/modules/e-f")), 500);
}

TEST_F(PullThrough, ConsumersAndClosures) {
    create("r", upstream_url);
    ASSERT_TRUE(front->forge_store().access().bind("con", "r"));
    auto server = serve(*front);
    const std::string url = server->urls()[0], con = "/pulp_puppet/forge/consumer/con";
    std::string body;
    EXPECT_EQ(ask(url, con + "/v3/modules/a-b"), 200);
    EXPECT_EQ(ask(url, con + "/v3/files/a-b-1.0.0.tar.gz"), 200);
    EXPECT_EQ(ask(url, con + "/api/v1/releases.json?module=a/needs", nullptr, &body), 200);
    EXPECT_NE(body.find(R"("a/b":[{)"), std::string::npos) << body;
    EXPECT_EQ(ask(url, con + "/v3/modules/no-such"), 404);
    EXPECT_EQ(ask("http://con:.@" + url.substr(7), "/v3/modules/a-needs"), 200);
}

}  // namespace
}  // namespace bunraku::forge
