// TLS handshakes of a network in memory; inside this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/client.h"
#include "http/server.h"
#include "http/tls.h"
#include "http/url.h"

namespace bunraku::http {

/// Makes handshakes by OpenSSL in memory, and remembers those that went well: between the same
/// files and contexts the next one goes as well until something that both sides looked at ends. In
/// a simulated fleet they are most of the work, and always the same. What is refused is never
/// remembered.
class MemoryHandshakes {
public:
    /// What the server sees of the client (null: nothing). `context`: of the client's connector,
    /// made where it is needed.
    base::Result<std::shared_ptr<const ClientCertificate>> between(const ClientOptions& options,
                                                                   const Url& url,
                                                                   TlsContext& context,
                                                                   const TlsContext& server);
    std::uint64_t made() const { return made_; }  ///< not from memory

private:
    /// A file as it was; all 0: there is none.
    struct Version {
        std::uint64_t inode = 0, size = 0;
        std::int64_t modified_ns = 0, changed_ns = 0;
        bool operator==(const Version&) const = default;
    };
    struct Remembered {
        TlsContext server;
        std::vector<Version> files;
        std::int64_t from = 0, until = 0;  ///< seconds since the epoch; it holds between them
        std::shared_ptr<const ClientCertificate> certificate;
    };
    static Version version_of(const std::string& path);

    std::map<std::string, Remembered> remembered_;
    std::uint64_t made_ = 0;
};

}  // namespace bunraku::http
