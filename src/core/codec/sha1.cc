// SPDX-License-Identifier: Apache-2.0
#include "core/codec/sha1.h"

#include <string.h>

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace bunraku::codec {

namespace {
SHA_CTX* context(unsigned char* bytes) { return reinterpret_cast<SHA_CTX*>(bytes); }
}  // namespace

Sha1::Sha1() {
    static_assert(sizeof(SHA_CTX) <= sizeof context_);
    SHA1_Init(context(context_));
}

Sha1& Sha1::add(std::string_view bytes) {
    SHA1_Update(context(context_), bytes.data(), bytes.size());
    return *this;
}

Sha1& Sha1::part(std::string_view text) {
    number(static_cast<std::int64_t>(text.size()));
    return add(text);
}

Sha1& Sha1::number(std::int64_t n) { return add({reinterpret_cast<const char*>(&n), sizeof n}); }

Sha1Digest Sha1::digest() {
    Sha1Digest out;
    SHA1_Final(out.data(), context(context_));
    return out;
}

Sha1Digest sha1(std::string_view bytes) { return Sha1().add(bytes).digest(); }

std::string to_hex(const Sha1Digest& digest) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    out.reserve(digest.size() * 2);
    for (std::uint8_t b : digest) {
        out += kHex[b >> 4];
        out += kHex[b & 15];
    }
    return out;
}

Sha1Digest digest_from(std::string_view bytes) {
    Sha1Digest out{};
    if (bytes.size() == out.size()) memcpy(out.data(), bytes.data(), out.size());
    return out;
}

}  // namespace bunraku::codec
