// SPDX-License-Identifier: Apache-2.0
// Responses that are written while they are sent: over sockets with threads, and over the memory
// network in virtual time.
#include "net/http/body_stream.h"

#include <algorithm>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <set>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "net/http/client.h"
#include "net/http/network.h"
#include "net/http/server.h"
#include "net/http/url.h"
#include "testing/memory_network.h"

namespace bunraku::http {
namespace {

using namespace std::chrono_literals;

TEST(BodyStream, QueuesUpToItsLimit) {
    BodyStream stream(10);
    int woken = 0;
    std::string out;
    EXPECT_EQ(stream.take(out, [&] { ++woken; }), BodyStream::Taken::Nothing);
    EXPECT_TRUE(stream.push("12345"));
    EXPECT_TRUE(stream.push("6789"));
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(stream.waiting(), 9u);
    EXPECT_EQ(stream.take(out, {}), BodyStream::Taken::Bytes);
    EXPECT_EQ(out, "123456789");
    EXPECT_TRUE(stream.push("1234567890"));
    EXPECT_FALSE(stream.ended());
    EXPECT_FALSE(stream.push("x"));
    EXPECT_TRUE(stream.ended());
    out.clear();
    EXPECT_EQ(stream.take(out, {}), BodyStream::Taken::Overflow);
}

TEST(BodyStream, FinishSendsTheRestFirst) {
    BodyStream stream;
    EXPECT_TRUE(stream.push("rest"));
    stream.finish();
    EXPECT_FALSE(stream.push("more"));
    std::string out;
    EXPECT_EQ(stream.take(out, {}), BodyStream::Taken::Bytes);
    EXPECT_EQ(out, "rest");
    out.clear();
    EXPECT_EQ(stream.take(out, {}), BodyStream::Taken::End);
}

TEST(BodyStream, DetachForgetsTheConnection) {
    BodyStream stream;
    int woken = 0;
    std::string out;
    EXPECT_EQ(stream.take(out, [&] { ++woken; }), BodyStream::Taken::Nothing);
    stream.detach();
    EXPECT_TRUE(stream.ended());
    EXPECT_FALSE(stream.push("x"));
    stream.finish();
    EXPECT_EQ(woken, 0);
}

/// The streams that clients have opened, in the order of their requests.
class Streams {
public:
    std::shared_ptr<BodyStream> open(std::size_t limit) {
        auto stream = std::make_shared<BodyStream>(limit);
        const std::lock_guard lock(mutex_);
        all_.push_back(stream);
        return stream;
    }
    std::vector<std::shared_ptr<BodyStream>> all() {
        const std::lock_guard lock(mutex_);
        return all_;
    }

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<BodyStream>> all_;
};

Router router_with(Streams& streams) {
    Router router;
    AccessPolicy policy;
    policy.plain_is_trusted = true;
    router.set_policy(std::move(policy));
    const auto open = [&streams](Request&) {
        Response out;
        out.headers.set("Content-Type", "text/event-stream");
        set_stream(out, streams.open(1 << 20));
        return out;
    };
    router.add("GET", "/events", Access::anyone(), open);
    router.add("GET", "/events-now", Access::anyone(), open, {.immediate = true});
    router.add("GET", "/none", Access::anyone(), [&streams](Request&) {
        Response out;
        out.status = 204;
        set_stream(out, streams.open(1000));
        return out;
    });
    router.add("GET", "/plain", Access::anyone(),
               [](Request&) { return Response::text(200, "plain"); });
    return router;
}

/// Waits for a state, and fails if it does not come.
void await(const std::function<bool()>& reached, const char* what) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!reached()) {
        if (std::chrono::steady_clock::now() > until) FAIL() << "does not come: " << what;
        std::this_thread::sleep_for(1ms);
    }
}

class Socket {
public:
    explicit Socket(const Server& server) {
        const auto url = parse_url(server.urls().at(0)).value();
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(url.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        timeval limit{60, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Socket& operator=(Socket&&) = delete;
    ~Socket() { close(); }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    void send(std::string_view text) const {
        ASSERT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    /// Reads until `mark`, or to the end if it does not come.
    std::string until(std::string_view mark) const {
        std::string out;
        char c;
        while (!out.ends_with(mark) && ::recv(fd_, &c, 1, 0) == 1) out += c;
        return out;
    }
    /// Reads to the end. The time is linear in the length: the buffers of two sockets hold
    /// megabytes.
    std::string rest() const {
        std::string out;
        std::vector<char> piece(64 << 10);
        for (;;) {
            const auto n = ::recv(fd_, piece.data(), piece.size(), 0);
            if (n <= 0) return out;
            out.append(piece.data(), static_cast<std::size_t>(n));
        }
    }

private:
    int fd_ = -1;
};

class StreamingServer : public testing::Test {
protected:
    void SetUp() override {
        ServerOptions options;
        options.listeners = {{}};
        options.worker_threads = 2;
        options.access_log = [this](const Request& request, int status, std::uint64_t bytes,
                                    std::int64_t) {
            const std::lock_guard lock(mutex);
            logged.push_back(fmt::format("{} {} {}", request.target, status, bytes > 0));
        };
        auto started = Server::start(router_with(streams), std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        server = std::move(*started);
    }
    /// Opens a stream, and reads its head.
    Socket open(std::string_view path = "/events", std::string_view version = "1.1",
                std::string* head = nullptr) {
        Socket socket(*server);
        socket.send(fmt::format("GET {} HTTP/{}\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", path,
                                version));
        auto text = socket.until("\r\n\r\n");
        if (head) *head = std::move(text);
        return socket;
    }
    std::size_t logged_count() {
        const std::lock_guard lock(mutex);
        return logged.size();
    }

    Streams streams;
    std::mutex mutex;
    std::vector<std::string> logged;
    std::unique_ptr<Server> server;
};

TEST_F(StreamingServer, SendsWhatIsPushedAndEnds) {
    for (const char* path : {"/events", "/events-now"}) {
        std::string head;
        const auto socket = open(path, "1.1", &head);
        EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos) << head;
        EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos) << head;
        EXPECT_EQ(head.find("gzip"), std::string::npos) << head;
        const auto stream = streams.all().back();
        EXPECT_TRUE(stream->push("one"));
        EXPECT_EQ(socket.until("one\r\n"), "3\r\none\r\n");
        EXPECT_TRUE(stream->push("two"));
        EXPECT_EQ(socket.until("two\r\n"), "3\r\ntwo\r\n");
        EXPECT_TRUE(stream->push("last"));
        stream->finish();
        EXPECT_EQ(socket.rest(), "4\r\nlast\r\n0\r\n\r\n");
    }
    await([&] { return logged_count() == 2; }, "both streams are logged");
    EXPECT_EQ(logged, (std::vector<std::string>{"/events 200 true", "/events-now 200 true"}));
    EXPECT_EQ(server->load().requests, 2u);
}

TEST_F(StreamingServer, OlderClientsReadToTheEndOfTheConnection) {
    std::string head;
    const auto socket = open("/events", "1.0", &head);
    EXPECT_EQ(head.find("chunked"), std::string::npos) << head;
    EXPECT_TRUE(streams.all().back()->push("one"));
    streams.all().back()->finish();
    EXPECT_EQ(socket.rest(), "one");
}

TEST_F(StreamingServer, NoticesThatTheClientHasGone) {
    auto socket = open();
    const auto stream = streams.all().back();
    EXPECT_FALSE(stream->ended());
    socket.close();
    await([&] { return stream->ended(); }, "the stream ends with its client");
    EXPECT_FALSE(stream->push("x"));
    await([&] { return server->load().connections == 0; }, "the connection is closed");
    // A client that sends further requests on the connection is cut off at a limit.
    const auto talker = open();
    const auto other = streams.all().back();
    talker.send(std::string(1000, 'x'));
    EXPECT_TRUE(other->push("still"));
    EXPECT_EQ(talker.until("still\r\n"), "5\r\nstill\r\n");
    for (int i = 0; i < 65; ++i) talker.send(std::string(1000, 'x'));
    await([&] { return other->ended(); }, "the stream ends at the limit");
}

TEST_F(StreamingServer, SlowClientsGetAnIncompleteBody) {
    const auto socket = open();
    const auto stream = streams.all().back();
    // More than the buffers of both sockets and the limit of the stream.
    const std::string piece(100'000, 'x');
    std::size_t pushed = 0;
    for (; pushed < 100'000 && stream->push(piece); ++pushed) {
    }
    EXPECT_LT(pushed, 100'000u);
    EXPECT_TRUE(stream->ended());
    const auto body = socket.rest();
    EXPECT_FALSE(body.ends_with("0\r\n\r\n"));
}

TEST_F(StreamingServer, ResponsesWithoutBodyEndTheStream) {
    Socket socket(*server);
    socket.send("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto head = socket.rest();
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
    EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
    EXPECT_TRUE(streams.all().back()->ended());
    Socket none(*server);
    none.send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(none.rest().starts_with("HTTP/1.1 204 "));
    EXPECT_TRUE(streams.all().back()->ended());
}

TEST_F(StreamingServer, WritersMayOutliveTheServer) {
    const auto socket = open();
    const auto stream = streams.all().back();
    std::thread writer([&] {
        while (stream->push("x")) std::this_thread::yield();
    });
    (void)socket.until("x");
    server.reset();
    writer.join();
    EXPECT_TRUE(stream->ended());
    EXPECT_FALSE(stream->push("x"));
}

// Streams occupy no worker: two workers answer other requests beside a thousand of them, and the
// stop ends all bodies in an orderly way.
TEST_F(StreamingServer, ThousandIdleStreamsAndAStop) {
    rlimit files{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
    constexpr std::size_t kMany = 1000;
    ASSERT_GE(files.rlim_cur, 2 * kMany + 100) << "the limit of open files is too low";
    std::vector<Socket> sockets;
    sockets.reserve(kMany);
    for (std::size_t i = 0; i < kMany; ++i) sockets.push_back(open());
    ASSERT_EQ(streams.all().size(), kMany);
    EXPECT_EQ(server->load().connections, kMany);
    EXPECT_EQ(server->load().queued, 0u);
    ClientOptions options;
    Client client(options);
    for (int i = 0; i < 20; ++i) {
        const auto answer = client.get(server->urls()[0] + "/plain");
        ASSERT_TRUE(answer) << answer.error().message;
        EXPECT_EQ(answer->body, "plain");
    }
    std::vector<std::thread> writers;
    for (std::size_t w = 0; w < 4; ++w) {
        writers.emplace_back([&, w] {
            const auto all = streams.all();
            for (std::size_t i = w; i < all.size(); i += 4)
                EXPECT_TRUE(all[i]->push(fmt::format("#{}.", i)));
        });
    }
    for (auto& writer : writers) writer.join();
    std::set<std::string> received;
    for (const auto& socket : sockets) {
        auto text = socket.until(".\r\n");
        received.insert(text.substr(text.find('#')));
    }
    EXPECT_EQ(received.size(), kMany);
    std::thread stopper([&] { server->stop(30s); });
    for (const auto& socket : sockets) EXPECT_EQ(socket.rest(), "0\r\n\r\n");
    stopper.join();
    for (const auto& stream : streams.all()) EXPECT_TRUE(stream->ended());
    EXPECT_EQ(server->load().connections, 0u);
}

// The same in virtual time, with parts of writes and with clients that disappear.
TEST(StreamingInMemory, SeveralSeeds) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        sys::Simulation world(seed);
        MemoryNetwork network(world);
        network.faults.short_reads = network.faults.short_writes = 300'000;
        Streams streams;
        ServerOptions options;
        options.listeners = {{"console", 80, false}};
        options.network = &network.host("console");
        options.worker_threads = 1;
        auto server = Server::start(router_with(streams), options);
        ASSERT_TRUE(server) << server.error().message;
        ClientOptions from;
        from.network = &network.host("browser");
        from.timeout = 1h;
        auto connector = from.network->connector(from);
        std::vector<std::unique_ptr<Link>> links;
        for (int i = 0; i < 5; ++i) {
            auto link = connector->connect(parse_url("http://console:80").value());
            ASSERT_TRUE(link) << link.error().message;
            ASSERT_TRUE((*link)->write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n"));
            links.push_back(std::move(*link));
        }
        while (streams.all().size() < 5) world.sleep(10ms);
        for (int n = 0; n < 100; ++n) {
            for (const auto& stream : streams.all())
                EXPECT_TRUE(stream->push(fmt::format("{},", n)));
            // Longer than all timeouts: an idle stream is not closed.
            if (n % 10 == 0) world.sleep(5min);
        }
        links.pop_back();
        while (std::ranges::count_if(streams.all(), &BodyStream::ended) == 0) world.sleep(10ms);
        EXPECT_EQ(std::ranges::count_if(streams.all(), &BodyStream::ended), 1);
        (*server)->stop(60s);
        for (auto& link : links) {
            std::string body;
            char buffer[4096];
            for (;;) {
                const auto n = link->read(buffer, sizeof buffer);
                ASSERT_TRUE(n) << n.error().message;
                if (*n == 0) break;
                body.append(buffer, *n);
            }
            EXPECT_TRUE(body.ends_with("\r\n0\r\n\r\n")) << seed;
            EXPECT_NE(body.find("99,"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace bunraku::http
