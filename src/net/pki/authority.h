// Making certificates: those of authorities, those that authorities sign, and those that vouch for
// themselves.
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

/// A new P-256 key.
base::Result<PrivateKey> make_key();
base::Result<PrivateKey> make_rsa_key(int bits);
/// On a curve as OpenSSL names it: "prime256v1".
base::Result<PrivateKey> make_ec_key(const std::string& curve);

/// What a certificate is to say.
struct Subject {
    std::string common_name;
    std::vector<std::string> alternative_names;  ///< "DNS:x", "IP:127.0.0.1"
    int days = 5 * 365;
    /// OIDs and texts, which are signed as UTF8String.
    std::vector<std::pair<std::string, std::string>> extensions;
};

/// A certificate that vouches for itself, for servers that have no authority.
base::Result<Identity> make_self_signed(const Subject& subject);

/// Everything that a certificate says and its signer does not.
struct Draft {
    std::string common_name;
    std::string serial;  ///< hexadecimal; empty: 128 bits of chance
    std::int64_t not_before = 0, not_after = 0;
    bool authority = false;
    std::vector<std::string> alternative_names;
    std::vector<std::pair<std::string, std::string>> extensions;  ///< OIDs and texts
};

/// The comment that puppetserver writes into every certificate.
inline constexpr const char* kCertificateComment = "Puppet Server Internal Certificate";

/// As puppetserver's certificates, for the public key of `subject_key`. A null `issuer`: signed by
/// `key` itself.
base::Result<Certificate> make_certificate(const Draft& draft, evp_pkey_st* subject_key,
                                           const Certificate* issuer, const PrivateKey& key);

/// An authority in memory, for tests. Signs with a key of its own.
class Authority {
public:
    /// "Puppet CA: NAME" and the like.
    static base::Result<Authority> create(const std::string& common_name);
    base::Result<Identity> issue(const Subject& subject);
    /// The next crl() has it.
    void revoke(const Certificate& certificate);
    base::Result<std::string> crl_pem() const;
    const Certificate& certificate() const { return self_.certificate; }

private:
    explicit Authority(Identity self) : self_(std::move(self)) {}
    Identity self_;
    std::vector<std::string> revoked_;  ///< serials
};

}  // namespace bunraku::pki
