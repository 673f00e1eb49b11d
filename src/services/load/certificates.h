// Certificates for agents that do not exist: asked of the server's authority as every agent does,
// or signed here by an authority whose key is at hand. They are kept in a folder, as an `ssldir`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "services/agent/ssl.h"

namespace bunraku::load {

struct CertificateOptions {
    const config::Settings& settings;  ///< with server and port of the authority
    sys::System& system;
    http::Network* network = nullptr;
    std::function<bool()> stopped;
    std::string folder;
    /// Signed with the key of the authority in `cadir`, rather than asked for.
    bool sign = false;
    std::int64_t sign_seconds = 30 * 86'400;
};

class Certificates {
public:
    explicit Certificates(const CertificateOptions& options) : w_(options) {}

    /// What all need; to be called once, before the others.
    base::Result<void> prepare(const std::string& first_name);
    /// The files of an agent; `made`: they were not there before. By any thread.
    base::Result<agent::SslFiles> of(const std::string& name, bool* made) const;

private:
    config::Settings settings_for(const std::string& name) const;
    base::Result<agent::SslFiles> ask(const std::string& name, bool* made) const;
    base::Result<agent::SslFiles> sign(const std::string& name, bool* made) const;

    CertificateOptions w_;
};

}  // namespace bunraku::load
