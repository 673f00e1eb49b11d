// SPDX-License-Identifier: Apache-2.0
// SHA-1 without the set-up cost of OpenSSL's general interface for each short text. A catalog needs
// hundreds of digests.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::codec {

using Sha1Digest = std::array<std::uint8_t, 20>;

class Sha1 {
public:
    Sha1();
    Sha1& add(std::string_view bytes);
    /// Adds a text and its end marker, so that two texts differ from their concatenation.
    Sha1& part(std::string_view text);
    Sha1& number(std::int64_t n);
    Sha1Digest digest();

private:
    alignas(8) unsigned char context_[128];
};

Sha1Digest sha1(std::string_view bytes);
std::string to_hex(const Sha1Digest& digest);

inline std::string_view bytes_of(const Sha1Digest& d) {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}
/// Returns zeros if `bytes` is not a digest.
Sha1Digest digest_from(std::string_view bytes);

struct DigestHash {
    std::size_t operator()(const Sha1Digest& d) const noexcept {
        std::size_t out;
        __builtin_memcpy(&out, d.data(), sizeof out);
        return out;
    }
};

}  // namespace bunraku::codec
