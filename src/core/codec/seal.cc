#include "core/codec/seal.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace bunraku::codec {

namespace {

constexpr std::size_t kSalt = 12, kNonce = 12, kTag = 16;
static_assert(kSalt + kNonce + kTag == kSealBytes);

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

/// Without zeros in what is written right away. (The size that is handed on is a capacity, with
/// some libraries.)
void lengthen(std::string& text, std::size_t size) {
    text.resize_and_overwrite(size, [size](char*, std::size_t) { return size; });
}

/// Fetched once: for a short text that costs more than all the rest.
const EVP_CIPHER* aes() {
    static const EVP_CIPHER* const known = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    return known;
}

/// Of `salted`, whose first bytes are the salt and the next ones the nonce.
Cipher begin(const SealKey& key, std::string_view salted, bool sealing) {
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
                        std::string_view place) {
    if (text.size() > INT_MAX) return base::failure("too much to be encrypted");
    const std::size_t begins = out.size(), body = begins + kSalt + kNonce;
    lengthen(out, body + text.size() + kTag);
    if (RAND_bytes(raw(out) + begins, kSalt + kNonce) != 1) {
        out.resize(begins);
        return base::failure("no random bytes to be had");
    }
    Cipher cipher = begin(key, std::string_view(out).substr(begins, kSalt + kNonce), true);
    int rest = 0;
    if (!feed(cipher.get(), nullptr, place) || !feed(cipher.get(), raw(out) + body, text) ||
        EVP_CipherFinal_ex(cipher.get(), raw(out) + body + text.size(), &rest) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTag,
                            raw(out) + out.size() - kTag) != 1) {
        out.resize(begins);
        return base::failure("it could not be encrypted");
    }
    return {};
}

base::Result<std::string> unseal(const SealKey& key, std::string_view sealed,
                                 std::string_view place) {
    if (sealed.size() < kSealBytes || sealed.size() > INT_MAX) return base::failure("it is cut");
    std::string tag(sealed.substr(sealed.size() - kTag));
    const std::string_view text = sealed.substr(kSalt + kNonce, sealed.size() - kSealBytes);
    std::string out;
    lengthen(out, text.size());
    Cipher cipher = begin(key, sealed.substr(0, kSalt + kNonce), false);
    int rest = 0;
    unsigned char none = 0;
    if (!feed(cipher.get(), nullptr, place) || !feed(cipher.get(), raw(out), text) ||
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTag, tag.data()) != 1 ||
        EVP_CipherFinal_ex(cipher.get(), &none, &rest) != 1) {
        std::ranges::fill(out, '\0');
        return base::failure("it was changed, or encrypted with another key");
    }
    return out;
}

}  // namespace bunraku::codec
