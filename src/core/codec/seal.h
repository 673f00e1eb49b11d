// SPDX-License-Identifier: Apache-2.0
// Encryption and message authentication codes with a shared key.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

using SealKey = std::array<unsigned char, 32>;
using Mac = std::array<unsigned char, 32>;

/// HMAC-SHA-256.
Mac hmac_sha256(std::string_view key, std::string_view bytes);

/// Encrypts `text` with AES-256-GCM and appends the result to `out`. Each text gets its own key,
/// derived from `key` and from the 24 random bytes at the start of the result, so one key may
/// encrypt any number of texts. `place` is authenticated but not stored; unseal() needs the same
/// value.
base::Result<void> seal(std::string& out, const SealKey& key, std::string_view text,
                        std::string_view context);
/// Decrypts the output of seal(). Fails if any bit, the key or `place` differs.
base::Result<std::string> unseal(const SealKey& key, std::string_view sealed,
                                 std::string_view context);

/// Number of bytes that seal() adds.
inline constexpr std::size_t kSealBytes = 24 + 16;

inline std::string_view bytes_of(const SealKey& key) {
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace bunraku::codec
