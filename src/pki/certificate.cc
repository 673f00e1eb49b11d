#include "pki/certificate.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

Bio memory(std::string_view text) {
    return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

Bio memory() { return {BIO_new(BIO_s_mem()), BIO_free}; }

std::string text_of(BIO* bio) {
    char* data = nullptr;
    long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<std::size_t>(size > 0 ? size : 0));
}

Result<std::string> read_file(const std::string& path, const char* what) {
    std::FILE* file = std::fopen(path.c_str(), "rbe");
    if (!file) {
        return failure(
            fmt::format("Could not read the {} {}: {}", what, path, std::strerror(errno)), errno);
    }
    std::string out;
    char buffer[16384];
    // No PEM file of ours is anywhere near this long.
    while (std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) {
        out.append(buffer, n);
        if (out.size() > (std::size_t{64} << 20)) break;
    }
    std::fclose(file);
    return out;
}

/// "/CN=a/O=b", as Ruby's OpenSSL::X509::Name#to_s.
std::string name_text(const X509_NAME* name) {
    char buffer[1024];
    if (!name || !X509_NAME_oneline(name, buffer, sizeof buffer)) return {};
    return buffer;
}

std::int64_t seconds(const ASN1_TIME* time) {
    std::tm tm{};
    if (!time || ASN1_TIME_to_tm(time, &tm) != 1) return 0;
    return ::timegm(&tm);
}

/// An encrypted key must not stop a server with a question on the terminal.
int no_password(char*, int, int, void*) { return -1; }

}  // namespace

std::string openssl_error() {
    unsigned long code = 0;
    // The first error is the cause, later ones follow from it.
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
    return Certificate(std::shared_ptr<X509>(x509, X509_free));
}

Result<Certificate> Certificate::from_pem(std::string_view pem, const std::string& name) {
    auto bio = memory(pem);
    X509* x509 = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr);
    if (!x509)
        return failure(fmt::format("{} holds no certificate in PEM: {}", name, openssl_error()));
    return adopt(x509);
}

std::string Certificate::common_name() const {
    const X509_NAME* name = X509_get_subject_name(x509_.get());
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0) return {};
    const ASN1_STRING* data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    int size = ASN1_STRING_to_UTF8(&utf8, data);
    if (size < 0) return {};
    std::string out(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
    // A NUL inside would let "good\0.evil" pass for "good" somewhere.
    if (out.find('\0') != std::string::npos) return {};
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
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i++) {
        if (i && i % 2 == 0) out += ':';
        char c = hex[i];
        out += c >= 'a' ? static_cast<char>(c - 32) : c;
    }
    return out;
}

std::int64_t Certificate::not_before() const { return seconds(X509_get0_notBefore(x509_.get())); }

std::int64_t Certificate::not_after() const { return seconds(X509_get0_notAfter(x509_.get())); }

std::vector<std::string> Certificate::alternative_names() const {
    std::vector<std::string> out;
    auto* names = static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509_.get(), NID_subject_alt_name, nullptr, nullptr));
    if (!names) return out;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
        const auto* bytes =
            reinterpret_cast<const unsigned char*>(ASN1_STRING_get0_data(name->d.ia5));
        auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.ia5));
        if (name->type == GEN_DNS) {
            out.push_back("DNS:" + std::string(reinterpret_cast<const char*>(bytes), size));
        } else if (name->type == GEN_IPADD && size == 4) {
            out.push_back(fmt::format("IP:{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]));
        }
    }
    GENERAL_NAMES_free(names);
    return out;
}

std::string Certificate::pem() const {
    auto bio = memory();
    PEM_write_bio_X509(bio.get(), x509_.get());
    return text_of(bio.get());
}

PrivateKey PrivateKey::adopt(EVP_PKEY* key) {
    return PrivateKey(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free));
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem, const std::string& name) {
    auto bio = memory(pem);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr);
    if (!key)
        return failure(fmt::format("{} holds no private key in PEM: {}", name, openssl_error()));
    return adopt(key);
}

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
    auto bio = memory(text);
    std::vector<Certificate> out;
    while (X509* x509 = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr))
        out.push_back(Certificate::adopt(x509));
    auto last = ERR_peek_last_error();
    bool ended = ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (out.empty() || !ended)
        return failure(fmt::format("{} holds no certificate in PEM: {}", path, openssl_error()));
    ERR_clear_error();
    return out;
}

Result<PrivateKey> read_private_key(const std::string& path) {
    auto text = BUNRAKU_TRY(read_file(path, "private key"));
    return PrivateKey::from_pem(text, path);
}

Result<std::vector<Crl>> read_crls(const std::string& path) {
    auto text = BUNRAKU_TRY(read_file(path, "certificate revocation list"));
    auto bio = memory(text);
    std::vector<Crl> out;
    while (X509_CRL* crl = PEM_read_bio_X509_CRL(bio.get(), nullptr, no_password, nullptr))
        out.emplace_back(crl, X509_CRL_free);
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (out.empty() || !ended) {
        return failure(fmt::format("{} holds no certificate revocation list in PEM: {}", path,
                                   openssl_error()));
    }
    ERR_clear_error();
    return out;
}

}  // namespace bunraku::pki
