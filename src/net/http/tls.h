// SPDX-License-Identifier: Apache-2.0
// TLS contexts of servers and clients (internal to this folder).
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

/// The client's end of a TLS connection, over two memory buffers. It verifies the server's
/// certificate and reports refusals in Puppet's words (ssl/verifier.rb).
class TlsClient {
public:
    TlsClient() = default;
    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// Starts the handshake. Resumes `session`, which may be null.
    base::Result<void> begin(ssl_ctx_st* context, const Url& url, ssl_session_st* session,
                             bool verify);
    /// Performs a step of the handshake with the data in in(). Returns false if more data is
    /// needed. In any case, the caller must send the data in out().
    base::Result<bool> handshake_step();

    ssl_st* ssl() const { return ssl_; }  ///< null before begin()
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

/// Describes OpenSSL's first queued error in words, and clears the queue.
std::string tls_failure();

/// Appends the contents of `from` to `to`; both are memory buffers.
void move_bytes(bio_st* from, bio_st* to);

/// Must be called before a connection is freed. Otherwise OpenSSL drops the session of a connection
/// without an orderly shutdown.
void allow_resumption(ssl_st* ssl);

/// For a server, before its first response: sends the session ticket together with the response.
/// With TLS 1.2 it has been sent before.
void offer_session(ssl_st* ssl);

/// Makes a context for TLS 1.2 and newer, with session resumption. Errors contain the file name.
base::Result<TlsContext> make_server_context(const TlsFiles& files);
base::Result<TlsContext> make_client_context(const ClientOptions& options);
/// Returns the other side's certificate, or null.
std::shared_ptr<const ClientCertificate> peer_certificate(ssl_st* ssl);
/// Returns the name and the reason of a client certificate that the server's handshake refused.
/// Returns an empty text if it refused none.
std::string refusal_of(ssl_st* ssl);
/// Verifies the other side's certificate again with the authorities and revocation lists of another
/// context.
std::shared_ptr<const ClientCertificate> verify_again(ssl_st* ssl, ssl_ctx_st* context);

}  // namespace bunraku::http
