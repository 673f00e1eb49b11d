// TLS contexts of servers and clients; inside this folder only.
#pragma once

#include <memory>

#include "base/result.h"
#include "http/client.h"
#include "http/server.h"

struct ssl_ctx_st;
struct ssl_st;

namespace bunraku::http {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// TLS 1.2 and newer, sessions may be resumed. Errors name the file.
base::Result<TlsContext> make_server_context(const TlsFiles& files);
base::Result<TlsContext> make_client_context(const ClientOptions& options);
/// What the other end showed; null: nothing.
std::shared_ptr<const ClientCertificate> peer_certificate(ssl_st* ssl);
/// What it showed, looked at with the authorities and revocations of another context.
std::shared_ptr<const ClientCertificate> verify_again(ssl_st* ssl, ssl_ctx_st* context);

}  // namespace bunraku::http
