// SPDX-License-Identifier: Apache-2.0
// Ed25519 signatures (OpenSSL), and the BLAKE2b hash that minisign signs for large files.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

/// Reports whether `signature` (64 bytes) is a valid signature of `message` under `public_key` (32
/// bytes).
bool ed25519_verify(std::string_view public_key, std::string_view message,
                    std::string_view signature);

/// Returns 64 bytes.
std::string blake2b_512(std::string_view bytes);

/// A private key. Its text form is PKCS #8 in PEM, as OpenSSL writes it.
class SigningKey {
public:
    static base::Result<SigningKey> generate();
    /// Fails if the text is not an unencrypted Ed25519 key.
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
