// SPDX-License-Identifier: Apache-2.0
// Reads the configuration of the certificate authority from the settings and puppetserver's
// ca.conf. Creates the authority and the server's own certificate.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/pki/authority_folder.h"
#include "net/pki/policy.h"

namespace bunraku::server {

struct CaSettings {
    pki::AuthorityPaths paths;
    pki::SigningRules rules;
    std::string autosign;  ///< "true", "false" or a path
    bool allow_duplicate_certs = false;
    std::int64_t ca_ttl = 0;
    bool allow_auto_renewal = true;
    std::optional<std::int64_t> auto_renewal_ttl;  ///< of renewed certificates; ca_ttl if nullopt
    /// true if the server has a second certificate (P-256)
    bool server_ec_certificate = false;
    /// true if rollovers are automatic (see ca_maintenance.h)
    bool allow_auto_rollover = true;
    bool enable_infra_crl = false;  ///< true if agents receive infra_crl.pem

    /// Returns the path of the revocation list for agents.
    std::string served_crl() const { return enable_infra_crl ? paths.infra_crl() : paths.cacrl; }
};

/// Reads puppet.conf and the section certificate-authority of ca.conf. Settings with the same names
/// take precedence ("allow-subject-alt-names", ...).
base::Result<CaSettings> read_ca_settings(const config::Settings& settings);

/// Generates a key according to `ca_key_type` (ec, the default, or rsa) and keylength. If
/// `ca_key_type` is not set and the key `present` is RSA, the new key is RSA with the same length.
/// puppetserver signs only with RSA, so this allows a site to return to it.
base::Result<pki::PrivateKey> make_ca_key(const config::Settings& settings,
                                          const pki::PrivateKey* present = nullptr);

/// Returns the name and the alternative names of this server's certificate: certname and
/// dns_alt_names, or "puppet" if those are empty.
std::vector<std::string> server_names(const config::Settings& settings,
                                      const std::string& alternative_names);

/// Creates this machine's certificate, which may administer the authority (pp_cli_auth), unless it
/// exists. Uses an existing key. Returns true if it created the certificate.
base::Result<bool> ensure_server_certificate(const config::Settings& settings,
                                             const pki::AuthorityFolder& authority,
                                             std::int64_t ttl);

/// Return the paths of the server's second certificate and its key (P-256).
std::string second_certificate_path(const config::Settings& settings);
std::string second_key_path(const config::Settings& settings);

/// Creates or renews the server's second certificate if `ca` enables it and the first one has an
/// RSA key. With RSA-4096, a full handshake takes 6 ms, 5 of them for the signature. Returns true
/// if it changed the certificate.
base::Result<bool> ensure_second_certificate(const config::Settings& settings, const CaSettings& ca,
                                             const pki::AuthorityFolder& authority,
                                             std::int64_t now);

/// Copies the authority and its lists to localcacert and hostcrl, as puppetserver does at each
/// start. Returns true if the files have changed.
base::Result<bool> publish_authority(const config::Settings& settings,
                                     const pki::AuthorityPaths& paths);

/// Opens the authority on disk, or creates a new one and passes a message to `made`. Also creates
/// the server's certificate.
base::Result<pki::AuthorityFolder> ensure_authority(
    const config::Settings& settings, const CaSettings& ca, pki::AuthorityFolder::Now now,
    const std::function<void(const std::string&)>& made);

}  // namespace bunraku::server
