// SPDX-License-Identifier: Apache-2.0
// Tests requests over the in-memory network, which behaves like the real one, in virtual time.
#include "testing/memory_network.h"

#include <cerrno>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::http {
namespace {

using namespace std::chrono_literals;

/// A server "store" with TLS on port 8140 and plain HTTP on port 8080.
class MemoryNetworkTest : public testing::Test {
protected:
    explicit MemoryNetworkTest(std::uint64_t seed = 1) : world(seed), network(world) {
        options.listeners = {{"store", 8140, true}, {"store", 8080, false}};
        options.network = &network.host("store");
        options.worker_threads = 2;
        options.error_log = [this](const std::string& e) { errors.push_back(e); };
    }
    void start() {
        Router router;
        AccessPolicy policy;
        policy.plain_is_trusted = true;
        router.set_policy(std::move(policy));
        RouteOptions large;
        large.max_body = 8 << 20;
        router.add(
            "POST", "/echo", Access::anyone(),
            [](Request& r) { return Response::text(200, r.body); }, large);
        router.add("POST", "/small", Access::anyone(),
                   [](Request& r) { return Response::text(200, r.body); }, {.max_body = 10});
        router.add("GET", "/who", Access::certificate(), [](Request& r) {
            return Response::text(200, fmt::format("{} {}", r.peer.address, r.peer.name()));
        });
        router.add("GET", "/slow", Access::anyone(), [this](Request&) {
            world.sleep(10s);
            return Response::text(200, "slept");
        });
        router.add("GET", "/throws", Access::anyone(),
                   [](Request&) -> Response { throw std::runtime_error("broken"); });
        router.add("GET", "/long", Access::anyone(), [](Request&) {
            Response out;
            out.producer = [n = 0](std::string& piece) mutable {
                piece.assign(50'000, static_cast<char>('a' + n));
                return ++n < 20;
            };
            return out;
        });
        auto started = Server::start(std::move(router), options);
        ASSERT_TRUE(started) << started.error().message;
        server = std::move(*started);
    }
    ClientOptions from(const std::string& host, std::string_view certname = "") {
        ClientOptions out;
        out.network = &network.host(host, certname.empty() ? nullptr : identity_of(certname));
        return out;
    }
    std::string ask(Client& client, const std::string& url) {
        auto answer = client.get(url);
        return answer ? fmt::format("{} {}", answer->status, answer->body) : answer.error().message;
    }
    /// Returns the response to raw bytes, until the server closes the connection.
    std::string raw(std::string_view bytes, sys::Duration then = 0s) {
        auto client = from("raw");
        client.timeout = 1h;
        auto connector = client.network->connector(client);
        auto link = connector->connect(parse_url("http://store:8080").value());
        if (!link) return link.error().message;
        (void)(*link)->write(bytes);
        world.sleep(then);
        std::string out;
        char buffer[1000];
        for (;;) {
            auto n = (*link)->read(buffer, sizeof buffer);
            if (!n) return out + "!" + n.error().message;
            if (*n == 0) return out;
            out.append(buffer, *n);
        }
    }

    sys::Simulation world;
    MemoryNetwork network;
    ServerOptions options;
    std::vector<std::string> errors;
    std::unique_ptr<Server> server;
};

TEST_F(MemoryNetworkTest, TestAssignsPeerIdentities) {
    start();
    EXPECT_EQ(server->urls(),
              (std::vector<std::string>{"https://store:8140", "http://store:8080"}));
    Client known(from("one", "agent1")), unknown(from("two"));
    EXPECT_EQ(ask(known, "https://store:8140/who"), "200 one agent1");
    EXPECT_EQ(ask(unknown, "https://store:8140/who").substr(0, 3), "403");
    EXPECT_EQ(ask(known, "http://store:8140/who"),
              "GET http://store:8140/who: TLS failed: only one side uses TLS");
    EXPECT_EQ(ask(known, "https://store:8141/who"),
              "GET https://store:8141/who: Connection refused");
    EXPECT_EQ(ask(known, "https://nobody/who"), "GET https://nobody/who: Connection refused");
    EXPECT_EQ(ask(known, "https://store:8140/throws"), "500 Internal Server Error");
    EXPECT_EQ(errors, (std::vector<std::string>{"A request failed: broken"}));
    EXPECT_EQ(server->load().connections, 2U);
}

TEST_F(MemoryNetworkTest, ChunkedBodiesArriveComplete) {
    network.faults.short_reads = network.faults.short_writes = 700'000;
    start();
    Client client(from("one"));
    std::string body;
    for (int i = 0; i < 100'000; ++i) body += fmt::format("{},", i);
    ClientRequest request;
    request.method = "POST";
    request.url = "https://store:8140/echo";
    request.body = body;
    auto answer = client.send(request);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_TRUE(answer->body == body);
    auto streamed = client.get("https://store:8140/long");
    ASSERT_TRUE(streamed) << streamed.error().message;
    EXPECT_EQ(streamed->body.size(), 1'000'000U);
}

TEST_F(MemoryNetworkTest, EnforcesLimits) {
    options.max_header_bytes = 2000;
    start();
    auto begins = [](const std::string& text) { return text.substr(0, 12); };
    EXPECT_EQ(begins(raw("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n")),
              "HTTP/1.1 413");
    EXPECT_EQ(begins(raw("GET /who HTTP/1.1\r\nHost: x\r\nA: " + std::string(3000, 'a'))),
              "HTTP/1.1 431");
    EXPECT_EQ(begins(raw("GET /who\r\n\r\n")), "HTTP/1.1 400");
}

TEST_F(MemoryNetworkTest, ServerTimeouts) {
    start();
    auto begin = world.now();
    EXPECT_EQ(raw("GET /who HTTP/1.1\r\nHost:").substr(0, 12), "HTTP/1.1 408");
    EXPECT_GE(world.now() - begin, 60s);
    EXPECT_LT(world.now() - begin, 61s);
    begin = world.now();
    EXPECT_EQ(raw(""), "");  // no request was sent
    EXPECT_GE(world.now() - begin, 60s);
    EXPECT_LT(world.now() - begin, 61s);
}

TEST_F(MemoryNetworkTest, ClientTimeouts) {
    start();
    auto impatient = from("one");
    impatient.timeout = 3s;
    Client client(impatient);
    auto begin = world.now();
    EXPECT_EQ(ask(client, "https://store:8140/slow"), "GET https://store:8140/slow: timed out");
    EXPECT_GE(world.now() - begin, 3s);
    EXPECT_LT(world.now() - begin, 3100ms);
    Client patient(from("two"));
    EXPECT_EQ(ask(patient, "https://store:8140/slow"), "200 slept");
    auto stopped = from("three");
    stopped.stopped = [&, end = world.now() + 1s] { return world.now() > end; };
    Client third(stopped);
    EXPECT_EQ(ask(third, "https://store:8140/slow"), "GET https://store:8140/slow: stopped");
}

TEST_F(MemoryNetworkTest, FullQueueIsReported) {
    options.max_queue = 1;
    start();
    auto clients = world.executor({.threads = 10});
    std::map<std::string, int> answers;
    for (int i = 0; i < 10; ++i) {
        clients->post([&, i] {
            Client client(from(fmt::format("c{}", i)));
            ++answers[ask(client, "https://store:8140/slow").substr(0, 3)];
        });
    }
    clients->stop();
    // Two workers and one queue slot.
    EXPECT_EQ(answers, (std::map<std::string, int>{{"200", 3}, {"503", 7}}));
}

TEST_F(MemoryNetworkTest, PartitionedHostsReceiveNothing) {
    start();
    auto options = from("one");
    options.timeout = 20s;
    options.connect_timeout = 5s;
    Client client(options);
    network.part("one", "store");
    EXPECT_EQ(ask(client, "https://store:8140/slow"), "GET https://store:8140/slow: timed out");
    network.join("store", "one");
    EXPECT_EQ(ask(client, "https://store:8140/slow"), "200 slept");
    // Requests in progress wait until the network works again.
    auto later = world.executor({});
    later->post_after(1s, [&] { network.part("one", "store"); });
    later->post_after(15s, [&] { network.join("one", "store"); });
    auto begin = world.now();
    EXPECT_EQ(ask(client, "https://store:8140/slow"), "200 slept");
    EXPECT_GE(world.now() - begin, 15s);
    EXPECT_LT(world.now() - begin, 16s);
}

TEST_F(MemoryNetworkTest, ResetErrorsContainTheUrl) {
    start();
    network.faults.resets = 1'000'000;
    Client client(from("one"));
    EXPECT_EQ(ask(client, "https://store:8140/who"),
              "GET https://store:8140/who: Connection reset by peer");
    network.faults.resets = 0;
    EXPECT_EQ(ask(client, "https://store:8140/who").substr(0, 3), "403");
    network.faults.refusals = 1'000'000;
    Client other(from("two"));
    EXPECT_EQ(ask(other, "https://store:8140/who"),
              "GET https://store:8140/who: Connection refused");
}

TEST_F(MemoryNetworkTest, StopCompletesRequests) {
    start();
    auto clients = world.executor({});
    std::string answer;
    clients->post([&] {
        Client client(from("one"));
        answer = ask(client, "https://store:8140/slow");
    });
    world.run_for(1s);
    auto begin = world.now();
    server->stop(20s);
    EXPECT_GE(world.now() - begin, 8s);
    clients->stop();
    EXPECT_EQ(answer, "200 slept");
}

}  // namespace
}  // namespace bunraku::http
