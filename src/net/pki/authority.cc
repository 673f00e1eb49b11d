// SPDX-License-Identifier: Apache-2.0
#include "net/pki/authority.h"

#include <ctime>
#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "core/base/assert.h"
#include "net/pki/crl.h"
#include "net/pki/native.h"

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

bool add_text_extension(X509* x509, const std::string& oid, const std::string& text) {
    X509_EXTENSION* extension = make_text_extension(oid, text);
    const bool good = extension && X509_add_ext(x509, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

bool set_serial(X509* x509, const std::string& hex) {
    BIGNUM* number = nullptr;
    bool good = true;
    if (hex.empty()) {
        unsigned char random[16];
        good = RAND_bytes(random, sizeof random) == 1;
        // A serial must be positive (RFC 5280, 4.1.2.2).
        random[0] = static_cast<unsigned char>((random[0] & 0x7f) | 0x01);
        number = BN_bin2bn(random, sizeof random, nullptr);
    } else {
        good = BN_hex2bn(&number, hex.c_str()) == static_cast<int>(hex.size());
    }
    good = good && number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509));
    BN_free(number);
    return good;
}

Result<PrivateKey> adopt_key(EVP_PKEY* key) {
    if (!key) return failure(fmt::format("Could not make a key: {}", openssl_error()));
    return PrivateKey::adopt(key);
}

Result<Identity> sign_subject(const Subject& subject, const Identity* issuer, bool authority) {
    auto key = BUNRAKU_TRY(make_key());
    const std::int64_t now = std::time(nullptr);
    Draft draft{subject.common_name, "",
                now - 86400,         now + std::int64_t{86400} * subject.days,
                authority,           subject.alternative_names,
                subject.extensions};
    auto certificate = BUNRAKU_TRY(make_certificate(
        draft, key.native(), issuer ? &issuer->certificate : nullptr, issuer ? issuer->key : key));
    return Identity{std::move(certificate), std::move(key)};
}

}  // namespace

X509_EXTENSION* make_text_extension(const std::string& oid, const std::string& text) {
    std::unique_ptr<ASN1_OBJECT, decltype(&ASN1_OBJECT_free)> object(OBJ_txt2obj(oid.c_str(), 1),
                                                                     ASN1_OBJECT_free);
    // The extension's value is the DER of a string inside an octet string.
    std::unique_ptr<ASN1_STRING, decltype(&ASN1_STRING_free)> string(
        ASN1_STRING_type_new(V_ASN1_UTF8STRING), ASN1_STRING_free),
        octets(ASN1_STRING_type_new(V_ASN1_OCTET_STRING), ASN1_STRING_free);
    if (!object || !string || !octets) return nullptr;
    ASN1_STRING_set(string.get(), text.data(), static_cast<int>(text.size()));
    unsigned char* der = nullptr;
    int size = i2d_ASN1_UTF8STRING(string.get(), &der);
    if (size < 0) return nullptr;
    ASN1_STRING_set(octets.get(), der, size);
    OPENSSL_free(der);
    return X509_EXTENSION_create_by_OBJ(nullptr, object.get(), 0, octets.get());
}

X509_EXTENSION* make_names_extension(const std::vector<std::string>& names) {
    // Does not use OpenSSL's text form, in which a comma in a name would begin another name.
    GENERAL_NAMES* list = GENERAL_NAMES_new();
    bool good = list != nullptr;
    for (const std::string_view name : names) {
        const bool address = name.starts_with("IP:");
        const std::string text(name.substr(address ? 3 : 4));
        ASN1_STRING* value = address ? a2i_IPADDRESS(text.c_str()) : ASN1_IA5STRING_new();
        GENERAL_NAME* one = GENERAL_NAME_new();
        good = good && value && one && (address || name.starts_with("DNS:")) && !text.empty() &&
               (address || ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1);
        if (one && value) {
            GENERAL_NAME_set0_value(one, address ? GEN_IPADD : GEN_DNS, value);
        } else {
            ASN1_STRING_free(value);
        }
        if (!good || sk_GENERAL_NAME_push(list, one) <= 0) {
            GENERAL_NAME_free(one);
            good = false;
            break;
        }
    }
    X509_EXTENSION* out = good ? X509V3_EXT_i2d(NID_subject_alt_name, 0, list) : nullptr;
    GENERAL_NAMES_free(list);
    return out;
}

const EVP_MD* digest_for(EVP_PKEY* key) {
    int nid = NID_undef;
    // 2 means that no other digest is possible.
    if (EVP_PKEY_get_default_digest_nid(key, &nid) == 2 && nid == NID_undef) return nullptr;
    return EVP_sha256();
}

Result<PrivateKey> make_key() { return make_ec_key("prime256v1"); }

Result<PrivateKey> make_rsa_key(int bits) {
    if (bits < 1024 || bits > 16384)
        return failure(fmt::format("Invalid RSA key size of {} bits: use 1024 to 16384", bits));
    return adopt_key(EVP_RSA_gen(static_cast<unsigned>(bits)));
}

Result<PrivateKey> make_ec_key(const std::string& curve) {
    return adopt_key(EVP_EC_gen(curve.c_str()));
}

Result<Certificate> make_certificate(const Draft& draft, EVP_PKEY* subject_key,
                                     const Certificate* issuer, const PrivateKey& key) {
    BUNRAKU_ASSERT(issuer || key.native() == subject_key);
    X509* x509 = X509_new();
    if (!x509) return failure(openssl_error());
    auto certificate = Certificate::adopt(x509);
    X509_NAME* name = X509_get_subject_name(x509);
    bool good =
        set_serial(x509, draft.serial) && X509_set_version(x509, 2) == 1 &&
        ASN1_TIME_adj(X509_getm_notBefore(x509), draft.not_before, 0, 0) &&
        ASN1_TIME_adj(X509_getm_notAfter(x509), draft.not_after, 0, 0) &&
        X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(draft.common_name.data()),
                                   static_cast<int>(draft.common_name.size()), -1, 0) == 1;
    X509* signer = issuer ? issuer->native() : x509;
    good = good && X509_set_issuer_name(x509, X509_get_subject_name(signer)) == 1 &&
           X509_set_pubkey(x509, subject_key) == 1 &&
           add_extension(x509, signer, NID_netscape_comment, kCertificateComment) &&
           add_extension(x509, signer, NID_subject_key_identifier, "hash");
    // An issuer without a key identifier signs certificates without an authority key identifier.
    if (!issuer || X509_get0_subject_key_id(signer)) {
        good = good && add_extension(x509, signer, NID_authority_key_identifier, "keyid:always");
    }
    if (draft.authority) {
        good = good && add_extension(x509, signer, NID_basic_constraints, "critical,CA:TRUE") &&
               add_extension(x509, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
    } else {
        good = good && add_extension(x509, signer, NID_basic_constraints, "critical,CA:FALSE") &&
               add_extension(x509, signer, NID_key_usage,
                             "critical,digitalSignature,keyEncipherment") &&
               add_extension(x509, signer, NID_ext_key_usage, "critical,serverAuth,clientAuth");
    }
    if (!draft.alternative_names.empty()) {
        X509_EXTENSION* names = make_names_extension(draft.alternative_names);
        good = good && names && X509_add_ext(x509, names, -1) == 1;
        X509_EXTENSION_free(names);
    }
    for (const auto& [oid, text] : draft.extensions)
        good = good && add_text_extension(x509, oid, text);
    good = good && X509_sign(x509, key.native(), digest_for(key.native())) > 0;
    if (!good) {
        return failure(fmt::format("Could not make a certificate for {}: {}", draft.common_name,
                                   openssl_error()));
    }
    return certificate;
}

Result<Identity> make_self_signed(const Subject& subject) {
    return sign_subject(subject, nullptr, false);
}

Result<Authority> Authority::create(const std::string& common_name) {
    return Authority(BUNRAKU_TRY(sign_subject({common_name, {}, 10 * 365}, nullptr, true)));
}

Result<Identity> Authority::issue(const Subject& subject) {
    return sign_subject(subject, &self_, false);
}

void Authority::revoke(const Certificate& certificate) {
    revoked_.push_back(certificate.serial().substr(2));
}

Result<std::string> Authority::crl_pem() const {
    auto crl = BUNRAKU_TRY(
        next_crl(nullptr, self_.certificate, self_.key, revoked_, std::time(nullptr) - 3600));
    return pki::crl_pem(crl);
}

}  // namespace bunraku::pki
