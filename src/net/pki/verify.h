// Is a certificate good? In the words that Puppet has for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "net/pki/certificate.h"

namespace bunraku::pki {

enum class RevocationCheck : std::uint8_t { None, Leaf, Chain };

struct Verification {
    std::string message;  ///< empty: good
    int code = 0;         ///< OpenSSL's X509_V_ERR_..
    /// Only the issuer is missing here: who gets the certificate may know it.
    bool issuer_unknown = false;
    std::vector<Certificate> chain;  ///< from the certificate to the root
    bool good() const { return message.empty(); }
};

/// Against `authorities` as trusted ones, now. The messages are Puppet 8's
/// (ssl/ssl_provider.rb); an unknown issuer of the certificate itself is no error.
Verification verify(const Certificate& certificate, const std::vector<Certificate>& authorities,
                    const std::vector<Crl>& crls, RevocationCheck check);

/// Lives as long as the certificate.
evp_pkey_st* public_key_of(const Certificate& certificate);

}  // namespace bunraku::pki
