// SPDX-License-Identifier: Apache-2.0
// Decrypts PKCS#7 enveloped data (eyaml's ENC[PKCS7,..]) with OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

/// Decrypts `cipher` (DER or PEM) with an RSA key and its certificate, both PEM. The error has the
/// text of Ruby's OpenSSL 3.0: "bad decrypt", "private key does not match certificate", ...
base::Result<std::string> pkcs7_decrypt(std::string_view cipher, std::string_view private_key_pem,
                                        std::string_view certificate_pem);

}  // namespace bunraku::codec
