// SPDX-License-Identifier: Apache-2.0
#include "net/pki/crl.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <set>

#include "core/base/assert.h"
#include "net/pki/native.h"

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

std::string serial_bytes(const ASN1_INTEGER* serial) {
    // The bytes do not include the sign.
    return (ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER ? "-" : "") + bytes_of(serial);
}

using Integer = std::unique_ptr<ASN1_INTEGER, decltype(&ASN1_INTEGER_free)>;

/// Returns null if `hex` is not a hexadecimal number.
Integer integer_of(const std::string& hex) {
    BIGNUM* number = nullptr;
    Integer out(nullptr, ASN1_INTEGER_free);
    if (BN_hex2bn(&number, hex.c_str()) == static_cast<int>(hex.size()))
        out.reset(BN_to_ASN1_INTEGER(number, nullptr));
    BN_free(number);
    return out;
}

/// Returns the entries of a list, oldest first, without duplicates.
std::vector<X509_REVOKED*> entries_of(X509_CRL* crl, std::size_t* duplicates) {
    std::vector<X509_REVOKED*> out;
    std::set<std::string> seen;
    auto* stack = X509_CRL_get_REVOKED(crl);
    for (int i = 0; i < sk_X509_REVOKED_num(stack); i++) {
        X509_REVOKED* entry = sk_X509_REVOKED_value(stack, i);
        if (seen.insert(serial_bytes(X509_REVOKED_get0_serialNumber(entry))).second) {
            out.push_back(entry);
        } else if (duplicates) {
            ++*duplicates;
        }
    }
    BUNRAKU_ASSERT(out.size() == seen.size());
    return out;
}

bool add_crl_extension(X509_CRL* crl, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, nullptr, nullptr, crl, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    if (!extension) return false;
    const bool good = X509_CRL_add_ext(crl, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

bool set_times(X509_CRL* crl, std::int64_t now, std::int64_t lifetime) {
    std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> time(ASN1_TIME_adj(nullptr, now, 0, 0),
                                                               ASN1_TIME_free);
    if (!time || X509_CRL_set1_lastUpdate(crl, time.get()) != 1) return false;
    time.reset(ASN1_TIME_adj(nullptr, now + lifetime, 0, 0));
    return time && X509_CRL_set1_nextUpdate(crl, time.get()) == 1;
}

/// Makes an entry with puppetserver's time and reason.
X509_REVOKED* revoke(ASN1_INTEGER* serial, std::int64_t now) {
    X509_REVOKED* entry = X509_REVOKED_new();
    ASN1_TIME* time = ASN1_TIME_adj(nullptr, now, 0, 0);
    ASN1_ENUMERATED* reason = ASN1_ENUMERATED_new();
    const bool good = entry && time && reason &&
                      X509_REVOKED_set_serialNumber(entry, serial) == 1 &&
                      X509_REVOKED_set_revocationDate(entry, time) == 1 &&
                      ASN1_ENUMERATED_set(reason, CRL_REASON_KEY_COMPROMISE) == 1 &&
                      X509_REVOKED_add1_ext_i2d(entry, NID_crl_reason, reason, 0, 0) == 1;
    ASN1_TIME_free(time);
    ASN1_ENUMERATED_free(reason);
    if (good) return entry;
    X509_REVOKED_free(entry);
    return nullptr;
}

}  // namespace

CrlFacts facts_of(const Crl& crl) {
    CrlFacts out;
    const X509_NAME* issuer = X509_CRL_get_issuer(crl.get());
    out.issuer = name_utf8(issuer);
    out.issuer_name = common_name_of(issuer);
    out.last_update = seconds_of(X509_CRL_get0_lastUpdate(crl.get()));
    out.next_update = seconds_of(X509_CRL_get0_nextUpdate(crl.get()));
    out.revoked =
        static_cast<std::size_t>(std::max(0, sk_X509_REVOKED_num(X509_CRL_get_REVOKED(crl.get()))));
    if (auto* number = static_cast<ASN1_INTEGER*>(
            X509_CRL_get_ext_d2i(crl.get(), NID_crl_number, nullptr, nullptr))) {
        std::int64_t value = 0;
        if (ASN1_INTEGER_get_int64(&value, number) == 1) out.number = value;
        ASN1_INTEGER_free(number);
    }
    if (auto* id = static_cast<AUTHORITY_KEYID*>(
            X509_CRL_get_ext_d2i(crl.get(), NID_authority_key_identifier, nullptr, nullptr))) {
        out.authority_key = key_id_text(id->keyid);
        AUTHORITY_KEYID_free(id);
    }
    out.delta = X509_CRL_get_ext_by_NID(crl.get(), NID_delta_crl, -1) >= 0;
    ERR_clear_error();
    return out;
}

std::string crl_pem(const Crl& crl) {
    auto bio = memory();
    PEM_write_bio_X509_CRL(bio.get(), crl.get());
    return text_of(bio.get());
}

bool same_crl(const Crl& a, const Crl& b) { return crl_pem(a) == crl_pem(b); }

bool is_revoked(const Crl& crl, const Certificate& certificate) {
    X509_REVOKED* entry = nullptr;
    return X509_CRL_get0_by_serial(
               crl.get(), &entry,
               const_cast<ASN1_INTEGER*>(X509_get0_serialNumber(certificate.native()))) == 1;
}

bool is_revoked(const Crl& crl, const std::string& serial) {
    auto number = integer_of(serial);
    X509_REVOKED* entry = nullptr;
    return number && X509_CRL_get0_by_serial(crl.get(), &entry, number.get()) == 1;
}

bool is_issued_by(const Crl& crl, const Certificate& authority) {
    const bool good = X509_NAME_cmp(X509_CRL_get_issuer(crl.get()),
                                    X509_get_subject_name(authority.native())) == 0 &&
                      X509_CRL_verify(crl.get(), X509_get0_pubkey(authority.native())) == 1;
    ERR_clear_error();
    return good;
}

std::vector<std::string> serials_in(const Crl& crl) {
    std::vector<std::string> out;
    for (X509_REVOKED* entry : entries_of(crl.get(), nullptr)) {
        BIGNUM* number = ASN1_INTEGER_to_BN(X509_REVOKED_get0_serialNumber(entry), nullptr);
        char* hex = number ? BN_bn2hex(number) : nullptr;
        if (hex) out.emplace_back(hex);
        OPENSSL_free(hex);
        BN_free(number);
    }
    return out;
}

std::size_t duplicates_in(const Crl& crl) {
    std::size_t out = 0;
    entries_of(crl.get(), &out);
    return out;
}

Result<Crl> next_crl(const Crl& old, const Certificate& authority, const PrivateKey& key,
                     const std::vector<std::string>& more, std::int64_t now, std::int64_t lifetime,
                     const std::vector<std::string>& without) {
    Crl crl(X509_CRL_new(), X509_CRL_free);
    X509* issuer = authority.native();
    // puppetserver starts to count at 0.
    std::int64_t number = 0;
    if (old) number = facts_of(old).number.value_or(0) + 1;
    bool good = crl && X509_CRL_set_version(crl.get(), 1) == 1 &&
                X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(issuer)) == 1 &&
                set_times(crl.get(), now, lifetime);
    // An authority without a key identifier signs lists without one.
    if (X509_get0_subject_key_id(issuer))
        good = good &&
               add_crl_extension(crl.get(), issuer, NID_authority_key_identifier, "keyid:always");
    std::unique_ptr<ASN1_INTEGER, decltype(&ASN1_INTEGER_free)> count(ASN1_INTEGER_new(),
                                                                      ASN1_INTEGER_free);
    good = good && count && ASN1_INTEGER_set_int64(count.get(), number) == 1 &&
           X509_CRL_add1_ext_i2d(crl.get(), NID_crl_number, count.get(), 0, 0) == 1;
    std::set<std::string> seen, dropped;
    for (const auto& serial : without) {
        auto revoked = integer_of(serial);
        if (!revoked) return failure(fmt::format("Invalid serial number {}", serial));
        dropped.insert(serial_bytes(revoked.get()));
    }
    if (good && old) {
        for (X509_REVOKED* entry : entries_of(old.get(), nullptr)) {
            const auto bytes = serial_bytes(X509_REVOKED_get0_serialNumber(entry));
            if (dropped.contains(bytes)) continue;
            seen.insert(bytes);
            X509_REVOKED* copy = X509_REVOKED_dup(entry);
            good = good && copy && X509_CRL_add0_revoked(crl.get(), copy) == 1;
        }
    }
    for (const auto& serial : more) {
        auto revoked = integer_of(serial);
        if (!revoked) return failure(fmt::format("Invalid serial number {}", serial));
        if (!seen.insert(serial_bytes(revoked.get())).second) continue;
        X509_REVOKED* entry = good ? revoke(revoked.get(), now) : nullptr;
        good = entry && X509_CRL_add0_revoked(crl.get(), entry) == 1;
        if (!good) break;
    }
    good = good && X509_CRL_sort(crl.get()) == 1 &&
           X509_CRL_sign(crl.get(), key.native(), digest_for(key.native())) > 0;
    if (!good) return failure("Could not make a revocation list: " + openssl_error());
    BUNRAKU_ALWAYS_ASSERT(facts_of(crl).revoked == seen.size());
    BUNRAKU_ASSERT(duplicates_in(crl) == 0);
    return crl;
}

}  // namespace bunraku::pki
