// The agent's own certificate: how it comes by authorities, revocation lists, key, request and
// certificate, and keeps them good (Puppet 8.11, ssl/state_machine.rb).
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

/// What a client of the server needs: files that are there, belong together and were verified.
struct SslFiles {
    std::string certname;
    std::string ca_file;           ///< localcacert
    std::string crl_file;          ///< hostcrl; empty: revocation is not checked
    bool crl_leaf_only = false;    ///< certificate_revocation = leaf
    std::string certificate_file;  ///< empty: only authorities were asked for
    std::string private_key_file;

    /// Sets them; what else the options say stays.
    void use(http::ClientOptions& options) const;
};

/// Error::code of `ensure_ssl` where it gives up waiting: its text was printed already, and the
/// process ends with 1 without another word, as Puppet's does.
inline constexpr int kGaveUpWaiting = -100;

struct SslOptions {
    const config::Settings& settings;
    base::LogSink& log;
    sys::System& system;
    /// Puppet's lines for people ("Couldn't fetch certificate from CA server; ..."), which go to
    /// standard output. Unset: they are logged.
    std::function<void(const std::string& line)> print;
    /// Asked while waiting: true ends it, with the error code ECANCELED.
    std::function<bool()> stopped;
    http::Network* network = nullptr;  ///< null: sockets
    /// "HOST:PORT" of the authority where a server was chosen from server_list; empty: the settings
    /// ca_server and ca_port.
    std::string authority;
    /// Behind "--waitforcert"; nullopt: the settings' (0: never).
    std::optional<std::int64_t> waitforcert_seconds;
    /// The first error ends it; else it waits and begins again. nullopt: the setting `onetime`.
    std::optional<bool> onetime;
};

/// Authorities, lists, key and certificate as a run needs them: what is missing is made or fetched,
/// lists that are old are refreshed, a certificate near its end is renewed. Waits for its signature
/// as waitforcert and maxwaitforcert say. The errors are Puppet's.
base::Result<SslFiles> ensure_ssl(const SslOptions& options);

/// Authorities and revocation lists alone, in the same way.
base::Result<SslFiles> ensure_authorities(const SslOptions& options);

}  // namespace bunraku::agent
