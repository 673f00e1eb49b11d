// SPDX-License-Identifier: Apache-2.0
// Certificates for simulated agents, either requested from the server's authority like a real
// agent's, or signed here with an available key of the authority. They are stored in a folder with
// the structure of an `ssldir`.
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
    const config::Settings& settings;  ///< contains server and port of the authority
    sys::System& system;
    http::Network* network = nullptr;
    std::function<bool()> stopped;
    std::string folder;
    /// If true, certificates are signed with the key of the authority in `cadir` instead of
    /// requested.
    bool sign = false;
    std::int64_t sign_seconds = 30 * 86'400;
};

class Certificates {
public:
    explicit Certificates(const CertificateOptions& options) : w_(options) {}

    /// Creates the shared files. Must be called once, before the other functions.
    base::Result<void> prepare(const std::string& first_name);
    /// Returns the files of an agent. Sets `made` to true if they did not exist before.
    /// Thread-safe.
    base::Result<agent::SslFiles> of(const std::string& name, bool* made) const;

private:
    config::Settings settings_for(const std::string& name) const;
    base::Result<agent::SslFiles> ask(const std::string& name, bool* made) const;
    base::Result<agent::SslFiles> sign(const std::string& name, bool* made) const;

    CertificateOptions w_;
};

}  // namespace bunraku::load
