// Enveloped data of PKCS#7 (eyaml's ENC[PKCS7,..]), deciphered by OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

/// The text in `cipher` (DER, or PEM), with the RSA key and the certificate it was made for, both
/// PEM. The error is what Ruby's OpenSSL 3.0 says: "bad decrypt", "private key does not match
/// certificate", ...
base::Result<std::string> pkcs7_decrypt(std::string_view cipher, std::string_view private_key_pem,
                                        std::string_view certificate_pem);

}  // namespace bunraku::codec
