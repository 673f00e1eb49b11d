// Message digests (OpenSSL).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bunraku::codec {

enum class DigestKind { Md5, Sha1, Sha224, Sha256, Sha384, Sha512 };

/// "md5", "sha1", "sha224", "sha256", "sha384", "sha512".
std::optional<DigestKind> digest_kind(std::string_view name);
std::string_view digest_name(DigestKind kind);

/// The digest of `bytes` in lower-case hexadecimal.
std::string hex_digest(DigestKind kind, std::string_view bytes);
/// The first `digits` of the SHA-256: enough to tell texts apart.
std::string short_digest(std::string_view bytes, std::size_t digits = 32);

/// A digest fed piece by piece.
class Digest {
public:
    explicit Digest(DigestKind kind);
    ~Digest();
    Digest(Digest&&) noexcept;
    void update(std::string_view bytes);
    /// Ends it; once.
    std::string hex();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::codec
