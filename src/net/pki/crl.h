// Revocation lists: what they say, and new ones.
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
    std::optional<std::int64_t> number;  ///< nullopt: none, or beyond all use
    std::string authority_key;           ///< hexadecimal with colons; empty: none
    std::int64_t last_update = 0, next_update = 0;
    std::size_t revoked = 0;
    bool delta = false;
};
CrlFacts facts_of(const Crl& crl);
std::string crl_pem(const Crl& crl);
bool same_crl(const Crl& a, const Crl& b);

bool is_revoked(const Crl& crl, const Certificate& certificate);
bool is_revoked(const Crl& crl, const std::string& serial);  ///< in hexadecimal
/// By the certificate's key.
bool is_issued_by(const Crl& crl, const Certificate& authority);

/// How long a list is good. As puppetserver's.
inline constexpr std::int64_t kCrlLifetime = std::int64_t{5} * 365 * 86400;

/// A list of `authority` with what `old` (null: nothing) has and the serials `more` (hexadecimal),
/// numbered one higher and good until `now` + `lifetime`. What is in it already is in it once;
/// `without` (hexadecimal too) is left out.
base::Result<Crl> next_crl(const Crl& old, const Certificate& authority, const PrivateKey& key,
                           const std::vector<std::string>& more, std::int64_t now,
                           std::int64_t lifetime = kCrlLifetime,
                           const std::vector<std::string>& without = {});

/// The serials it holds, in hexadecimal, each once.
std::vector<std::string> serials_in(const Crl& crl);

/// How many entries are there more than once.
std::size_t duplicates_in(const Crl& crl);

}  // namespace bunraku::pki
