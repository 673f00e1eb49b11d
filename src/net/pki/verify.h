// SPDX-License-Identifier: Apache-2.0
// Verifies certificates, with Puppet's messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "net/pki/certificate.h"

namespace bunraku::pki {

enum class RevocationCheck : std::uint8_t { None, Leaf, Chain };

struct Verification {
    std::string message;  ///< empty if the certificate is valid
    int code = 0;         ///< OpenSSL's X509_V_ERR_.. code
    /// True if only the issuer is missing. The receiver of the certificate may know it.
    bool issuer_unknown = false;
    std::vector<Certificate> chain;  ///< from the certificate to the root
    bool good() const { return message.empty(); }
};

/// Verifies a certificate at the current time with `authorities` as trusted roots. The messages are
/// Puppet 8's (ssl/ssl_provider.rb). An unknown issuer of the certificate itself is not an error.
Verification verify(const Certificate& certificate, const std::vector<Certificate>& authorities,
                    const std::vector<Crl>& crls, RevocationCheck check);

/// Returns the public key, which is valid as long as the certificate.
evp_pkey_st* public_key_of(const Certificate& certificate);

}  // namespace bunraku::pki
