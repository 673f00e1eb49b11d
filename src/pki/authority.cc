#include "pki/authority.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

bool add_extension(X509* x509, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, x509, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    if (!extension) return false;
    bool good = X509_add_ext(x509, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

enum class Kind { Authority, Leaf };

bool add_text_extension(X509* x509, const std::string& oid, const std::string& text) {
    std::unique_ptr<ASN1_OBJECT, decltype(&ASN1_OBJECT_free)> object(OBJ_txt2obj(oid.c_str(), 1),
                                                                     ASN1_OBJECT_free);
    // The extension's value is the DER of a string, in an octet string.
    std::unique_ptr<ASN1_STRING, decltype(&ASN1_STRING_free)> string(
        ASN1_STRING_type_new(V_ASN1_UTF8STRING), ASN1_STRING_free),
        octets(ASN1_STRING_type_new(V_ASN1_OCTET_STRING), ASN1_STRING_free);
    if (!object || !string || !octets) return false;
    ASN1_STRING_set(string.get(), text.data(), static_cast<int>(text.size()));
    unsigned char* der = nullptr;
    int size = i2d_ASN1_UTF8STRING(string.get(), &der);
    if (size < 0) return false;
    ASN1_STRING_set(octets.get(), der, size);
    OPENSSL_free(der);
    std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509_EXTENSION_create_by_OBJ(nullptr, object.get(), 0, octets.get()), X509_EXTENSION_free);
    return extension && X509_add_ext(x509, extension.get(), -1) == 1;
}

/// `issuer` null: signed by itself.
Result<Identity> sign(const Subject& subject, const Identity* issuer, Kind kind) {
    auto key = BUNRAKU_TRY(make_key());
    X509* x509 = X509_new();
    if (!x509) return failure(openssl_error());
    auto certificate = Certificate::adopt(x509);
    unsigned char random[16];
    BIGNUM* number = BN_new();
    // Positive and never zero (RFC 5280, 4.1.2.2).
    bool good = number && RAND_bytes(random, sizeof random) == 1;
    random[0] = static_cast<unsigned char>((random[0] & 0x7f) | 0x01);
    good = good && BN_bin2bn(random, sizeof random, number) &&
           BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509));
    BN_free(number);
    X509_NAME* name = X509_get_subject_name(x509);
    good = good && X509_set_version(x509, 2) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(x509), -86400) &&
           X509_gmtime_adj(X509_getm_notAfter(x509), 86400L * subject.days) &&
           X509_NAME_add_entry_by_NID(
               name, NID_commonName, MBSTRING_UTF8,
               reinterpret_cast<const unsigned char*>(subject.common_name.data()),
               static_cast<int>(subject.common_name.size()), -1, 0) == 1;
    X509* signer = issuer ? issuer->certificate.native() : x509;
    good = good && X509_set_issuer_name(x509, X509_get_subject_name(signer)) == 1 &&
           X509_set_pubkey(x509, key.native()) == 1;
    if (kind == Kind::Authority) {
        good = good && add_extension(x509, signer, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(x509, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
    } else {
        good = good && add_extension(x509, signer, NID_basic_constraints, "critical,CA:FALSE") &&
               add_extension(x509, signer, NID_key_usage,
                             "critical,digitalSignature,keyEncipherment") &&
               add_extension(x509, signer, NID_ext_key_usage, "serverAuth,clientAuth");
    }
    good = good && add_extension(x509, signer, NID_subject_key_identifier, "hash");
    if (!subject.alternative_names.empty()) {
        std::string names;
        for (const auto& n : subject.alternative_names) names += (names.empty() ? "" : ",") + n;
        good = good && add_extension(x509, signer, NID_subject_alt_name, names.c_str());
    }
    for (const auto& [oid, text] : subject.extensions)
        good = good && add_text_extension(x509, oid, text);
    EVP_PKEY* signing = issuer ? issuer->key.native() : key.native();
    good = good && X509_sign(x509, signing, EVP_sha256()) > 0;
    if (!good) {
        return failure(fmt::format("Could not make a certificate for {}: {}", subject.common_name,
                                   openssl_error()));
    }
    return Identity{std::move(certificate), std::move(key)};
}

}  // namespace

Result<PrivateKey> make_key() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    if (!key) return failure(fmt::format("Could not make a key: {}", openssl_error()));
    return PrivateKey::adopt(key);
}

Result<Identity> make_self_signed(const Subject& subject) {
    return sign(subject, nullptr, Kind::Leaf);
}

Result<Authority> Authority::create(const std::string& common_name) {
    return Authority(BUNRAKU_TRY(sign({common_name, {}, 10 * 365}, nullptr, Kind::Authority)));
}

Result<Identity> Authority::issue(const Subject& subject) {
    return sign(subject, &self_, Kind::Leaf);
}

void Authority::revoke(const Certificate& certificate) { revoked_.push_back(certificate); }

Result<std::string> Authority::crl_pem() const {
    std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> crl(X509_CRL_new(), X509_CRL_free);
    std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> time(ASN1_TIME_new(), ASN1_TIME_free);
    bool good = crl && time && X509_CRL_set_version(crl.get(), 1) == 1 &&
                X509_CRL_set_issuer_name(crl.get(),
                                         X509_get_subject_name(self_.certificate.native())) == 1 &&
                X509_gmtime_adj(time.get(), -3600) &&
                X509_CRL_set1_lastUpdate(crl.get(), time.get()) == 1 &&
                X509_gmtime_adj(time.get(), 86400L * 365 * 5) &&
                X509_CRL_set1_nextUpdate(crl.get(), time.get()) == 1;
    for (const auto& c : revoked_) {
        X509_REVOKED* entry = good ? X509_REVOKED_new() : nullptr;
        auto* serial = const_cast<ASN1_INTEGER*>(X509_get0_serialNumber(c.native()));
        good = entry && X509_REVOKED_set_serialNumber(entry, serial) == 1 &&
               X509_gmtime_adj(time.get(), 0) &&
               X509_REVOKED_set_revocationDate(entry, time.get()) == 1 &&
               X509_CRL_add0_revoked(crl.get(), entry) == 1;
        if (!good) X509_REVOKED_free(entry);
    }
    good = good && X509_CRL_sort(crl.get()) == 1 &&
           X509_CRL_sign(crl.get(), self_.key.native(), EVP_sha256()) > 0;
    std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    good = good && bio && PEM_write_bio_X509_CRL(bio.get(), crl.get()) == 1;
    if (!good) return failure("Could not make a revocation list: " + openssl_error());
    char* data = nullptr;
    long size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace bunraku::pki
