// SPDX-License-Identifier: Apache-2.0
// The agent's own certificate: obtains authorities, revocation lists, key, request and certificate,
// and keeps them valid (Puppet 8.11, ssl/state_machine.rb).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "net/http/client.h"
#include "net/pki/certificate.h"

namespace bunraku::agent {

/// The files that a client of the server needs. They exist, match each other and were verified.
struct SslFiles {
    std::string certname;
    std::string ca_file;           ///< localcacert
    std::string crl_file;          ///< hostcrl; if empty, revocation is not checked
    bool crl_leaf_only = false;    ///< certificate_revocation = leaf
    std::string certificate_file;  ///< empty if only authorities were requested
    std::string private_key_file;

    /// Sets the files in `options` and leaves other options unchanged.
    void use(http::ClientOptions& options) const;
};

/// Error::code of `ensure_ssl` when it stops waiting. The text was printed already, and the process
/// exits with 1 without printing anything else, like Puppet's.
inline constexpr int kGaveUpWaiting = -100;

struct SslOptions {
    const config::Settings& settings;
    base::LogSink& log;
    sys::System& system;
    /// Receives Puppet's lines for users ("Couldn't fetch certificate from CA server; ..."), which
    /// are printed to standard output. If empty, the lines are logged.
    std::function<void(const std::string& line)> print;
    /// Called while waiting. If it returns true, waiting ends with the error code ECANCELED.
    std::function<bool()> stopped;
    http::Network* network = nullptr;  ///< if null, sockets are used
    /// "HOST:PORT" of the authority, if a server was chosen from server_list. If empty, the
    /// settings ca_server and ca_port are used.
    std::string authority;
    /// The value of "--waitforcert"; 0 means that the agent does not wait. If nullopt, the setting
    /// is used.
    std::optional<std::int64_t> waitforcert_seconds;
    /// If true, the first error ends the attempt; otherwise the agent waits and retries. If
    /// nullopt, the setting `onetime` is used.
    std::optional<bool> onetime;
};

/// Ensures that authorities, lists, key and certificate are ready for a run. Creates or downloads
/// missing files, refreshes old lists, and renews a certificate that expires soon. Waits for the
/// certificate to be signed according to waitforcert and maxwaitforcert. Errors are Puppet's.
base::Result<SslFiles> ensure_ssl(const SslOptions& options);

/// Does the same for authorities and revocation lists only.
base::Result<SslFiles> ensure_authorities(const SslOptions& options);

}  // namespace bunraku::agent
