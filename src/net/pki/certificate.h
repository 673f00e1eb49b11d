// SPDX-License-Identifier: Apache-2.0
// Certificates, keys and revocation lists from files. Errors contain the file name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/codec/digest.h"

// OpenSSL's type names, so that this header does not include OpenSSL's.
struct x509_st;
struct evp_pkey_st;
struct X509_crl_st;

namespace bunraku::pki {

/// A Puppet extension of a certificate (below 1.3.6.1.4.1.34380.1).
struct Extension {
    std::string oid;
    std::string name;  ///< such as "pp_cli_auth"; the OID if it has no name
    std::string value;
};

/// Returns the OID of a short name ("pp_role"), or an empty text if Puppet does not define the
/// name.
std::string puppet_oid(std::string_view name);
/// Returns Puppet's short name of an OID, or the OID itself if it has none.
std::string puppet_name(std::string_view oid);
/// Reports whether an OID is below 1.3.6.1.4.1.34380.1.`tree`: 1 registered, 2 private, 3
/// authorization.
bool in_puppet_tree(std::string_view oid, int tree);

/// An X.509 certificate. Copies share it.
class Certificate {
public:
    /// Parses the first certificate of a PEM text; `name` is for messages.
    static base::Result<Certificate> from_pem(std::string_view pem, const std::string& name);
    /// Takes over one reference.
    static Certificate adopt(x509_st* x509);

    std::string common_name() const;  ///< of the subject; may be empty
    std::string subject() const;      ///< "/CN=x", in the format of Ruby's OpenSSL
    std::string issuer() const;
    std::string subject_utf8() const;  ///< "CN=x", as in Puppet's messages
    std::string issuer_utf8() const;
    std::string serial() const;          ///< "0x0001", as Puppet prints serials
    std::string serial_decimal() const;  ///< "1"
    /// Returns upper-case hexadecimal with colons, as Puppet prints fingerprints.
    std::string fingerprint(codec::DigestKind kind = codec::DigestKind::Sha256) const;
    std::int64_t not_before() const;  ///< seconds since the epoch
    std::int64_t not_after() const;
    std::vector<std::string> alternative_names() const;  ///< "DNS:x", "IP:127.0.0.1"
    std::vector<Extension> puppet_extensions() const;    ///< in the certificate's order
    bool is_authority() const;                           ///< true if it may sign certificates
    std::string subject_key_id() const;                  ///< hexadecimal with colons; may be empty
    bool operator==(const Certificate& other) const;
    std::string pem() const;
    std::string text() const;  ///< the output of `openssl x509 -text`
    x509_st* native() const { return x509_.get(); }

private:
    explicit Certificate(std::shared_ptr<x509_st> x509) : x509_(std::move(x509)) {}
    std::shared_ptr<x509_st> x509_;
};

/// A private key with its public half. Copies share it.
class PrivateKey {
public:
    /// Fails for an encrypted key without its pass phrase.
    static base::Result<PrivateKey> from_pem(std::string_view pem, const std::string& name,
                                             const std::string& passphrase = {});
    static PrivateKey adopt(evp_pkey_st* key);
    std::string pem() const;         ///< PKCS #8
    std::string public_pem() const;  ///< the public half in PEM
    bool is_rsa() const;
    bool is_ec() const;
    bool belongs_to(const Certificate& certificate) const;
    evp_pkey_st* native() const { return key_.get(); }

private:
    explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
    std::shared_ptr<evp_pkey_st> key_;
};

/// A revocation list; see crl.h.
using Crl = std::shared_ptr<X509_crl_st>;

/// Reads all certificates of a file in order; fails if there is none.
base::Result<std::vector<Certificate>> read_certificates(const std::string& path);
/// Parses all certificates of a text; `name` is for messages.
base::Result<std::vector<Certificate>> parse_certificates(std::string_view pem,
                                                          const std::string& name);
base::Result<PrivateKey> read_private_key(const std::string& path);
/// Reads all revocation lists of a file in order; fails if there is none.
base::Result<std::vector<Crl>> read_crls(const std::string& path);
base::Result<std::vector<Crl>> parse_crls(std::string_view pem, const std::string& name);

/// Returns OpenSSL's text for its last failure, and clears its error queue.
std::string openssl_error();

}  // namespace bunraku::pki
