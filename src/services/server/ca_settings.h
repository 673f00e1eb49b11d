// What the settings and puppetserver's ca.conf say about the certificate authority, and how it and
// the server's own certificate come to be.
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
    std::optional<std::int64_t> auto_renewal_ttl;  ///< of renewed certificates; nullopt: ca_ttl
    bool server_ec_certificate = false;            ///< the server has a second certificate (P-256)
    bool allow_auto_rollover = true;               ///< the next authority comes by itself (keep_up)
    bool enable_infra_crl = false;                 ///< agents get infra_crl.pem

    /// The list that agents get.
    std::string served_crl() const { return enable_infra_crl ? paths.infra_crl() : paths.cacrl; }
};

/// puppet.conf and the section certificate-authority of ca.conf; what the settings of those names
/// say goes first ("allow-subject-alt-names", ...).
base::Result<CaSettings> read_ca_settings(const config::Settings& settings);

/// Makes a key as `ca_key_type` (ec, the default, or rsa) and keylength say. Without that setting a
/// key beside an RSA key `present` is RSA of the same length: puppetserver signs with RSA only, so
/// that a site can go back to it.
base::Result<pki::PrivateKey> make_ca_key(const config::Settings& settings,
                                          const pki::PrivateKey* present = nullptr);

/// The name and the alternative names of this server's certificate: certname and dns_alt_names, or
/// "puppet" where those are empty.
std::vector<std::string> server_names(const config::Settings& settings,
                                      const std::string& alternative_names);

/// Makes this machine's certificate, which may administer the authority (pp_cli_auth), unless it is
/// there. A key that is there is used. True: it was made.
base::Result<bool> ensure_server_certificate(const config::Settings& settings,
                                             const pki::AuthorityFolder& authority,
                                             std::int64_t ttl);

/// The server's second certificate, and its key (P-256).
std::string second_certificate_path(const config::Settings& settings);
std::string second_key_path(const config::Settings& settings);

/// Makes or renews the server's second certificate if `ca` asks for one and the first one's key is
/// RSA: a full handshake with RSA-4096 costs 6 ms, 5 of them the signature. Returns whether it did.
base::Result<bool> ensure_second_certificate(const config::Settings& settings, const CaSettings& ca,
                                             const pki::AuthorityFolder& authority,
                                             std::int64_t now);

/// Authority and lists into localcacert and hostcrl, as puppetserver does at each start. True: the
/// list was another one.
base::Result<bool> publish_authority(const config::Settings& settings,
                                     const pki::AuthorityPaths& paths);

/// The authority as it is on disk, or a new one; `made` is told of a new one. The server's
/// certificate, too.
base::Result<pki::AuthorityFolder> ensure_authority(
    const config::Settings& settings, const CaSettings& ca, pki::AuthorityFolder::Now now,
    const std::function<void(const std::string&)>& made);

}  // namespace bunraku::server
