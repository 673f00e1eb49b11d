// SPDX-License-Identifier: Apache-2.0
// TLS handshakes for the network in memory (internal to this folder).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/result.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/http/tls.h"
#include "net/http/url.h"

namespace bunraku::http {

/// A listening server, and the contents of its files when they were read.
struct MemoryServer {
    TlsContext context;  ///< null if the test assigns identities without TLS
    std::string contents;
    static base::Result<MemoryServer> read(const TlsFiles& files);
};

/// Performs handshakes with OpenSSL in memory, and caches successful ones. Another handshake with
/// the same file contents succeeds from the cache until a certificate or list that either side
/// checked expires. In a simulated fleet, most of the work would otherwise be identical handshakes.
/// Failures are never cached.
class MemoryHandshakes {
public:
    /// Returns the client's certificate as the server sees it, or null. `context` belongs to the
    /// client's connector and is made if necessary.
    base::Result<std::shared_ptr<const ClientCertificate>> between(const ClientOptions& options,
                                                                   const Url& url,
                                                                   TlsContext& context,
                                                                   const MemoryServer& server);
    /// Number of handshakes not served from the cache.
    std::uint64_t made() const { return made_; }

private:
    /// A file's identity and timestamps; all 0 if the file does not exist.
    struct Version {
        std::uint64_t inode = 0, size = 0;
        std::int64_t modified_ns = 0, changed_ns = 0;
        bool operator==(const Version&) const = default;
    };
    struct File {
        Version version;
        std::string contents;  ///< digest of the contents
    };
    struct Remembered {
        std::int64_t from = 0, until = 0;  ///< validity period, in seconds since the epoch
        std::shared_ptr<const ClientCertificate> certificate;
    };
    static Version version_of(const std::string& path);
    const std::string& contents_of(const std::string& path);

    std::unordered_map<std::string, File> files_;
    /// keyed by all inputs of the handshake
    std::unordered_map<std::string, Remembered> remembered_;
    std::uint64_t made_ = 0;
};

}  // namespace bunraku::http
