// Ed25519 signatures (OpenSSL), and the BLAKE2b that minisign has signed in place of long files.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

/// Did the owner of `public_key` (32 bytes) sign `message` (64 bytes of `signature`)?
bool ed25519_verify(std::string_view public_key, std::string_view message,
                    std::string_view signature);

/// 64 bytes.
std::string blake2b_512(std::string_view bytes);

/// A key that signs. Kept as PKCS #8 in PEM, as OpenSSL writes it.
class SigningKey {
public:
    static base::Result<SigningKey> generate();
    /// Fails where the text is no unencrypted Ed25519 key.
    static base::Result<SigningKey> parse(std::string_view pem);
    std::string pem() const;
    const std::string& public_key() const { return public_; }  ///< 32 bytes
    std::string sign(std::string_view message) const;          ///< 64 bytes

private:
    SigningKey(std::string seed, std::string public_key)
        : seed_(std::move(seed)), public_(std::move(public_key)) {}
    std::string seed_, public_;
};

}  // namespace bunraku::codec
