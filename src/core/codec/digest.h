// SPDX-License-Identifier: Apache-2.0
// Message digests (OpenSSL).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::codec {

enum class DigestKind { Md5, Sha1, Sha224, Sha256, Sha384, Sha512 };

/// Reads "md5", "sha1", "sha224", "sha256", "sha384" or "sha512".
std::optional<DigestKind> digest_kind(std::string_view name);
std::string_view digest_name(DigestKind kind);

/// Returns the digest of `bytes` in lower-case hexadecimal.
std::string hex_digest(DigestKind kind, std::string_view bytes);
/// Returns the first `digits` digits of the SHA-256, which are enough to distinguish texts.
std::string short_digest(std::string_view bytes, std::size_t digits = 32);

/// An incremental digest.
class Digest {
public:
    explicit Digest(DigestKind kind);
    ~Digest();
    Digest(Digest&&) noexcept;
    void update(std::string_view bytes);
    /// Finishes the digest. Call it only once.
    std::string hex();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::codec
