// SPDX-License-Identifier: Apache-2.0
// OpenSSL helpers shared by the files of this folder (internal to it).
#pragma once

#include <cstdint>
#include <memory>
#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::pki {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

inline Bio memory(std::string_view text) {
    return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

inline Bio memory() { return {BIO_new(BIO_s_mem()), BIO_free}; }

inline std::string text_of(BIO* bio) {
    char* data = nullptr;
    long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<std::size_t>(size > 0 ? size : 0));
}

inline std::string bytes_of(const ASN1_STRING* text) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// Returns the text of a DER string, or the bytes unchanged.
std::string text_value(std::string der);
std::int64_t seconds_of(const ASN1_TIME* time);
/// Formats as "CN=x", like Ruby's OpenSSL::X509::Name#to_utf8.
std::string name_utf8(const X509_NAME* name);
std::string common_name_of(const X509_NAME* name);
/// Turns "ab12" into "AB:12".
std::string with_colons(std::string_view hex);
std::string key_id_text(const ASN1_OCTET_STRING* id);
/// Returns names as "DNS:x" and "IP:1.2.3.4". Sets `others` if there are other kinds.
std::vector<std::string> names_of(const GENERAL_NAMES* names, bool* others);
/// Returns the dotted form, or an empty text if it is unreasonably long.
std::string oid_text(const ASN1_OBJECT* object);
/// Makes an extension whose value is the DER of a UTF8String. Returns null if `oid` is not an OID.
X509_EXTENSION* make_text_extension(const std::string& oid, const std::string& text);
/// Makes an extension of alternative names ("DNS:x", "IP:1.2.3.4"). Returns null if one of them is
/// not valid.
X509_EXTENSION* make_names_extension(const std::vector<std::string>& names);
/// Returns the digest for signatures with a key, or null for keys with a fixed digest (Ed25519).
const EVP_MD* digest_for(EVP_PKEY* key);

}  // namespace bunraku::pki
