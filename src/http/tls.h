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
/// The common name of the other end's verified certificate; empty: none was shown.
std::string peer_common_name(ssl_st* ssl);

}  // namespace bunraku::http
