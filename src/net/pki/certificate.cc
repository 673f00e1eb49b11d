// SPDX-License-Identifier: Apache-2.0
#include "net/pki/certificate.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/pem.h"
#include "net/pki/native.h"

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

Result<std::string> read_file(const std::string& path, const char* what) {
    std::FILE* file = std::fopen(path.c_str(), "rbe");
    if (!file) {
        return failure(
            fmt::format("Could not read the {} {}: {}", what, path, std::strerror(errno)), errno);
    }
    std::string out;
    char buffer[16384];
    // Our PEM files are far shorter than this limit.
    while (std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) {
        out.append(buffer, n);
        if (out.size() > (std::size_t{64} << 20)) break;
    }
    std::fclose(file);
    return out;
}

/// Formats as "/CN=a/O=b", like Ruby's OpenSSL::X509::Name#to_s.
std::string name_text(const X509_NAME* name) {
    char buffer[1024];
    if (!name || !X509_NAME_oneline(name, buffer, sizeof buffer)) return {};
    return buffer;
}

int give_passphrase(char* buffer, int size, int, void* phrase) {
    const auto& text = *static_cast<const std::string*>(phrase);
    if (text.size() > static_cast<std::size_t>(size)) return -1;
    std::memcpy(buffer, text.data(), text.size());
    return static_cast<int>(text.size());
}

constexpr std::string_view kPuppetTree = "1.3.6.1.4.1.34380.1.";

/// Short names below kPuppetTree, as in Puppet 8.11.
struct OidName {
    std::string_view oid, name;
};
constexpr OidName kOidNames[] = {
    {"1.1", "pp_uuid"},           {"1.2", "pp_instance_id"},
    {"1.3", "pp_image_name"},     {"1.4", "pp_preshared_key"},
    {"1.5", "pp_cost_center"},    {"1.6", "pp_product"},
    {"1.7", "pp_project"},        {"1.8", "pp_application"},
    {"1.9", "pp_service"},        {"1.10", "pp_employee"},
    {"1.11", "pp_created_by"},    {"1.12", "pp_environment"},
    {"1.13", "pp_role"},          {"1.14", "pp_software_version"},
    {"1.15", "pp_department"},    {"1.16", "pp_cluster"},
    {"1.17", "pp_provisioner"},   {"1.18", "pp_region"},
    {"1.19", "pp_datacenter"},    {"1.20", "pp_zone"},
    {"1.21", "pp_network"},       {"1.22", "pp_securitypolicy"},
    {"1.23", "pp_cloudplatform"}, {"1.24", "pp_apptier"},
    {"1.25", "pp_hostname"},      {"1.26", "pp_owner"},
    {"3.1", "pp_authorization"},  {"3.2", "pp_auth_auto_renew"},
    {"3.13", "pp_auth_role"},     {"3.39", "pp_cli_auth"},
};

}  // namespace

std::string puppet_oid(std::string_view name) {
    for (const auto& known : kOidNames)
        if (known.name == name) return fmt::format("{}{}", kPuppetTree, known.oid);
    return {};
}

std::string puppet_name(std::string_view oid) {
    if (oid.starts_with(kPuppetTree)) {
        const auto below = oid.substr(kPuppetTree.size());
        for (const auto& known : kOidNames)
            if (known.oid == below) return std::string(known.name);
    }
    return std::string(oid);
}

bool in_puppet_tree(std::string_view oid, int tree) {
    return oid.starts_with(fmt::format("{}{}.", kPuppetTree, tree));
}

// Returns values of other types unchanged, because Puppet once signed bare texts (PUP-3560).
std::string text_value(std::string der) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    const auto* end = at + der.size();
    ASN1_TYPE* parsed = d2i_ASN1_TYPE(nullptr, &at, static_cast<long>(der.size()));
    ERR_clear_error();
    if (!parsed) return der;
    std::string out = std::move(der);
    switch (at == end ? ASN1_TYPE_get(parsed) : -1) {
        case V_ASN1_UTF8STRING:
        case V_ASN1_PRINTABLESTRING:
        case V_ASN1_IA5STRING:
        case V_ASN1_T61STRING:
        case V_ASN1_VISIBLESTRING:
        case V_ASN1_OCTET_STRING: out = bytes_of(parsed->value.asn1_string); break;
        case V_ASN1_BOOLEAN: out = parsed->value.boolean ? "true" : "false"; break;
        default: break;
    }
    ASN1_TYPE_free(parsed);
    return out;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
    std::tm tm{};
    if (!time || ASN1_TIME_to_tm(time, &tm) != 1) return 0;
    return ::timegm(&tm);
}

std::string name_utf8(const X509_NAME* name) {
    auto bio = memory();
    X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    return text_of(bio.get());
}

std::string common_name_of(const X509_NAME* name) {
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0) return {};
    const ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    int size = ASN1_STRING_to_UTF8(&utf8, data);
    if (size < 0) return {};
    std::string out(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
    // With a NUL inside, some programs would read "good\0.evil" as "good".
    if (out.find('\0') != std::string::npos) return {};
    return out;
}

std::string with_colons(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i++) {
        if (i && i % 2 == 0) out += ':';
        out += base::upper(hex[i]);
    }
    return out;
}

std::string key_id_text(const ASN1_OCTET_STRING* id) {
    if (!id) return {};
    std::string hex;
    for (unsigned char c : bytes_of(id)) hex += fmt::format("{:02x}", c);
    return with_colons(hex);
}

std::vector<std::string> names_of(const GENERAL_NAMES* names, bool* others) {
    std::vector<std::string> out;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
        // For other kinds, `d` is not a string.
        if (name->type != GEN_DNS && name->type != GEN_IPADD) {
            if (others) *others = true;
            continue;
        }
        const std::string bytes = bytes_of(name->d.ia5);
        if (name->type == GEN_DNS) {
            out.push_back("DNS:" + bytes);
        } else if (bytes.size() == 4 || bytes.size() == 16) {
            char text[INET6_ADDRSTRLEN];
            ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
            out.push_back(std::string("IP:") + text);
        } else if (others) {
            *others = true;
        }
    }
    return out;
}

std::string oid_text(const ASN1_OBJECT* object) {
    char oid[128];
    int size = OBJ_obj2txt(oid, sizeof oid, object, 1);
    if (size <= 0 || size >= static_cast<int>(sizeof oid)) return {};
    return oid;
}

std::string openssl_error() {
    unsigned long code = 0;
    // The first error is the cause; later errors are its consequences.
    for (unsigned long next; (next = ERR_get_error()) != 0;)
        if (code == 0) code = next;
    if (code == 0) return "unknown error";
    char buffer[256];
    const char* reason = ERR_reason_error_string(code);
    if (reason) return reason;
    ERR_error_string_n(code, buffer, sizeof buffer);
    return buffer;
}

Certificate Certificate::adopt(X509* x509) {
    BUNRAKU_ASSERT(x509 != nullptr);
    return Certificate(std::shared_ptr<X509>(x509, X509_free));
}

Result<Certificate> Certificate::from_pem(std::string_view pem, const std::string& name) {
    auto bio = memory(pem);
    X509* x509 = PEM_read_bio_X509(bio.get(), nullptr, codec::no_passphrase, nullptr);
    if (!x509)
        return failure(fmt::format("{} contains no certificate in PEM: {}", name, openssl_error()));
    return adopt(x509);
}

std::string Certificate::common_name() const {
    return common_name_of(X509_get_subject_name(x509_.get()));
}

std::string Certificate::subject_utf8() const {
    return name_utf8(X509_get_subject_name(x509_.get()));
}

std::string Certificate::issuer_utf8() const {
    return name_utf8(X509_get_issuer_name(x509_.get()));
}

bool Certificate::is_authority() const { return X509_check_ca(x509_.get()) == 1; }

std::string Certificate::subject_key_id() const {
    return key_id_text(X509_get0_subject_key_id(x509_.get()));
}

bool Certificate::operator==(const Certificate& other) const {
    return X509_cmp(x509_.get(), other.x509_.get()) == 0;
}

std::string Certificate::text() const {
    auto bio = memory();
    X509_print(bio.get(), x509_.get());
    return text_of(bio.get());
}

std::string Certificate::serial_decimal() const {
    BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509_.get()), nullptr);
    if (!number) return {};
    char* text = BN_bn2dec(number);
    std::string out = text ? text : "";
    OPENSSL_free(text);
    BN_free(number);
    return out;
}

std::string Certificate::subject() const { return name_text(X509_get_subject_name(x509_.get())); }

std::string Certificate::issuer() const { return name_text(X509_get_issuer_name(x509_.get())); }

std::string Certificate::serial() const {
    BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509_.get()), nullptr);
    if (!number) return {};
    char* text = BN_bn2hex(number);
    std::string digits = text ? text : "";
    OPENSSL_free(text);
    BN_free(number);
    if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
    return "0x" + digits;
}

std::string Certificate::fingerprint(codec::DigestKind kind) const {
    unsigned char* der = nullptr;
    int size = i2d_X509(x509_.get(), &der);
    if (size < 0) return {};
    std::string hex = codec::hex_digest(
        kind, std::string_view(reinterpret_cast<char*>(der), static_cast<std::size_t>(size)));
    OPENSSL_free(der);
    return with_colons(hex);
}

std::int64_t Certificate::not_before() const {
    return seconds_of(X509_get0_notBefore(x509_.get()));
}

std::int64_t Certificate::not_after() const { return seconds_of(X509_get0_notAfter(x509_.get())); }

std::vector<std::string> Certificate::alternative_names() const {
    auto* names = static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509_.get(), NID_subject_alt_name, nullptr, nullptr));
    auto out = names_of(names, nullptr);
    GENERAL_NAMES_free(names);
    return out;
}

std::vector<Extension> Certificate::puppet_extensions() const {
    std::vector<Extension> out;
    for (int i = 0; i < X509_get_ext_count(x509_.get()); i++) {
        X509_EXTENSION* extension = X509_get_ext(x509_.get(), i);
        const auto oid = oid_text(X509_EXTENSION_get_object(extension));
        // Includes registered, private and authorization extensions, like Puppet's trusted facts.
        if (!in_puppet_tree(oid, 1) && !in_puppet_tree(oid, 2) && !in_puppet_tree(oid, 3)) continue;
        out.push_back(
            {oid, puppet_name(oid), text_value(bytes_of(X509_EXTENSION_get_data(extension)))});
    }
    return out;
}

std::string Certificate::pem() const {
    auto bio = memory();
    PEM_write_bio_X509(bio.get(), x509_.get());
    return text_of(bio.get());
}

PrivateKey PrivateKey::adopt(EVP_PKEY* key) {
    BUNRAKU_ASSERT(key != nullptr);
    return PrivateKey(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem, const std::string& name,
                                        const std::string& passphrase) {
    auto bio = memory(pem);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(
        bio.get(), nullptr, passphrase.empty() ? codec::no_passphrase : give_passphrase,
        const_cast<std::string*>(&passphrase));
    if (!key)
        return failure(fmt::format("{} contains no private key in PEM: {}", name, openssl_error()));
    return adopt(key);
}

std::string PrivateKey::public_pem() const {
    auto bio = memory();
    PEM_write_bio_PUBKEY(bio.get(), key_.get());
    return text_of(bio.get());
}

bool PrivateKey::is_rsa() const { return EVP_PKEY_is_a(key_.get(), "RSA") == 1; }

bool PrivateKey::is_ec() const { return EVP_PKEY_is_a(key_.get(), "EC") == 1; }

std::string PrivateKey::pem() const {
    auto bio = memory();
    PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return text_of(bio.get());
}

bool PrivateKey::belongs_to(const Certificate& certificate) const {
    bool same = X509_check_private_key(certificate.native(), key_.get()) == 1;
    ERR_clear_error();
    return same;
}

Result<std::vector<Certificate>> read_certificates(const std::string& path) {
    auto text = BUNRAKU_TRY(read_file(path, "certificate"));
    return parse_certificates(text, path);
}

Result<std::vector<Certificate>> parse_certificates(std::string_view pem, const std::string& path) {
    auto bio = memory(pem);
    std::vector<Certificate> out;
    while (X509* x509 = PEM_read_bio_X509(bio.get(), nullptr, codec::no_passphrase, nullptr))
        out.push_back(Certificate::adopt(x509));
    auto last = ERR_peek_last_error();
    bool ended = ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (out.empty() || !ended)
        return failure(fmt::format("{} contains no certificate in PEM: {}", path, openssl_error()));
    BUNRAKU_ASSERT(!out.empty());
    ERR_clear_error();
    return out;
}

Result<PrivateKey> read_private_key(const std::string& path) {
    auto text = BUNRAKU_TRY(read_file(path, "private key"));
    return PrivateKey::from_pem(text, path);
}

Result<std::vector<Crl>> read_crls(const std::string& path) {
    auto text = BUNRAKU_TRY(read_file(path, "certificate revocation list"));
    return parse_crls(text, path);
}

Result<std::vector<Crl>> parse_crls(std::string_view pem, const std::string& path) {
    auto bio = memory(pem);
    std::vector<Crl> out;
    while (X509_CRL* crl = PEM_read_bio_X509_CRL(bio.get(), nullptr, codec::no_passphrase, nullptr))
        out.emplace_back(crl, X509_CRL_free);
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (out.empty() || !ended) {
        return failure(fmt::format("{} contains no certificate revocation list in PEM: {}", path,
                                   openssl_error()));
    }
    ERR_clear_error();
    return out;
}

}  // namespace bunraku::pki
