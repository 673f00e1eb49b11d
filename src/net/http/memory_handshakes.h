// TLS handshakes of a network in memory; inside this folder only.
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

/// Who listens, and what stood in its files when they were read.
struct MemoryServer {
    TlsContext context;  ///< null: everybody is who the test says
    std::string contents;
    static base::Result<MemoryServer> read(const TlsFiles& files);
};

/// Makes handshakes by OpenSSL in memory, and remembers those that went well: between files of the
/// same contents the next one goes as well until something that both sides looked at ends. In a
/// simulated fleet they are most of the work, and always the same. What is refused is never
/// remembered.
class MemoryHandshakes {
public:
    /// What the server sees of the client (null: nothing). `context`: of the client's connector,
    /// made where it is needed.
    base::Result<std::shared_ptr<const ClientCertificate>> between(const ClientOptions& options,
                                                                   const Url& url,
                                                                   TlsContext& context,
                                                                   const MemoryServer& server);
    std::uint64_t made() const { return made_; }  ///< not from memory

private:
    /// A file as it was; all 0: there is none.
    struct Version {
        std::uint64_t inode = 0, size = 0;
        std::int64_t modified_ns = 0, changed_ns = 0;
        bool operator==(const Version&) const = default;
    };
    struct File {
        Version version;
        std::string contents;  ///< a digest of them
    };
    struct Remembered {
        std::int64_t from = 0, until = 0;  ///< seconds since the epoch; it holds between them
        std::shared_ptr<const ClientCertificate> certificate;
    };
    static Version version_of(const std::string& path);
    const std::string& contents_of(const std::string& path);

    std::unordered_map<std::string, File> files_;
    std::unordered_map<std::string, Remembered> remembered_;  ///< by all that was looked at
    std::uint64_t made_ = 0;
};

}  // namespace bunraku::http
