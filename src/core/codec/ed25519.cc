// SPDX-License-Identifier: Apache-2.0
#include "core/codec/ed25519.h"

#include <memory>
#include <new>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "core/base/assert.h"
#include "core/codec/pem.h"

namespace bunraku::codec {

namespace {

constexpr std::size_t kKeyBytes = 32, kSignatureBytes = 64;

using EdKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using EdContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

EdKey private_key(std::string_view seed) {
    BUNRAKU_ASSERT(seed.size() == kKeyBytes);
    EdKey key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed), seed.size()),
              EVP_PKEY_free);
    if (!key) throw std::bad_alloc();
    return key;
}

/// Returns the raw seed and the raw public key.
base::Result<std::pair<std::string, std::string>> halves(EVP_PKEY* key) {
    std::string seed(kKeyBytes, '\0'), shown(kKeyBytes, '\0');
    std::size_t a = seed.size(), b = shown.size();
    if (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_private_key(key, reinterpret_cast<unsigned char*>(seed.data()), &a) != 1 ||
        EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(shown.data()), &b) != 1 ||
        a != kKeyBytes || b != kKeyBytes) {
        return base::failure("the text is not an unencrypted Ed25519 private key in PEM");
    }
    return std::pair(std::move(seed), std::move(shown));
}

}  // namespace

bool ed25519_verify(std::string_view public_key, std::string_view message,
                    std::string_view signature) {
    if (public_key.size() != kKeyBytes || signature.size() != kSignatureBytes) return false;
    const EdKey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(public_key),
                                                public_key.size()),
                    EVP_PKEY_free);
    const EdContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    return key && context &&
           EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(message),
                            message.size()) == 1;
}

std::string blake2b_512(std::string_view bytes) {
    std::string out(64, '\0');
    unsigned size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &size,
                   EVP_blake2b512(), nullptr) != 1 ||
        size != out.size()) {
        throw std::bad_alloc();
    }
    return out;
}

base::Result<SigningKey> SigningKey::generate() {
    const EdKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
    auto [seed, shown] = BUNRAKU_TRY(halves(key.get()));
    return SigningKey(std::move(seed), std::move(shown));
}

base::Result<SigningKey> SigningKey::parse(std::string_view pem) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> in(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
    const EdKey key(PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr),
                    EVP_PKEY_free);
    auto [seed, shown] = BUNRAKU_TRY(halves(key.get()));
    return SigningKey(std::move(seed), std::move(shown));
}

std::string SigningKey::pem() const {
    const EdKey key = private_key(seed_);
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    if (!out || PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                              nullptr) != 1) {
        throw std::bad_alloc();
    }
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

std::string SigningKey::sign(std::string_view message) const {
    const EdKey key = private_key(seed_);
    const EdContext context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::string out(kSignatureBytes, '\0');
    std::size_t size = out.size();
    if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                       octets(message), message.size()) != 1 ||
        size != kSignatureBytes) {
        throw std::bad_alloc();
    }
    return out;
}

}  // namespace bunraku::codec
