// Bytes that only who has the key can read, and digests that only who has the key can make.
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

/// AES-256-GCM with a key of its own for each text, made of `key` and 24 random bytes that stand in
/// front: any number of texts may be sealed. `place` is not in it, but must be the same again.
/// Appends to `out`.
base::Result<void> seal(std::string& out, const SealKey& key, std::string_view text,
                        std::string_view place);
/// Fails where a bit of it, the key or the place is another.
base::Result<std::string> unseal(const SealKey& key, std::string_view sealed,
                                 std::string_view place);

/// What seal() adds.
inline constexpr std::size_t kSealBytes = 24 + 16;

inline std::string_view bytes_of(const SealKey& key) {
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace bunraku::codec
