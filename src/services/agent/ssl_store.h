// Keys and certificates of a node in Puppet's files, and the authority's API that they come from.
// Messages are Puppet 8.11's (x509/cert_provider.rb, ssl/ssl_provider.rb, http/service/ca.rb).
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
    /// What a client names of these, its own certificate among them.
    SslFiles files() const;

    // nullopt: the file is not there.
    base::Result<std::optional<std::vector<pki::Certificate>>> authorities();
    base::Result<std::optional<std::vector<pki::Crl>>> crls();
    base::Result<std::optional<pki::PrivateKey>> key();
    base::Result<std::optional<pki::Certificate>> certificate();
    /// Seconds since the epoch of the last change; 0: not there.
    std::int64_t changed(const std::string& path);
    void touch(const std::string& path);

    base::Result<void> save_authorities(const std::vector<pki::Certificate>& certificates);
    base::Result<void> save_crls(const std::vector<pki::Crl>& crls);
    base::Result<void> save_key(const pki::PrivateKey& key);
    base::Result<void> save_certificate(const pki::Certificate& certificate);
    base::Result<void> save_request(const pki::Request& request);
    void delete_request();

    /// As key_type, keylength and named_curve say; told in `log`, of RSA in the words `rsa`.
    base::Result<pki::PrivateKey> make_key(std::string_view rsa = "RSA SSL");
    /// With dns_alt_names and csr_attributes.yaml.
    base::Result<pki::Request> make_request(const pki::PrivateKey& key);

    /// Are these good, and the key the certificate's? The chain, from the certificate to the root.
    base::Result<std::vector<pki::Certificate>> check(
        const std::vector<pki::Certificate>& authorities, const std::vector<pki::Crl>& crls,
        const pki::PrivateKey& key, const pki::Certificate& certificate);
    /// What is there, all of it needed: `puppet ssl verify`.
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

/// Bundles as servers send them, with comments between the parts or without.
base::Result<std::vector<pki::Certificate>> parse_authorities(std::string_view text);
base::Result<std::vector<pki::Crl>> parse_lists(std::string_view text);

/// What a connection to the authority is checked against.
enum class Trust : std::uint8_t {
    Nobody,       ///< the authority itself is not known yet
    Authorities,  ///< its certificate
    Lists,        ///< its lists too
    Mutual        ///< and it sees ours
};

class AuthorityClient {
public:
    /// `address` is "HOST:PORT"; empty: the settings'. That it cannot be reached is logged.
    AuthorityClient(const config::Settings& settings, base::LogSink& log, const SslStore& store,
                    const std::string& address, http::Network* network,
                    std::function<bool()> stopped);
    /// "https://localhost:8140/puppet-ca/v1"
    const std::string& url() const { return url_; }
    struct Answer {
        int status = 0;
        std::string body;
        std::string reason;  ///< "Not Found"
        bool good() const { return status >= 200 && status < 300; }
    };
    /// Fails where no answer came.
    base::Result<Answer> get(const std::string& path, Trust trust, std::int64_t since = 0);
    base::Result<Answer> put(const std::string& path, const std::string& body, Trust trust);
    base::Result<Answer> post(const std::string& path, Trust trust);
    /// Ends its connection: files have changed, or it would be idle.
    void disconnect() { client_.reset(); }
    base::Level unreachable = base::Level::Err;  ///< how bad it is

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
    Trust trust_ = Trust::Nobody;  ///< of `client_`
};

/// "(SHA256) AB:CD" of a certificate, as Puppet's Digest prints it.
std::string digest_text(const pki::Certificate& certificate);
/// "AB:CD" of bytes.
std::string digest_hex(std::string_view bytes);

}  // namespace bunraku::agent
