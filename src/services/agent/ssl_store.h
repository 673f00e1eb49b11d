// SPDX-License-Identifier: Apache-2.0
// Keys and certificates of a node in Puppet's files, and the authority's API that provides them.
// Messages are those of Puppet 8.11 (x509/cert_provider.rb, ssl/ssl_provider.rb,
// http/service/ca.rb).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "net/http/client.h"
#include "net/pki/authority.h"
#include "net/pki/crl.h"
#include "net/pki/request.h"
#include "net/pki/verify.h"
#include "services/agent/ssl.h"

namespace bunraku::agent {

class SslStore {
public:
    SslStore(const config::Settings& settings, base::LogSink& log, sys::System& system);

    const std::string& certname() const { return certname_; }
    const std::string& ca_path() const { return ca_; }
    const std::string& crl_path() const { return crl_; }
    const std::string& key_path() const { return key_; }
    const std::string& certificate_path() const { return certificate_; }
    const std::string& request_path() const { return request_; }
    pki::RevocationCheck revocation() const;
    /// Returns the files that a client needs, including its own certificate.
    SslFiles files() const;

    // These return nullopt if the file does not exist.
    base::Result<std::optional<std::vector<pki::Certificate>>> authorities();
    base::Result<std::optional<std::vector<pki::Crl>>> crls();
    base::Result<std::optional<pki::PrivateKey>> key();
    base::Result<std::optional<pki::Certificate>> certificate();
    /// Returns the modification time in seconds since the epoch, or 0 if the file does not exist.
    std::int64_t changed(const std::string& path);
    void touch(const std::string& path);

    base::Result<void> save_authorities(const std::vector<pki::Certificate>& certificates);
    base::Result<void> save_crls(const std::vector<pki::Crl>& crls);
    base::Result<void> save_key(const pki::PrivateKey& key);
    base::Result<void> save_certificate(const pki::Certificate& certificate);
    base::Result<void> save_request(const pki::Request& request);
    void delete_request();

    /// Generates a key according to key_type, keylength and named_curve, and logs what it does.
    /// `rsa` is the wording for RSA keys.
    base::Result<pki::PrivateKey> make_key(std::string_view rsa = "RSA SSL");
    /// Creates a request with dns_alt_names and csr_attributes.yaml.
    base::Result<pki::Request> make_request(const pki::PrivateKey& key);

    /// Verifies the certificates and checks that the key belongs to the certificate. Returns the
    /// chain from the certificate to the root.
    base::Result<std::vector<pki::Certificate>> check(
        const std::vector<pki::Certificate>& authorities, const std::vector<pki::Crl>& crls,
        const pki::PrivateKey& key, const pki::Certificate& certificate);
    /// Verifies the stored files, all of which must exist. Used by `puppet ssl verify`.
    base::Result<std::vector<pki::Certificate>> check_all();

private:
    base::Result<std::optional<std::string>> load(const std::string& path, const std::string& what);
    base::Result<void> save(const std::string& path, const std::string& text, std::uint32_t mode,
                            std::uint32_t folder_mode, const std::string& what);

    const config::Settings& settings_;
    base::LogSink& log_;
    sys::System& system_;
    std::string certname_, ca_, crl_, key_, certificate_, request_;
};

/// Parse bundles as servers send them, with or without comments between the parts.
base::Result<std::vector<pki::Certificate>> parse_authorities(std::string_view text);
base::Result<std::vector<pki::Crl>> parse_lists(std::string_view text);

/// How a connection to the authority is verified.
enum class Trust : std::uint8_t {
    Unverified,   ///< not verified, because the authority is not known yet
    Authorities,  ///< by the authority's certificate
    Lists,        ///< also by its revocation lists
    Mutual        ///< and the client presents its certificate
};

class AuthorityClient {
public:
    /// `address` is "HOST:PORT". If it is empty, the settings are used. Connection failures are
    /// logged.
    AuthorityClient(const config::Settings& settings, base::LogSink& log, const SslStore& store,
                    const std::string& address, http::Network* network,
                    std::function<bool()> stopped);
    /// Returns, for example, "https://localhost:8140/puppet-ca/v1".
    const std::string& url() const { return url_; }
    struct Answer {
        int status = 0;
        std::string body;
        std::string reason;  ///< for example "Not Found"
        bool good() const { return status >= 200 && status < 300; }
    };
    /// Fails if the server does not answer.
    base::Result<Answer> get(const std::string& path, Trust trust, std::int64_t since = 0);
    base::Result<Answer> put(const std::string& path, const std::string& body, Trust trust);
    base::Result<Answer> post(const std::string& path, Trust trust);
    /// Closes the connection after files have changed, or when it would be idle.
    void disconnect() { client_.reset(); }
    base::Level unreachable = base::Level::Err;  ///< log level of connection failures

private:
    base::Result<Answer> send(http::ClientRequest request, Trust trust);
    http::ClientOptions options_for(Trust trust) const;
    const config::Settings& settings_;
    base::LogSink& log_;
    const SslStore& store_;
    http::Network* network_;
    std::function<bool()> stopped_;
    std::string url_;
    std::optional<http::Client> client_;
    Trust trust_ = Trust::Unverified;  ///< trust of `client_`
};

/// Returns "(SHA256) AB:CD" for a certificate, as Puppet's Digest prints it.
std::string digest_text(const pki::Certificate& certificate);
/// Returns the bytes as "AB:CD".
std::string digest_hex(std::string_view bytes);

}  // namespace bunraku::agent
