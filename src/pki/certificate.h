// Certificates, keys and revocation lists as files hold them. Errors name the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/digest.h"

// OpenSSL's own names, so that its headers stay out of this one.
struct x509_st;
struct evp_pkey_st;
struct X509_crl_st;

namespace bunraku::pki {

/// An extension of a certificate that is Puppet's own (below 1.3.6.1.4.1.34380.1).
struct Extension {
    std::string oid;
    std::string name;  ///< "pp_cli_auth"; the OID again where it has none
    std::string value;
};

/// An X.509 certificate; copies share it.
class Certificate {
public:
    /// The first one of a PEM text; `name` is for messages.
    static base::Result<Certificate> from_pem(std::string_view pem, const std::string& name);
    /// Takes over one reference.
    static Certificate adopt(x509_st* x509);

    std::string common_name() const;  ///< of the subject; empty: none
    std::string subject() const;      ///< "/CN=x", as Ruby's OpenSSL prints names
    std::string issuer() const;
    std::string serial() const;  ///< "0x0001", as Puppet prints serials
    /// Upper-case hexadecimal with colons, as Puppet prints fingerprints.
    std::string fingerprint(codec::DigestKind kind = codec::DigestKind::Sha256) const;
    std::int64_t not_before() const;  ///< seconds since the epoch
    std::int64_t not_after() const;
    std::vector<std::string> alternative_names() const;  ///< "DNS:x", "IP:127.0.0.1"
    std::vector<Extension> puppet_extensions() const;    ///< in the certificate's order
    std::string pem() const;
    x509_st* native() const { return x509_.get(); }

private:
    explicit Certificate(std::shared_ptr<x509_st> x509) : x509_(std::move(x509)) {}
    std::shared_ptr<x509_st> x509_;
};

/// A private key, with its public half; copies share it.
class PrivateKey {
public:
    static base::Result<PrivateKey> from_pem(std::string_view pem, const std::string& name);
    static PrivateKey adopt(evp_pkey_st* key);
    std::string pem() const;  ///< PKCS #8
    bool belongs_to(const Certificate& certificate) const;
    evp_pkey_st* native() const { return key_.get(); }

private:
    explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
    std::shared_ptr<evp_pkey_st> key_;
};

using Crl = std::shared_ptr<X509_crl_st>;

/// Every certificate of the file, in order; at least one.
base::Result<std::vector<Certificate>> read_certificates(const std::string& path);
base::Result<PrivateKey> read_private_key(const std::string& path);
/// Every revocation list of the file, in order; at least one.
base::Result<std::vector<Crl>> read_crls(const std::string& path);

/// What went wrong last in OpenSSL, in its words; the queue of errors is empty afterwards.
std::string openssl_error();

}  // namespace bunraku::pki
