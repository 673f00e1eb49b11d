// SPDX-License-Identifier: Apache-2.0
// Makes certificates: those of authorities, those signed by authorities, and self-signed ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "net/pki/certificate.h"
#include "net/pki/request.h"

namespace bunraku::pki {

/// A certificate and its key.
struct Identity {
    Certificate certificate;
    PrivateKey key;
};

/// Makes a new P-256 key.
base::Result<PrivateKey> make_key();
base::Result<PrivateKey> make_rsa_key(int bits);
/// Makes a key on a curve with OpenSSL's name: "prime256v1".
base::Result<PrivateKey> make_ec_key(const std::string& curve);

/// The contents of a certificate.
struct Subject {
    std::string common_name;
    std::vector<std::string> alternative_names;  ///< "DNS:x", "IP:127.0.0.1"
    int days = 5 * 365;
    /// OIDs and texts, which are encoded as UTF8String.
    std::vector<std::pair<std::string, std::string>> extensions;
};

/// Makes a self-signed certificate, for servers without an authority.
base::Result<Identity> make_self_signed(const Subject& subject);

/// The contents of a certificate, except for those from its signer.
struct Draft {
    std::string common_name;
    std::string serial;  ///< hexadecimal; if empty, 128 random bits
    std::int64_t not_before = 0, not_after = 0;
    bool authority = false;
    std::vector<std::string> alternative_names;
    std::vector<std::pair<std::string, std::string>> extensions;  ///< OIDs and texts
};

/// The comment in every certificate of puppetserver.
inline constexpr const char* kCertificateComment = "Puppet Server Internal Certificate";

/// Makes a certificate like puppetserver's, for the public key of `subject_key`. `key` signs it. If
/// `issuer` is null, the certificate is self-signed.
base::Result<Certificate> make_certificate(const Draft& draft, evp_pkey_st* subject_key,
                                           const Certificate* issuer, const PrivateKey& key);

/// An authority in memory with its own key, for tests.
class Authority {
public:
    /// Makes an authority. `common_name` is "Puppet CA: NAME" or similar.
    static base::Result<Authority> create(const std::string& common_name);
    base::Result<Identity> issue(const Subject& subject);
    /// Adds the certificate to the next crl().
    void revoke(const Certificate& certificate);
    base::Result<std::string> crl_pem() const;
    const Certificate& certificate() const { return self_.certificate; }

private:
    explicit Authority(Identity self) : self_(std::move(self)) {}
    Identity self_;
    std::vector<std::string> revoked_;  ///< serials
};

}  // namespace bunraku::pki
