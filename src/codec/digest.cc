#include "codec/digest.h"

#include <array>
#include <new>
#include <openssl/evp.h>

namespace bunraku::codec {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"md5",    "sha1",   "sha224",
                                                    "sha256", "sha384", "sha512"};

// Looked up once: for a short text that costs OpenSSL more than the digest itself.
const EVP_MD* algorithm(DigestKind kind) {
    static const std::array<const EVP_MD*, kNames.size()> known = [] {
        std::array<const EVP_MD*, kNames.size()> out{};
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::string name(kNames[i]);
            out[i] = EVP_MD_fetch(nullptr, name.c_str(), nullptr);
            if (!out[i]) out[i] = EVP_get_digestbyname(name.c_str());
        }
        return out;
    }();
    return known[static_cast<std::size_t>(kind)];
}

}  // namespace

std::optional<DigestKind> digest_kind(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) return static_cast<DigestKind>(i);
    }
    return std::nullopt;
}

std::string_view digest_name(DigestKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

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

std::string Digest::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(impl_->context, raw.data(), &size);
    std::string out;
    out.resize(std::size_t{size} * 2);
    for (std::size_t i = 0; i < size; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        out[2 * i] = kDigits[raw[i] >> 4];
        out[2 * i + 1] = kDigits[raw[i] & 15];
    }
    return out;
}

std::string hex_digest(DigestKind kind, std::string_view bytes) {
    Digest digest(kind);
    digest.update(bytes);
    return digest.hex();
}

std::string short_digest(std::string_view bytes, std::size_t digits) {
    return hex_digest(DigestKind::Sha256, bytes).substr(0, digits);
}

}  // namespace bunraku::codec
