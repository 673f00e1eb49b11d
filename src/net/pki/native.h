// Pieces of OpenSSL that several files of this folder work with; inside it only.
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

/// The text of a DER string, or the bytes as they are.
std::string text_value(std::string der);
std::int64_t seconds_of(const ASN1_TIME* time);
/// "CN=x", as Ruby's OpenSSL::X509::Name#to_utf8.
std::string name_utf8(const X509_NAME* name);
std::string common_name_of(const X509_NAME* name);
/// "ab12" -> "AB:12".
std::string with_colons(std::string_view hex);
std::string key_id_text(const ASN1_OCTET_STRING* id);
/// "DNS:x" and "IP:1.2.3.4"; `others` is set where there are other kinds.
std::vector<std::string> names_of(const GENERAL_NAMES* names, bool* others);
/// Dotted; empty where it is absurdly long.
std::string oid_text(const ASN1_OBJECT* object);
/// An extension whose value is a text, DER of a UTF8String; null: the OID is none.
X509_EXTENSION* make_text_extension(const std::string& oid, const std::string& text);
/// Alternative names ("DNS:x", "IP:1.2.3.4"); null: one of them is none.
X509_EXTENSION* make_names_extension(const std::vector<std::string>& names);
/// What a key signs with; null for keys that choose themselves (Ed25519).
const EVP_MD* digest_for(EVP_PKEY* key);

}  // namespace bunraku::pki
