// SPDX-License-Identifier: Apache-2.0
#include "core/codec/digest.h"

#include <array>
#include <atomic>
#include <new>
#include <openssl/evp.h>

#include "core/base/assert.h"

namespace bunraku::codec {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"md5",    "sha1",   "sha224",
                                                    "sha256", "sha384", "sha512"};

// Looks up each algorithm once. For a short text, OpenSSL's lookup costs more than the digest
// itself.
const EVP_MD* algorithm(DigestKind kind) {
    static std::array<std::atomic<const EVP_MD*>, kNames.size()> known{};
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < kNames.size());
    auto& slot = known[static_cast<std::size_t>(kind)];
    const EVP_MD* found = slot.load(std::memory_order_acquire);
    if (found) return found;
    const std::string name(digest_name(kind));
    found = EVP_MD_fetch(nullptr, name.c_str(), nullptr);
    if (!found) found = EVP_get_digestbyname(name.c_str());
    // If two threads look up the same algorithm, both pointers stay valid until the process ends.
    slot.store(found, std::memory_order_release);
    return found;
}

std::string hex_of(EVP_MD_CTX* context) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context, raw.data(), &size);
    std::string out;
    out.resize(std::size_t{size} * 2);
    for (std::size_t i = 0; i < size; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        out[2 * i] = kDigits[raw[i] >> 4];
        out[2 * i + 1] = kDigits[raw[i] & 15];
    }
    return out;
}

}  // namespace

std::optional<DigestKind> digest_kind(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) return static_cast<DigestKind>(i);
    }
    return std::nullopt;
}

std::string_view digest_name(DigestKind kind) {
    BUNRAKU_ASSERT(static_cast<std::size_t>(kind) < kNames.size());
    return kNames[static_cast<std::size_t>(kind)];
}

struct Digest::Impl {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~Impl() { EVP_MD_CTX_free(context); }
};

Digest::Digest(DigestKind kind) : impl_(std::make_unique<Impl>()) {
    if (!impl_->context || EVP_DigestInit_ex(impl_->context, algorithm(kind), nullptr) != 1)
        throw std::bad_alloc();
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;

void Digest::update(std::string_view bytes) {
    EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size());
}

std::string Digest::hex() { return hex_of(impl_->context); }

std::string hex_digest(DigestKind kind, std::string_view bytes) {
    // One context per thread. For a short text, creating a context costs more than the digest.
    struct Context {
        EVP_MD_CTX* made = EVP_MD_CTX_new();
        ~Context() { EVP_MD_CTX_free(made); }
    };
    thread_local const Context context;
    if (!context.made || EVP_DigestInit_ex(context.made, algorithm(kind), nullptr) != 1)
        throw std::bad_alloc();
    EVP_DigestUpdate(context.made, bytes.data(), bytes.size());
    return hex_of(context.made);
}

std::string short_digest(std::string_view bytes, std::size_t digits) {
    BUNRAKU_ASSERT(digits > 0 && digits <= 64);
    return hex_digest(DigestKind::Sha256, bytes).substr(0, digits);
}

}  // namespace bunraku::codec
