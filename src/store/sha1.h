// SHA-1 without the set-up that OpenSSL's general interface costs for each short text: a catalog
// needs hundreds of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "catalog/content_hash.h"

namespace bunraku::store {

using catalog::Digest;

class Sha1 {
public:
    Sha1();
    Sha1& add(std::string_view bytes);
    /// A text and its end, so that two texts differ from their concatenation.
    Sha1& part(std::string_view text);
    Sha1& number(std::int64_t n);
    Digest digest();

private:
    alignas(8) unsigned char context_[128];
};

Digest sha1(std::string_view bytes);

inline std::string_view bytes_of(const Digest& d) {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}
/// Zeros where `bytes` are no digest.
Digest digest_from(std::string_view bytes);

struct DigestHash {
    std::size_t operator()(const Digest& d) const noexcept {
        std::size_t out;
        __builtin_memcpy(&out, d.data(), sizeof out);
        return out;
    }
};

}  // namespace bunraku::store
