// Sessions that outlive their connections.
#include "http/tls.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "http/client.h"
#include "http/memory_handshakes.h"
#include "http/url.h"
#include "pki/authority.h"

namespace bunraku::http {
namespace {

using Session = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

/// Both ends of connections in memory.
class TlsTest : public testing::Test {
protected:
    TlsTest() {
        char name[] = "/tmp/bunraku-tls-XXXXXX";
        folder_ = ::mkdtemp(name);
        auto ca = pki::Authority::create("CA").value();
        put("ca.pem", ca.certificate().pem());
        put("crl.pem", ca.crl_pem().value());
        identity("server", ca.issue({"server", {"DNS:server"}}).value());
        identity("client", ca.issue({"client"}).value());
        server_ = make_server_context(files()).value();
        ClientOptions options;
        options.ca_file = folder_ + "/ca.pem";
        options.certificate_file = folder_ + "/client.pem";
        options.private_key_file = folder_ + "/client.key";
        client_ = make_client_context(options).value();
    }
    ~TlsTest() override { std::filesystem::remove_all(folder_); }

    TlsFiles files() const {
        return {folder_ + "/server.pem", folder_ + "/server.key", folder_ + "/ca.pem",
                folder_ + "/crl.pem", false};
    }
    void put(const std::string& name, const std::string& text) {
        std::ofstream(folder_ + "/" + name) << text;
    }
    void identity(const std::string& name, const pki::Identity& identity) {
        put(name + ".pem", identity.certificate.pem());
        put(name + ".key", identity.key.pem());
    }

    /// A whole connection; whether it went on with `session`, which it leaves for the next.
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
            EXPECT_TRUE(client.shake());
            carry(client.out(), in);
            (void)SSL_do_handshake(server.get());
            carry(out, client.in());
        }
        EXPECT_EQ(SSL_write(server.get(), "answer", 6), 6);
        carry(out, client.in());
        char answer[16];
        EXPECT_EQ(SSL_read(client.ssl(), answer, sizeof answer), 6);
        session.reset(SSL_get1_session(client.ssl()));
        const auto shown = peer_certificate(server.get());
        EXPECT_TRUE(shown && shown->name == "client" &&
                    shown->trust == ClientCertificate::Trust::Verified);
        EXPECT_EQ(SSL_session_reused(server.get()), SSL_session_reused(client.ssl()));
        return SSL_session_reused(server.get()) == 1;
    }

    std::string folder_;
    TlsContext server_, client_;
};

TEST_F(TlsTest, ASessionIsResumedAfterItsConnectionEnded) {
    Session session(nullptr, SSL_SESSION_free);
    EXPECT_FALSE(connected(session));
    EXPECT_TRUE(connected(session));
    EXPECT_TRUE(connected(session));
    // Whose certificates were read anew looks at everybody again.
    server_ = make_server_context(files()).value();
    EXPECT_FALSE(connected(session));
    EXPECT_TRUE(connected(session));
}

TEST_F(TlsTest, AHandshakeInMemoryIsRememberedUntilAFileChanges) {
    MemoryHandshakes handshakes;
    ClientOptions options;
    options.ca_file = folder_ + "/ca.pem";
    options.crl_file = folder_ + "/crl.pem";
    options.certificate_file = folder_ + "/client.pem";
    options.private_key_file = folder_ + "/client.key";
    const auto url = parse_url("https://server:8140/").value();
    auto server = MemoryServer::read(files()).value();
    /// The name that the server sees, or what refuses it.
    const auto meet = [&](const ClientOptions& client) -> std::string {
        TlsContext context;
        const auto seen = handshakes.between(client, url, context, server);
        return seen ? (*seen ? (*seen)->name : "nobody") : seen.error().message;
    };
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(handshakes.made(), 1U);
    // A server that has read the same files anew is the same one, wherever they are.
    std::filesystem::copy_file(folder_ + "/crl.pem", folder_ + "/same.pem");
    auto moved = files();
    moved.crl = folder_ + "/same.pem";
    server = MemoryServer::read(moved).value();
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(handshakes.made(), 1U);
    // One that looks at less is not.
    moved.crl.clear();
    server = MemoryServer::read(moved).value();
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(handshakes.made(), 2U);
    // Another authority in the file: the server is a stranger, however often one asks.
    auto other = pki::Authority::create("Other").value();
    put("ca.pem", other.certificate().pem());
    put("crl.pem", other.crl_pem().value());
    EXPECT_TRUE(meet(options).starts_with("certificate verify failed"));
    EXPECT_TRUE(meet(options).starts_with("certificate verify failed"));
    EXPECT_EQ(handshakes.made(), 4U);
    // Whom nobody is to verify is met each time.
    options.verify = false;
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(meet(options), "client");
    EXPECT_EQ(handshakes.made(), 6U);
}

}  // namespace
}  // namespace bunraku::http
