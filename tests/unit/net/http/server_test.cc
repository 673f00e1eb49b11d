// SPDX-License-Identifier: Apache-2.0
// Tests the server over real sockets, on ports that the system chooses.
#include "net/http/server.h"

#include <arpa/inet.h>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "core/sys/process.h"
#include "net/http/client.h"
#include "net/http/local_socket.h"
#include "net/http/network.h"
#include "net/http/url.h"
#include "net/pki/authority.h"

namespace bunraku::http {
namespace {

struct Folder {
    std::string path;
    Folder() {
        char name[] = "/tmp/bunraku-http-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::system(("rm -rf " + path).c_str()); }
    std::string put(const std::string& name, const std::string& text) {
        std::ofstream(path + "/" + name) << text;
        return path + "/" + name;
    }
};

/// A client that sends exactly the given bytes.
class Raw {
public:
    explicit Raw(const Server& server, std::size_t listener = 0) {
        auto url = parse_url(server.urls().at(listener)).value();
        fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_port = htons(url.port);
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&a), sizeof a), 0);
        timeval t{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    }
    ~Raw() { ::close(fd_); }
    void send(std::string_view text) {
        while (!text.empty()) {
            auto n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
            if (n <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    void end() { ::shutdown(fd_, SHUT_WR); }
    int fd() const { return fd_; }
    /// Reads to the end of the connection.
    std::string all() {
        std::string out;
        char buffer[4096];
        ssize_t n;
        while ((n = ::recv(fd_, buffer, sizeof buffer, 0)) > 0)
            out.append(buffer, static_cast<std::size_t>(n));
        return n == 0 ? out : out + "<no end>";
    }
    std::string until(std::string_view mark) {
        std::string out;
        char c;
        while (out.find(mark) == std::string::npos && ::recv(fd_, &c, 1, 0) == 1) out += c;
        return out;
    }

private:
    int fd_;
};

Router test_router() {
    Router router;
    RouteOptions immediate;
    immediate.immediate = true;
    RouteOptions large;
    large.max_body = 10 << 20;
    router.add(
        "GET", "/fast/{x}", Access::anyone(),
        [](Request& r) { return Response::text(200, r.param("x")); }, immediate);
    router.add("GET", "/pool/{x}", Access::anyone(),
               [](Request& r) { return Response::text(200, r.param("x")); });
    router.add(
        "POST", "/echo", Access::anyone(), [](Request& r) { return Response::text(200, r.body); },
        large);
    router.add("POST", "/small", Access::anyone(),
               [](Request& r) { return Response::text(200, r.body); }, {.max_body = 10});
    router.add("POST", "/fast-echo", Access::anyone(),
               [](Request& r) { return Response::text(200, r.body); },
               {.max_body = 100, .immediate = true});
    router.add("GET", "/throw", Access::anyone(),
               [](Request&) -> Response { throw std::runtime_error("x"); });
    router.add("GET", "/header", Access::anyone(), [](Request&) {
        auto r = Response::text(200, "x");
        r.headers.set("X-A", "b\r\nX-Evil: 1");
        return r;
    });
    for (bool now : {false, true}) {
        router.add("GET", now ? "/stream-now/{n}" : "/stream/{n}", Access::anyone(),
                   [](Request& r) {
                       Response out = Response::json(200, "");
                       auto left = std::make_shared<int>(std::stoi(std::string(r.param("n"))));
                       out.producer = [left, cut = *left == 700](std::string& piece) {
                           if (*left < 0) throw std::runtime_error("cut");
                           if (*left == 0) return false;
                           if (cut && *left == 100) *left = -1;
                           --*left;
                           piece.assign(1000, static_cast<char>('a' + *left % 26));
                           return true;
                       };
                       return out;
                   },
                   {.immediate = now});
    }
    router.add("GET", "/secret", Access::rule([](const Request& r) -> std::optional<Response> {
                   if (r.peer.name() == "good") return std::nullopt;
                   return Response::text(403, "not " + std::string(r.peer.name()));
               }),
               [](Request&) { return Response::text(200, "secret"); });
    router.add(
        "POST", "/locked", Access::rule([](const Request&) -> std::optional<Response> {
            return Response::text(403, "locked");
        }),
        [](Request& r) { return Response::text(200, r.body); }, large);
    router.add("GET", "/known", Access::certificate(),
               [](Request&) { return Response::text(200, "known"); });
    router.add("GET", "/certificate", Access::anyone(), [](Request& r) {
        const auto& c = r.peer.certificate;
        if (!c) return Response::text(200, "none");
        std::string out = c->subject + " " + c->issuer + " " + c->serial;
        for (const auto& name : c->alternative_names) out += " " + name;
        for (const auto& e : c->extensions) out += " " + e.name + "=" + e.value;
        const auto* role = c->extension("pp_role");
        const auto* auth = c->extension("1.3.6.1.4.1.34380.1.3.39");
        out += fmt::format(" [{} {}]", role ? *role : "-", auth ? *auth : "-");
        return Response::text(200, out);
    });
    router.add("GET", "/peer", Access::anyone(), [](Request& r) {
        return Response::text(
            200, r.peer.address + (r.peer.tls ? " tls " : " plain ") + std::string(r.peer.name()));
    });
    return router;
}

std::unique_ptr<Server> start(ServerOptions options = {}, Router router = test_router()) {
    if (options.listeners.empty()) options.listeners = {{}};
    auto server = Server::start(std::move(router), std::move(options));
    EXPECT_TRUE(server) << server.error().message;
    return std::move(*server);
}

std::string body_of(const std::string& answer) {
    auto at = answer.find("\r\n\r\n");
    return at == std::string::npos ? "<none>" : answer.substr(at + 4);
}

TEST(Server, KeepAlivePipeliningAndClose) {
    auto server = start();
    Raw raw(*server);
    raw.send(
        "GET /fast/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /pool/2 HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /fast-echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        "HEAD /fast/4 HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n5");
    raw.send("5\r\n0\r\n\r\n\r\nGET /fast/6 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    auto answer = raw.all();
    std::string bodies;
    std::size_t at = 0, count = 0;
    while ((at = answer.find("\r\n\r\n", at)) != std::string::npos) {
        at += 4;
        count++;
        bodies += answer.substr(at, answer.find("HTTP/", at) - at) + "|";
    }
    EXPECT_EQ(count, 6u);
    EXPECT_EQ(bodies, "1|2|abc||55|6|");
    EXPECT_NE(answer.find("Date: "), std::string::npos);
    EXPECT_NE(answer.find("Content-Length: 1\r\n"), std::string::npos);
    EXPECT_EQ(server->load().requests, 6u);
}

TEST(Server, Http10) {
    auto server = start();
    Raw raw(*server);
    raw.send("GET /fast/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE(raw.until("\r\n\r\n").find("Connection: keep-alive"), std::string::npos);
    raw.until("1");
    raw.send("GET /stream/200 HTTP/1.0\r\n\r\n");
    auto answer = raw.all();
    EXPECT_EQ(body_of(answer).size(), 200000u);
    EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

TEST(Server, RefusalsCloseTheConnection) {
    auto server = start();
    struct Case {
        std::string request;
        int status;
    };
    const std::string big(70 << 10, 'x');
    for (const auto& c : std::initializer_list<Case>{
             {"GET / HTTP/1.1\nHost: x\n\n", 400},
             {"\x16\x03\x01\x02\n", 400},
             {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: "
              "chunked\r\n\r\n0\r\n\r\nGET /fast/evil HTTP/1.1\r\nHost: x\r\n\r\n",
              400},
             {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
             {"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", 413},
             {"POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n", 413},
             {"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nGET / HTTP", 413},
             {"GET /" + big, 414},
             {"GET / HTTP/1.1\r\nHost: x\r\nA: " + big, 431},
             {"GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", 417},
         }) {
        Raw raw(*server);
        raw.send(c.request);
        auto answer = raw.until("\r\n\r\n");
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 " + std::to_string(c.status)) << c.request;
        EXPECT_NE(answer.find("Connection: close"), std::string::npos);
        raw.end();
        EXPECT_EQ(raw.all().find("evil"), std::string::npos);
    }
}

TEST(Server, ExpectContinue) {
    auto server = start();
    Raw raw(*server);
    raw.send(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
        "Connection: close\r\n\r\n");
    EXPECT_EQ(raw.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    raw.send("abc");
    EXPECT_EQ(body_of(raw.all()), "abc");
    Raw refused(*server);
    refused.send(
        "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n"
        "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(refused.until("\r\n").substr(0, 12), "HTTP/1.1 413");
}

TEST(Server, StreamsFilesAndCompression) {
    Folder folder;
    std::string content;
    for (int i = 0; i < 300000; i++) content += static_cast<char>('a' + i % 23);
    auto path = folder.put("file", content);
    auto router = test_router();
    router.add("GET", "/file", Access::anyone(), [path](Request&) {
        Response r;
        r.headers.set("Content-Type", "application/octet-stream");
        r.file = Response::File{path, 10, 250000};
        return r;
    });
    router.add("GET", "/gone", Access::anyone(), [path](Request&) {
        Response r;
        r.file = Response::File{path + "x", 0, 1};
        return r;
    });
    router.add("GET", "/long", Access::anyone(),
               [content](Request&) { return Response::text(200, content); });
    auto server = start({}, std::move(router));
    auto url = server->urls()[0];
    Client client;
    for (std::string kind : {"/stream/", "/stream-now/"}) {
        for (int n : {0, 1, 60, 1000}) {
            auto answer = client.get(url + kind + std::to_string(n));
            ASSERT_TRUE(answer) << answer.error().message;
            EXPECT_EQ(answer->body.size(), static_cast<std::size_t>(n) * 1000);
            EXPECT_EQ(answer->headers.get("Content-Encoding"),
                      n >= 60 || n == 0 ? (n ? "gzip" : "") : "");
            ClientRequest plain{.url = url + kind + std::to_string(n)};
            plain.headers.set("Accept-Encoding", "identity");
            EXPECT_EQ(client.send(plain)->body, answer->body);
        }
    }
    // the stream fails halfway, so the end is missing
    EXPECT_FALSE(client.get(url + "/stream/700"));
    EXPECT_EQ(client.get(url + "/file")->body, content.substr(10, 250000));
    EXPECT_EQ(client.get(url + "/gone")->status, 404);
    auto packed = client.get(url + "/long");
    EXPECT_EQ(packed->headers.get("Content-Encoding"), "gzip");
    EXPECT_EQ(packed->body, content);
    ClientRequest head{.method = "HEAD", .url = url + "/long"};
    head.headers.set("Accept-Encoding", "identity");
    EXPECT_EQ(client.send(head)->headers.get("Content-Length"), "300000");
    EXPECT_EQ(client.get(url + "/throw")->status, 500);
    EXPECT_FALSE(client.get(url + "/header")->headers.has("X-Evil"));
    std::string seen;
    auto down = client.download({.url = url + "/file"}, [&](std::string_view piece) {
        seen += piece;
        return true;
    });
    EXPECT_EQ(down->body, "");
    EXPECT_EQ(seen, content.substr(10, 250000));
}

TEST(Server, SlowClientsAreDisconnected) {
    ServerOptions options;
    options.request_timeout = std::chrono::seconds(1);
    options.idle_timeout = std::chrono::seconds(1);
    auto server = start(std::move(options));
    Raw idle(*server), slow_head(*server), slow_body(*server);
    slow_head.send("GET / HT");
    slow_body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_EQ(idle.all(), "");
    EXPECT_EQ(slow_head.all().substr(0, 12), "HTTP/1.1 408");
    EXPECT_EQ(slow_body.all().substr(0, 12), "HTTP/1.1 408");
}

/// Handlers wait here until the test releases them.
struct Gate {
    std::mutex mutex;
    std::condition_variable wake;
    int waiting = 0;
    bool open = false;
    void pass() {
        std::unique_lock lock(mutex);
        waiting++;
        wake.notify_all();
        wake.wait(lock, [this] { return open; });
    }
    void wait_for(int n) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return waiting >= n; });
    }
    void release() {
        std::lock_guard lock(mutex);
        open = true;
        wake.notify_all();
    }
};

TEST(Server, FullQueueAndTooManyConnections) {
    Gate gate;
    auto router = test_router();
    router.add("GET", "/wait", Access::anyone(), [&](Request&) {
        gate.pass();
        return Response::text(200, "waited");
    });
    ServerOptions options;
    options.worker_threads = 2;
    options.max_queue = 1;
    options.max_connections = 5;
    auto server = start(std::move(options), std::move(router));
    const std::string ask = "GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    Raw one(*server), two(*server), queued(*server), refused(*server), fifth(*server);
    one.send(ask);
    gate.wait_for(1);
    two.send(ask);
    gate.wait_for(2);
    queued.send(ask);
    while (server->load().queued < 1) std::this_thread::yield();
    refused.send(ask);
    EXPECT_EQ(refused.all().substr(0, 12), "HTTP/1.1 503");
    fifth.send("GET /fast/x HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(fifth.until("x").substr(0, 12), "HTTP/1.1 200");
    while (server->load().connections > 4) std::this_thread::yield();
    Raw again(*server);
    again.send("GET /fast/x HTTP/1.1\r\nHost: x\r\n\r\n");
    again.until("\r\n\r\n");
    Raw sixth(*server);
    EXPECT_EQ(sixth.until("\r\n").substr(0, 12), "HTTP/1.1 503");
    gate.release();
    EXPECT_EQ(body_of(one.all()), "waited");
    EXPECT_EQ(body_of(queued.all()), "waited");
}

TEST(Server, StopCompletesRequests) {
    Gate gate;
    auto router = test_router();
    router.add("GET", "/wait", Access::anyone(), [&](Request&) {
        gate.pass();
        return Response::text(200, "waited");
    });
    auto server = start({}, std::move(router));
    Raw busy(*server), idle(*server);
    idle.send("GET /fast/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    idle.until("1\r\n\r\n1");
    busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    gate.wait_for(1);
    std::thread stopper([&] { server->stop(std::chrono::seconds(10)); });
    EXPECT_EQ(idle.all(), "");
    gate.release();
    auto answer = busy.all();
    EXPECT_EQ(body_of(answer), "waited");
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
    stopper.join();
}

TEST(Server, StopInterruptsRequestsAfterTimeout) {
    auto server = start({.worker_threads = 2});
    std::vector<std::unique_ptr<Raw>> clients;
    for (int i = 0; i < 20; i++) {
        clients.push_back(std::make_unique<Raw>(*server));
        clients.back()->send("GET /stream/100000 HTTP/1.1\r\nHost: x\r\n\r\n");
        clients.back()->until("\r\n\r\n");
    }
    server->stop(std::chrono::seconds(0));
    for (auto& c : clients) EXPECT_LT(c->all().size(), 100000000u);
}

TEST(Server, ManyThreadsAtOnce) {
    std::atomic<int> logged{0};
    ServerOptions options;
    options.io_threads = 2;
    options.access_log = [&](const Request&, int, std::uint64_t, std::int64_t) { logged++; };
    auto server = start(std::move(options));
    auto url = server->urls()[0];
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            Client client;
            for (int i = 0; i < 50; i++) {
                auto path = i % 3 == 0   ? "/fast/" + std::to_string(i)
                            : i % 3 == 1 ? "/pool/" + std::to_string(i)
                                         : "/stream/" + std::to_string(i * 3);
                auto answer = client.get(url + path);
                if (answer && answer->status == 200 &&
                    (i % 3 == 2 ? answer->body.size() == static_cast<std::size_t>(i) * 3000
                                : answer->body == std::to_string(i))) {
                    good++;
                }
            }
        });
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(good, 400);
    server->stop();
    EXPECT_EQ(logged, 400);
}

TEST(Server, ListensOnAUnixSocket) {
    Folder folder;
    const std::string deep = folder.path + "/" + std::string(90, 'd');
    ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
    // Longer than the maximum length of a socket address.
    const std::string path = deep + "/server.socket";
    // A socket of an earlier process.
    ::close(listen_local(path).value());
    const auto serve = [&] {
        Router router;
        router.add("GET", "/who", Access::local_only(),
                   [](Request& request) { return Response::text(200, request.peer.address); });
        ServerOptions options;
        options.listeners = {Listener{.path = path}, Listener{}};
        return Server::start(std::move(router), std::move(options)).value();
    };
    auto server = serve();
    ASSERT_EQ(server->urls().size(), 1U);
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFSOCK | 0600));
    const auto network = local_network(path);
    ClientOptions options;
    options.network = network.get();
    EXPECT_EQ(Client(options).get("http://localhost/who").value().body, "local");
    EXPECT_EQ(Client().get(server->urls()[0] + "/who").value().body, "127.0.0.1");
    server->stop();
    EXPECT_NE(::stat(path.c_str(), &status), 0);
    EXPECT_FALSE(Client(options).get("http://localhost/who"));
}

TEST(Server, ReportsAddressInUse) {
    auto server = start();
    auto url = parse_url(server->urls()[0]).value();
    ServerOptions options;
    options.listeners = {{"127.0.0.1", url.port, false}};
    auto second = Server::start(Router(), std::move(options));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message,
              "Could not listen on " + server->urls()[0] + ": Address already in use");
}

TEST(Server, TlsWithClientCertificates) {
    Folder folder;
    auto ca = pki::Authority::create("CA").value();
    auto stranger_ca = pki::Authority::create("Other CA").value();
    auto put = [&](const std::string& name, const pki::Identity& identity) {
        folder.put(name + ".pem", identity.certificate.pem());
        folder.put(name + ".key", identity.key.pem());
    };
    auto revoked = ca.issue({"revoked"}).value();
    pki::Subject subject{"agent", {"DNS:agent", "DNS:a.example", "IP:10.0.0.1", "IP:fe80::1"}};
    subject.extensions = {{"1.3.6.1.4.1.34380.1.1.13", "web"},
                          {"1.3.6.1.4.1.34380.1.2.7", "own"},
                          {"1.3.6.1.4.1.34380.1.3.39", "true"},
                          {"1.3.6.1.4.1.99999.1", "of others"}};
    auto agent = ca.issue(subject).value();
    put("agent", agent);
    put("server", ca.issue({"server", {"DNS:localhost", "IP:127.0.0.1"}}).value());
    put("good", ca.issue({"good"}).value());
    put("other", ca.issue({"other"}).value());
    put("stranger", stranger_ca.issue({"good"}).value());
    put("revoked", revoked);
    auto ca_file = folder.put("ca.pem", ca.certificate().pem());
    auto crl = folder.put("crl.pem", ca.crl_pem().value());

    ServerOptions options;
    options.listeners = {{.tls = true}, {}};
    options.tls = {folder.path + "/server.pem", folder.path + "/server.key", ca_file, crl, false};
    auto files = options.tls;
    auto server = start(std::move(options));
    auto url = server->urls()[0];
    ASSERT_TRUE(url.starts_with("https://127.0.0.1:"));
    auto client = [&](const std::string& name) {
        ClientOptions o;
        o.ca_file = ca_file;
        if (!name.empty()) {
            o.certificate_file = folder.path + "/" + name + ".pem";
            o.private_key_file = folder.path + "/" + name + ".key";
        }
        return Client(o);
    };
    auto good = client("good");
    EXPECT_EQ(good.get(url + "/peer")->body, "127.0.0.1 tls good");
    EXPECT_EQ(good.get(url + "/secret")->body, "secret");
    EXPECT_EQ(good.get(url + "/stream/500")->body.size(), 500000u);
    EXPECT_EQ(client("other").get(url + "/secret")->body, "not other");
    EXPECT_EQ(client("").get(url + "/secret")->status, 403);
    EXPECT_FALSE(client("stranger").get(url + "/secret"));
    // Two clients that keep their connections open while the server reloads the CRL.
    auto staying = client("revoked");
    EXPECT_EQ(staying.get(url + "/peer")->body, "127.0.0.1 tls revoked");
    EXPECT_EQ(staying.get(url + "/known")->body, "known");
    EXPECT_EQ(client("").get(url + "/known")->status, 403);
    ca.revoke(revoked.certificate);
    folder.put("crl.pem", ca.crl_pem().value());
    ASSERT_TRUE(server->reload_tls(files));
    EXPECT_FALSE(client("revoked").get(url + "/peer"));
    EXPECT_EQ(staying.get(url + "/known")->body, "The client certificate is revoked");
    EXPECT_EQ(staying.get(url + "/peer")->body, "127.0.0.1 tls ");
    EXPECT_EQ(good.get(url + "/secret")->body, "secret");
    EXPECT_EQ(good.get(url + "/known")->body, "known");
    EXPECT_EQ(client("").get(url + "/certificate")->body, "none");
    EXPECT_EQ(client("agent").get(url + "/certificate")->body,
              "/CN=agent /CN=CA " + agent.certificate.serial() +
                  " DNS:agent DNS:a.example IP:10.0.0.1 IP:fe80::1 pp_role=web "
                  "1.3.6.1.4.1.34380.1.2.7=own pp_cli_auth=true [web true]");
    EXPECT_EQ(client("good").get(url + "/peer")->status, 200);
    // Large bodies in both directions, and a server with a certificate of an unknown CA.
    std::string large(3 << 20, 'z');
    EXPECT_EQ(good.send({.method = "POST", .url = url + "/echo", .body = large})->body, large);
    ClientOptions strict;
    strict.ca_file = folder.put("other-ca.pem", stranger_ca.certificate().pem());
    auto refused = Client(strict).get(url + "/peer");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("certificate verify failed"), std::string::npos)
        << refused.error().message;
    ClientOptions named;
    named.ca_file = ca_file;
    auto port = parse_url(url).value().port;
    EXPECT_EQ(Client(named).get("https://localhost:" + std::to_string(port) + "/peer")->status,
              200);
    // Plain HTTP on the TLS port is not a valid request.
    Raw raw(*server, 0);
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(raw.all().find("HTTP/1.1"), std::string::npos);
    EXPECT_EQ(Client().get(server->urls()[1] + "/peer")->body, "127.0.0.1 plain ");
    files.private_key = folder.path + "/good.key";
    EXPECT_EQ(server->reload_tls(files).error().message,
              "The private key " + files.private_key + " does not belong to the certificate " +
                  files.certificate);
}

// Verification works as in Ruby, and so as in Puppet. Clients that use the system's CAs do not
// check CRLs.
TEST(Client, VerifiesCertificates) {
    Folder folder;
    auto ca = pki::Authority::create("CA").value();
    auto other = pki::Authority::create("Other CA").value();
    ClientOptions o;
    o.ca_file = folder.put("ca.pem", ca.certificate().pem());
    const auto answer = [&](const std::string& name) {
        const auto identity = ca.issue({"server", {"DNS:" + name}}).value();
        ServerOptions options;
        options.listeners = {{.tls = true}};
        options.tls = {folder.put("server.pem", identity.certificate.pem()),
                       folder.put("server.key", identity.key.pem()), o.ca_file, "", false};
        auto server = start(std::move(options));
        const auto got = Client(o).get(server->urls()[0] + "/peer");
        return got ? std::to_string(got->status) : got.error().message;
    };
    EXPECT_EQ(answer("127.0.0.1"), "200");
    EXPECT_NE(answer("127.0.0.2").find("did not match server certificate"), std::string::npos);
    o.crl_file = folder.put("crl.pem", other.crl_pem().value());
    EXPECT_NE(answer("127.0.0.1").find("certificate verify failed"), std::string::npos);
    o.system_authorities = true;
    EXPECT_EQ(answer("127.0.0.1"), "200");
}

TEST(Server, RefusedBeforeTheBody) {
    auto server = start();
    for (const char* framing : {"Content-Length: 5000000", "Transfer-Encoding: chunked"}) {
        for (const char* path : {"/locked", "/l%6fcked", "/%6C%6f%63%6b%65%64"}) {
            Raw raw(*server);
            raw.send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n{}\r\n\r\n", path, framing));
            // The response arrives although the client has not sent any of the body.
            EXPECT_EQ(raw.until("locked").substr(0, 12), "HTTP/1.1 403") << path << framing;
        }
        Raw hopeful(*server);
        hopeful.send(
            fmt::format("POST /locked HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                        "{}\r\n\r\n",
                        framing));
        EXPECT_EQ(hopeful.until("locked").substr(0, 12), "HTTP/1.1 403");
    }
    for (const char* path :
         {"//locked", "/./locked", "/a/../locked", "/%2e/locked", "/%00", "/locked%c0%af", "/%"}) {
        Raw raw(*server);
        raw.send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", path));
        EXPECT_EQ(raw.until("\r\n"), "HTTP/1.1 400 Bad Request\r\n") << path;
    }
}

// Child processes inherit neither listening nor accepted sockets.
TEST(Server, SocketsAreClosedOnExec) {
    ServerOptions options;
    options.listeners = {{}, {"::1", 0, false}};
    auto server = start(std::move(options));
    Raw one(*server), two(*server);
    for (auto* raw : {&one, &two}) {
        raw->send("GET /fast/1 HTTP/1.1\r\nHost: x\r\n\r\n");
        raw->until("\r\n\r\n1");
    }
    int sockets = 0;
    for (int fd = 3; fd < 1000; ++fd) {
        struct stat st{};
        if (::fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode)) continue;
        if (fd == one.fd() || fd == two.fd()) continue;
        ++sockets;
        EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
    }
    EXPECT_EQ(sockets, 4);
    // Tests each file descriptor separately, because listing a folder opens a descriptor too.
    auto listed = sys::make_real_processes()->run(
        {.argv = {"sh", "-c",
                  "i=0; while [ $i -lt 100 ]; do [ -e /proc/$$/fd/$i ] && echo $i; "
                  "i=$((i+1)); done; exit 0"}});
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->output, "0\n1\n2\n");
    // Stops the server before the clients. Otherwise it closes the checked sockets without a
    // synchronization that ThreadSanitizer recognizes.
    server.reset();
}

TEST(Client, RedirectsDropCredentialsForOtherHosts) {
    Router other;
    other.add("*", "/{rest*}", Access::anyone(), [](Request& r) {
        return Response::text(
            200, r.method + " " + std::string(r.headers.get("Authorization")) + "|" + r.body);
    });
    auto far = start({}, std::move(other));
    Router router;
    auto redirect = [](int status, std::string to) {
        return [status, to](Request&) {
            Response r = Response::text(status, "");
            r.headers.set("Location", to);
            return r;
        };
    };
    router.add("*", "/far", Access::anyone(), redirect(302, far->urls()[0] + "/x"));
    router.add("*", "/keep", Access::anyone(), redirect(307, far->urls()[0] + "/x"));
    router.add("*", "/near", Access::anyone(), redirect(301, "here"));
    router.add("*", "/loop", Access::anyone(), redirect(302, "/loop"));
    router.add("*", "/here", Access::anyone(), [](Request& r) {
        return Response::text(200, std::string(r.headers.get("Authorization")));
    });
    auto server = start({}, std::move(router));
    auto url = server->urls()[0];
    ClientOptions options;
    options.authorization = "Bearer t";
    Client client(options);
    EXPECT_EQ(client.get(url + "/near")->body, "Bearer t");
    EXPECT_EQ(client.get(url + "/near")->url, url + "/here");
    EXPECT_EQ(client.get(url + "/far")->body, "GET |");
    ClientRequest post{.method = "POST", .url = url + "/far", .body = "b"};
    EXPECT_EQ(client.send(post)->body, "GET |");
    post.url = url + "/keep";
    EXPECT_EQ(client.send(post)->body, "POST |b");
    EXPECT_FALSE(client.get(url + "/loop"));
    auto at = url.find("127");
    EXPECT_EQ(Client().get(url.substr(0, at) + "u:p@" + url.substr(at) + "/here")->body,
              "Basic dTpw");
}

TEST(Client, ErrorsExplainTlsFailuresAndOmitTheQuery) {
    auto plain = start();
    auto url = plain->urls()[0];
    url.replace(0, 4, "https");
    const auto answer = Client().get(url + "/x?environment=production");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message,
              "GET " + url +
                  "/x: the server does not answer in TLS; it may expect plain HTTP on this port");
}

TEST(Client, ErrorsNameTheUrl) {
    auto server = start();
    auto url = server->urls()[0];
    server->stop();
    auto answer = Client().get(url + "/x");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message, "GET " + url + "/x: Connection refused");
    // After a stop, the port is closed, even if the server had not completely started.
    for (int i = 0; i < 20; ++i) {
        auto hasty = start();
        auto its = hasty->urls()[0] + "/x";
        hasty->stop();
        EXPECT_EQ(Client().get(its).error().message, "GET " + its + ": Connection refused");
    }
    auto again = start();
    ClientOptions small;
    small.max_body = 1000;
    EXPECT_FALSE(Client(small).get(again->urls()[0] + "/stream/2"));
    // After a restart of the server, the client does not use the old connection.
    Client client;
    ASSERT_TRUE(client.get(again->urls()[0] + "/fast/1"));
    again->stop();
    ServerOptions same;
    same.listeners = {{"127.0.0.1", parse_url(again->urls()[0]).value().port, false}};
    auto third = start(same);
    EXPECT_EQ(client.get(third->urls()[0] + "/fast/2")->body, "2");
}

}  // namespace
}  // namespace bunraku::http
