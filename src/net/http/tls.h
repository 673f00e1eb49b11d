// TLS contexts of servers and clients; inside this folder only.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/http/url.h"

struct bio_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;
struct x509_store_ctx_st;

namespace bunraku::http {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// The client's end of a connection over TLS, over two buffers in memory. Judges what the server
/// shows, and says in Puppet's words why it is refused (ssl/verifier.rb).
class TlsClient {
public:
    TlsClient() = default;
    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// `session` is gone on with; null: a new one.
    base::Result<void> begin(ssl_ctx_st* context, const Url& url, ssl_session_st* session,
                             bool verify);
    /// A step of the handshake with what stands in in(). False: more has to come. What is in out()
    /// goes to the other side, whatever came of it.
    base::Result<bool> shake();

    ssl_st* ssl() const { return ssl_; }  ///< null: not begun
    bio_st* in() const { return in_; }
    bio_st* out() const { return out_; }

private:
    static int judge(int good, x509_store_ctx_st* store);

    ssl_st* ssl_ = nullptr;
    bio_st* in_ = nullptr;
    bio_st* out_ = nullptr;
    bool verify_ = false;
    std::string host_, refused_;
};

/// What stands in `from` goes behind what stands in `to`; both are of memory.
void carry(bio_st* from, bio_st* to);

/// To be called before a connection is freed: OpenSSL forgets the session of one that was not ended
/// in form.
void keep_session(ssl_st* ssl);

/// Of a server, before its first answer: the client is told how to go on with this session, in the
/// same piece. With TLS 1.2 it has been told already.
void offer_session(ssl_st* ssl);

/// TLS 1.2 and newer, sessions may be resumed. Errors name the file.
base::Result<TlsContext> make_server_context(const TlsFiles& files);
base::Result<TlsContext> make_client_context(const ClientOptions& options);
/// What the other end showed; null: nothing.
std::shared_ptr<const ClientCertificate> peer_certificate(ssl_st* ssl);
/// Returns whose certificate a server's handshake refused, and why; empty if it refused none.
std::string refusal_of(ssl_st* ssl);
/// What it showed, looked at with the authorities and revocations of another context.
std::shared_ptr<const ClientCertificate> verify_again(ssl_st* ssl, ssl_ctx_st* context);

}  // namespace bunraku::http
