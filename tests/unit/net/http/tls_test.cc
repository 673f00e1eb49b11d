// SPDX-License-Identifier: Apache-2.0
// Tests TLS sessions that outlive their connections.
#include "net/http/tls.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/http/client.h"
#include "net/http/network.h"
#include "net/http/resuming_network.h"
#include "net/http/router.h"
#include "net/http/server.h"
#include "net/http/session_cache.h"
#include "net/http/url.h"
#include "net/pki/authority.h"
#include "testing/memory_handshakes.h"

namespace bunraku::http {
namespace {

/// Both ends of in-memory connections.
class TlsTest : public testing::Test {
protected:
    TlsTest() {
        char name[] = "/tmp/bunraku-tls-XXXXXX";
        folder_ = ::mkdtemp(name);
        put("ca.pem", ca_.certificate().pem());
        put("crl.pem", ca_.crl_pem().value());
        identity("server", ca_.issue({"server", {"DNS:server"}}).value());
        identity("client", ca_.issue({"client"}).value());
        server_ = make_server_context(files()).value();
        client_ = client_context();
    }
    ~TlsTest() override { std::filesystem::remove_all(folder_); }

    TlsFiles files() const {
        return {folder_ + "/server.pem", folder_ + "/server.key", folder_ + "/ca.pem",
                folder_ + "/crl.pem", false};
    }
    ClientOptions client_options() const {
        ClientOptions options;
        options.ca_file = folder_ + "/ca.pem";
        options.certificate_file = folder_ + "/client.pem";
        options.private_key_file = folder_ + "/client.key";
        return options;
    }
    TlsContext client_context() const { return make_client_context(client_options()).value(); }
    void put(const std::string& name, const std::string& text) {
        std::ofstream(folder_ + "/" + name) << text;
    }
    void identity(const std::string& name, const pki::Identity& identity) {
        put(name + ".pem", identity.certificate.pem());
        put(name + ".key", identity.key.pem());
    }

    /// Runs a complete connection. Returns whether it resumed `session`, and stores the session for
    /// the next connection.
    bool connected(Session& session) {
        TlsClient client;
        EXPECT_TRUE(client.begin(client_.get(), parse_url("https://server:8140/").value(),
                                 session.get(), true));
        const std::unique_ptr<SSL, decltype(&SSL_free)> server(SSL_new(server_.get()), SSL_free);
        BIO* in = BIO_new(BIO_s_mem());
        BIO* out = BIO_new(BIO_s_mem());
        SSL_set_bio(server.get(), in, out);
        SSL_set_accept_state(server.get());
        for (int turn = 0; turn < 5; ++turn) {
            EXPECT_TRUE(client.handshake_step());
            move_bytes(client.out(), in);
            (void)SSL_do_handshake(server.get());
            move_bytes(out, client.in());
        }
        offer_session(server.get());
        EXPECT_EQ(SSL_write(server.get(), "answer", 6), 6);
        move_bytes(out, client.in());
        char answer[16];
        EXPECT_EQ(SSL_read(client.ssl(), answer, sizeof answer), 6);
        session.reset(SSL_get1_session(client.ssl()));
        const auto shown = peer_certificate(server.get());
        EXPECT_TRUE(shown && shown->name == "client" && shown->trust == trust_);
        EXPECT_EQ(SSL_session_reused(server.get()), SSL_session_reused(client.ssl()));
        allow_resumption(server.get());
        return SSL_session_reused(server.get()) == 1;
    }
    /// Reports whether the server has the session in memory and the client has only its ID.
    static bool in_memory(const Session& session) {
        const unsigned char* ticket = nullptr;
        std::size_t size = 0;
        SSL_SESSION_get0_ticket(session.get(), &ticket, &size);
        return size == 32;
    }

    std::string folder_;
    pki::Authority ca_ = pki::Authority::create("CA").value();
    TlsContext server_, client_;
    ClientCertificate::Trust trust_ = ClientCertificate::Trust::Verified;  ///< the expected result
};

TEST_F(TlsTest, ResumesSessionAfterConnectionEnds) {
    Session session;
    EXPECT_FALSE(connected(session));
    EXPECT_TRUE(connected(session));
    EXPECT_TRUE(connected(session));
    // A server that has reloaded its certificates verifies every client again.
    server_ = make_server_context(files()).value();
    EXPECT_FALSE(connected(session));
    EXPECT_TRUE(connected(session));
}

TEST_F(TlsTest, SessionsAreInMemoryUntilCacheIsFull) {
    SSL_CTX_sess_set_cache_size(server_.get(), 6);
    Session early[3];
    Session late;
    for (auto& session : early) {
        EXPECT_FALSE(connected(session));
        EXPECT_TRUE(in_memory(session));
    }
    // Known sessions stay in the cache; new clients cannot evict them.
    EXPECT_FALSE(connected(late));
    EXPECT_FALSE(in_memory(late));
    for (int run = 0; run < 4; ++run) {
        EXPECT_TRUE(connected(late));
        EXPECT_FALSE(in_memory(late));
        for (auto& session : early) {
            EXPECT_TRUE(connected(session));
            EXPECT_TRUE(in_memory(session));
        }
    }
    EXPECT_LE(SSL_CTX_sess_number(server_.get()), 6);
    // A removed session leads to a full handshake.
    SSL_CTX_flush_sessions(server_.get(), 1L << 40);
    EXPECT_EQ(SSL_CTX_sess_number(server_.get()), 0);
    EXPECT_FALSE(connected(early[0]));
    EXPECT_TRUE(connected(early[0]));
}

TEST_F(TlsTest, OlderClientsCanResume) {
    SSL_CTX_set_max_proto_version(client_.get(), TLS1_2_VERSION);
    SSL_CTX_sess_set_cache_size(server_.get(), 2);
    Session named, sealed;
    EXPECT_FALSE(connected(named));
    EXPECT_FALSE(SSL_SESSION_has_ticket(named.get()));
    EXPECT_FALSE(connected(sealed));
    EXPECT_TRUE(SSL_SESSION_has_ticket(sealed.get()));
    for (int run = 0; run < 2; ++run) {
        EXPECT_TRUE(connected(named));
        EXPECT_TRUE(connected(sealed));
    }
    server_ = make_server_context(files()).value();
    EXPECT_FALSE(connected(named));
    EXPECT_FALSE(connected(sealed));
}

TEST_F(TlsTest, NoSessionOutlivesACertificate) {
    const auto now = std::time(nullptr);
    auto key = pki::make_key().value();
    const auto ca = pki::make_certificate({.common_name = "Short",
                                           .not_before = now - 60,
                                           .not_after = now + 600,
                                           .authority = true},
                                          key.native(), nullptr, key)
                        .value();
    auto own = pki::make_key().value();
    const auto leaf = pki::make_certificate(
        {.common_name = "client", .not_before = now - 60, .not_after = now - 10}, own.native(), &ca,
        key);
    put("short.pem", ca.pem());
    identity("client", {leaf.value(), own});
    auto trusting = files();
    trusting.ca = folder_ + "/short.pem";
    trusting.crl.clear();
    server_ = make_server_context(trusting).value();
    client_ = client_context();
    // Sets the clock of the first handshakes to a time at which the certificate was valid; later
    // connections use the current time.
    X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(server_.get()), now - 30);
    SSL_CTX_sess_set_cache_size(server_.get(), 2);
    Session named, sealed;
    EXPECT_FALSE(connected(named));
    EXPECT_FALSE(connected(sealed));
    EXPECT_TRUE(in_memory(named));
    EXPECT_FALSE(in_memory(sealed));
    trust_ = ClientCertificate::Trust::Untrusted;
    EXPECT_TRUE(connected(named));
    EXPECT_TRUE(connected(sealed));
}

// Closes the connection without a TLS close message, as most clients do.
TEST_F(TlsTest, SessionSurvivesDisconnect) {
    ServerOptions options;
    options.listeners = {{.tls = true}};
    options.tls = files();
    auto server = Server::start(Router(), std::move(options)).value();
    Session session;
    const auto resumed = [&] {
        const auto port = parse_url(server->urls()[0]).value().port;
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
        const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(client_.get()), SSL_free);
        SSL_set_fd(ssl.get(), fd);
        if (session) SSL_set_session(ssl.get(), session.get());
        EXPECT_EQ(SSL_connect(ssl.get()), 1);
        const std::string_view asked = "GET / HTTP/1.1\r\nHost: server\r\n\r\n";
        EXPECT_GT(SSL_write(ssl.get(), asked.data(), static_cast<int>(asked.size())), 0);
        char answer[4096];
        EXPECT_GT(SSL_read(ssl.get(), answer, sizeof answer), 0);
        session.reset(SSL_get1_session(ssl.get()));
        allow_resumption(ssl.get());
        ::shutdown(fd, SHUT_WR);
        while (::read(fd, answer, sizeof answer) > 0) {
        }
        ::close(fd);
        return SSL_session_reused(ssl.get()) == 1;
    };
    EXPECT_FALSE(resumed());
    EXPECT_TRUE(in_memory(session));
    EXPECT_TRUE(resumed());
    EXPECT_TRUE(resumed());
    ASSERT_TRUE(server->reload_tls(files()));
    EXPECT_FALSE(resumed());
}

// Several records in both directions, and a client that sends its next request early.
TEST_F(TlsTest, LongBodies) {
    std::string sent(3'000'000, 'x');
    for (std::size_t i = 0; i < sent.size(); i += 1000)
        sent[i] = static_cast<char>('a' + i / 1000 % 26);
    Router router;
    router.add("POST", "/echo", Access::anyone(),
               [](Request& request) { return Response::text(200, request.body); },
               {.max_body = 4'000'000});
    ServerOptions options;
    options.listeners = {{.tls = true}};
    options.tls = files();
    auto server = Server::start(std::move(router), std::move(options)).value();
    const auto port = parse_url(server->urls()[0]).value().port;
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(client_.get()), SSL_free);
    SSL_set_fd(ssl.get(), fd);
    ASSERT_EQ(SSL_connect(ssl.get()), 1);
    const auto ask = [&] {
        const std::string head = "POST /echo HTTP/1.1\r\nHost: server\r\nContent-Length: " +
                                 std::to_string(sent.size()) + "\r\n\r\n";
        const std::string all = head + sent;
        for (std::size_t at = 0; at < all.size();) {
            const int n = SSL_write(ssl.get(), all.data() + at, static_cast<int>(all.size() - at));
            ASSERT_GT(n, 0);
            at += static_cast<std::size_t>(n);
        }
    };
    ask();
    std::string got;
    std::vector<char> buffer(100'000);
    const auto read_answer = [&] {
        std::size_t head = std::string::npos;
        while (head == std::string::npos || got.size() < head + 4 + sent.size()) {
            const int n = SSL_read(ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
            ASSERT_GT(n, 0);
            got.append(buffer.data(), static_cast<std::size_t>(n));
            head = got.find("\r\n\r\n");
        }
        EXPECT_EQ(got.substr(0, 15), "HTTP/1.1 200 OK");
        EXPECT_TRUE(got.substr(head + 4) == sent);
        got.clear();
    };
    read_answer();
    ask();
    read_answer();
    ::close(fd);
}

TEST_F(TlsTest, StoredSessionRequiresSameTrustSettings) {
    constexpr std::int64_t kHour = 3600'000'000'000, kNow = 1000 * kHour;
    ClientOptions options = client_options();
    const auto file = folder_ + "/session";
    const auto url = parse_url("https://server:8140/").value();
    Session session;
    const auto loaded = [&](std::int64_t now, const ClientOptions& as, const Url& where) {
        session = SessionCache(file, as, where, now).load();
        return session != nullptr;
    };
    EXPECT_FALSE(loaded(kNow, options, url));
    EXPECT_FALSE(connected(session));
    SessionCache(file, options, url, kNow).save(session.get(), false);
    struct stat status{};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    ASSERT_TRUE(loaded(kNow, options, url));
    EXPECT_TRUE(connected(session));
    // A session expires a day after the certificate was verified, however often it was resumed.
    SessionCache again(file, options, url, kNow + 20 * kHour);
    (void)again.load();
    again.save(session.get(), true);
    EXPECT_TRUE(loaded(kNow + 23 * kHour, options, url));
    EXPECT_FALSE(loaded(kNow + 25 * kHour, options, url));
    EXPECT_FALSE(loaded(kNow - kHour, options, url));
    EXPECT_FALSE(loaded(kNow, options, parse_url("https://other:8140/").value()));
    EXPECT_FALSE(loaded(kNow, options, parse_url("https://server:8141/").value()));
    ClientOptions other = options;
    other.verify = false;
    EXPECT_FALSE(loaded(kNow, other, url));
    other = options;
    other.crl_file = folder_ + "/crl.pem";
    EXPECT_FALSE(loaded(kNow, other, url));
    other = options;
    other.certificate_file = folder_ + "/server.pem";
    EXPECT_FALSE(loaded(kNow, other, url));
    EXPECT_TRUE(loaded(kNow, options, url));
    std::string text;
    std::getline(std::ifstream(file), text, '\0');
    for (std::size_t size = 0; size < 120; ++size) {
        put("session", text.substr(0, size));
        EXPECT_FALSE(loaded(kNow, options, url)) << size;
    }
    // With other CA certificates, the client must verify the server itself.
    SessionCache(file, options, url, kNow).save(session.get(), false);
    put("ca.pem", pki::Authority::create("Other").value().certificate().pem());
    EXPECT_FALSE(loaded(kNow, options, url));
}

TEST_F(TlsTest, ClientsResumeStoredSession) {
    ServerOptions serving;
    serving.listeners = {{.tls = true}};
    identity("server", ca_.issue({"server", {"DNS:localhost"}}).value());
    serving.tls = files();
    auto server = Server::start(Router(), std::move(serving)).value();
    ClientOptions options = client_options();
    const auto file = folder_ + "/session";
    const auto network = resuming_sockets(file);
    options.network = network.get();
    const auto begun = [&] {
        const auto port = parse_url(server->urls()[0]).value().port;
        Client client(options);
        EXPECT_EQ(client.get("https://localhost:" + std::to_string(port) + "/")->status, 404);
        client = Client();
        std::string line;
        std::getline(std::ifstream(file), line);
        return line;
    };
    const auto first = begun();
    EXPECT_TRUE(first.starts_with("bunraku session 1 "));
    EXPECT_EQ(begun(), first);
    EXPECT_EQ(begun(), first);
    // The server no longer has the session, so a full handshake follows.
    ASSERT_TRUE(server->reload_tls(files()));
    EXPECT_NE(begun(), first);
    // A damaged file must not prevent connections.
    std::stringstream good;
    good << std::ifstream(file).rdbuf();
    for (std::size_t at = 0; at < good.str().size(); at += 37) {
        auto bad = good.str();
        bad[at] = static_cast<char>(bad[at] ^ 0x11);
        put("session", bad);
        (void)begun();
    }
}

TEST_F(TlsTest, MemoryHandshakeIsCachedUntilFileChanges) {
    MemoryHandshakes handshakes;
    ClientOptions options = client_options();
    options.crl_file = folder_ + "/crl.pem";
    const auto url = parse_url("https://server:8140/").value();
    auto server = MemoryServer::read(files()).value();
    /// Returns the name in the client certificate that the server received, or the error.
    const auto connect_to_server = [&](const ClientOptions& client) -> std::string {
        TlsContext context;
        const auto seen = handshakes.between(client, url, context, server);
        return seen ? (*seen ? (*seen)->name : "nobody") : seen.error().message;
    };
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(handshakes.made(), 1U);
    // A server that has read the same certificates again can resume sessions, whatever their paths
    // are.
    std::filesystem::copy_file(folder_ + "/crl.pem", folder_ + "/same.pem");
    auto moved = files();
    moved.crl = folder_ + "/same.pem";
    server = MemoryServer::read(moved).value();
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(handshakes.made(), 1U);
    // A server that checks less cannot resume them.
    moved.crl.clear();
    server = MemoryServer::read(moved).value();
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(handshakes.made(), 2U);
    // The CA in the file has changed, so every connection to the server fails.
    auto other = pki::Authority::create("Other").value();
    put("ca.pem", other.certificate().pem());
    put("crl.pem", other.crl_pem().value());
    EXPECT_TRUE(connect_to_server(options).starts_with("certificate verify failed"));
    EXPECT_TRUE(connect_to_server(options).starts_with("certificate verify failed"));
    EXPECT_EQ(handshakes.made(), 4U);
    // Without verification, each connection uses a full handshake.
    options.verify = false;
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(connect_to_server(options), "client");
    EXPECT_EQ(handshakes.made(), 6U);
}

}  // namespace
}  // namespace bunraku::http
