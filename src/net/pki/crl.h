// SPDX-License-Identifier: Apache-2.0
// Reads certificate revocation lists and makes new ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "net/pki/certificate.h"

namespace bunraku::pki {

struct CrlFacts {
    std::string issuer;  ///< "CN=x"
    std::string issuer_name;
    std::optional<std::int64_t> number;  ///< nullopt if there is none, or if it exceeds 64 bits
    std::string authority_key;           ///< hexadecimal with colons; may be empty
    std::int64_t last_update = 0, next_update = 0;
    std::size_t revoked = 0;
    bool delta = false;
};
CrlFacts facts_of(const Crl& crl);
std::string crl_pem(const Crl& crl);
bool same_crl(const Crl& a, const Crl& b);

bool is_revoked(const Crl& crl, const Certificate& certificate);
bool is_revoked(const Crl& crl, const std::string& serial);  ///< `serial` is hexadecimal
/// Verifies with the certificate's key.
bool is_issued_by(const Crl& crl, const Certificate& authority);

/// Validity of a new list, as in puppetserver.
inline constexpr std::int64_t kCrlLifetime = std::int64_t{5} * 365 * 86400;

/// Makes the next list of `authority`: the entries of `old` (which may be null) and the serials
/// `more` (hexadecimal), except those in `without` (also hexadecimal). Each serial appears once.
/// The number is one higher, and the list is valid until `now` + `lifetime`.
base::Result<Crl> next_crl(const Crl& old, const Certificate& authority, const PrivateKey& key,
                           const std::vector<std::string>& more, std::int64_t now,
                           std::int64_t lifetime = kCrlLifetime,
                           const std::vector<std::string>& without = {});

/// Returns the revoked serials in hexadecimal, without duplicates.
std::vector<std::string> serials_in(const Crl& crl);

/// Returns the number of duplicate entries.
std::size_t duplicates_in(const Crl& crl);

}  // namespace bunraku::pki
