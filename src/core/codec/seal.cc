// SPDX-License-Identifier: Apache-2.0
#include "core/codec/seal.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "core/base/assert.h"

namespace bunraku::codec {

namespace {

constexpr std::size_t kSalt = 12, kNonce = 12, kTag = 16;
static_assert(kSalt + kNonce + kTag == kSealBytes);

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

/// Grows `text` without writing zeros, because the caller overwrites the new bytes at once. (The
/// callback ignores its size, which is a capacity in some libraries.)
void lengthen(std::string& text, std::size_t size) {
    text.resize_and_overwrite(size, [size](char*, std::size_t) { return size; });
}

/// Fetched once, because for a short text the lookup costs more than the encryption.
const EVP_CIPHER* aes() {
    static const EVP_CIPHER* const known = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    return known;
}

/// Initialises the cipher from `salted`: first the salt, then the nonce.
Cipher begin(const SealKey& key, std::string_view salted, bool sealing) {
    BUNRAKU_ASSERT(salted.size() == kSalt + kNonce);
    Mac own = hmac_sha256(bytes_of(key), salted.substr(0, kSalt));
    Cipher out(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    if (!out || !aes() ||
        EVP_CipherInit_ex2(out.get(), aes(), own.data(), raw(salted.substr(kSalt, kNonce)),
                           sealing ? 1 : 0, nullptr) != 1) {
        throw std::bad_alloc();
    }
    OPENSSL_cleanse(own.data(), own.size());
    return out;
}

bool feed(EVP_CIPHER_CTX* cipher, unsigned char* out, std::string_view in) {
    BUNRAKU_ASSERT(in.size() <= INT_MAX);
    int done = 0;
    return EVP_CipherUpdate(cipher, out, &done, raw(in), static_cast<int>(in.size())) == 1;
}

}  // namespace

Mac hmac_sha256(std::string_view key, std::string_view bytes) {
    Mac out{};
    unsigned size = 0;
    if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(bytes), bytes.size(),
              out.data(), &size)) {
        throw std::bad_alloc();
    }
    return out;
}

base::Result<void> seal(std::string& out, const SealKey& key, std::string_view text,
                        std::string_view context) {
    if (text.size() > INT_MAX) return base::failure("the text is too long to be encrypted");
    const std::size_t begins = out.size(), body = begins + kSalt + kNonce;
    lengthen(out, body + text.size() + kTag);
    if (RAND_bytes(raw(out) + begins, kSalt + kNonce) != 1) {
        out.resize(begins);
        return base::failure("the system returned no random bytes");
    }
    Cipher cipher = begin(key, std::string_view(out).substr(begins, kSalt + kNonce), true);
    int rest = 0;
    if (!feed(cipher.get(), nullptr, context) || !feed(cipher.get(), raw(out) + body, text) ||
        EVP_CipherFinal_ex(cipher.get(), raw(out) + body + text.size(), &rest) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTag,
                            raw(out) + out.size() - kTag) != 1) {
        out.resize(begins);
        return base::failure("encryption failed");
    }
    BUNRAKU_ASSERT(out.size() == begins + kSealBytes + text.size());
    return {};
}

base::Result<std::string> unseal(const SealKey& key, std::string_view sealed,
                                 std::string_view context) {
    if (sealed.size() < kSealBytes || sealed.size() > INT_MAX)
        return base::failure("it is truncated");
    std::string tag(sealed.substr(sealed.size() - kTag));
    const std::string_view text = sealed.substr(kSalt + kNonce, sealed.size() - kSealBytes);
    std::string out;
    lengthen(out, text.size());
    BUNRAKU_ASSERT(out.size() + kSealBytes == sealed.size());
    Cipher cipher = begin(key, sealed.substr(0, kSalt + kNonce), false);
    int rest = 0;
    unsigned char none = 0;
    if (!feed(cipher.get(), nullptr, context) || !feed(cipher.get(), raw(out), text) ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()) != 1 ||
        EVP_CipherFinal_ex(cipher.get(), &none, &rest) != 1) {
        std::ranges::fill(out, '\0');
        return base::failure("it was modified, or encrypted with another key");
    }
    return out;
}

}  // namespace bunraku::codec
