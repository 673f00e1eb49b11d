// SPDX-License-Identifier: Apache-2.0
#include "net/pki/verify.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include "net/pki/native.h"

namespace bunraku::pki {

namespace {

std::string words_for(int code, const Certificate& current) {
    const auto subject = current.subject_utf8(), issuer = current.issuer_utf8();
    switch (code) {
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return fmt::format("The certificate '{}' is not yet valid, verify time is synchronized",
                               subject);
        case X509_V_ERR_CERT_HAS_EXPIRED:
            return fmt::format("The certificate '{}' has expired, verify time is synchronized",
                               subject);
        case X509_V_ERR_CRL_NOT_YET_VALID:
            return fmt::format(
                "The CRL issued by '{}' is not yet valid, verify time is synchronized", issuer);
        case X509_V_ERR_CRL_HAS_EXPIRED:
            return fmt::format("The CRL issued by '{}' has expired, verify time is synchronized",
                               issuer);
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return fmt::format("Invalid signature for certificate '{}'", subject);
        case X509_V_ERR_CRL_SIGNATURE_FAILURE:
            return fmt::format("Invalid signature for CRL issued by '{}'", issuer);
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
            return fmt::format("The issuer '{}' of certificate '{}' is missing", issuer, subject);
        case X509_V_ERR_UNABLE_TO_GET_CRL:
            return fmt::format("The CRL issued by '{}' is missing", issuer);
        case X509_V_ERR_CERT_REVOKED: return fmt::format("Certificate '{}' is revoked", subject);
        default:
            return fmt::format("Certificate '{}' failed verification ({}): {}", subject, code,
                               X509_verify_cert_error_string(code));
    }
}

}  // namespace

EVP_PKEY* public_key_of(const Certificate& certificate) {
    return X509_get0_pubkey(certificate.native());
}

Verification verify(const Certificate& certificate, const std::vector<Certificate>& authorities,
                    const std::vector<Crl>& crls, RevocationCheck check) {
    Verification out;
    std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(),
                                                                  X509_STORE_free);
    std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> context(X509_STORE_CTX_new(),
                                                                            X509_STORE_CTX_free);
    if (!store || !context) {
        out.message = openssl_error();
        return out;
    }
    for (const auto& a : authorities) X509_STORE_add_cert(store.get(), a.native());
    for (const auto& crl : crls) X509_STORE_add_crl(store.get(), crl.get());
    unsigned long flags = X509_V_FLAG_CHECK_SS_SIGNATURE;
    if (check != RevocationCheck::None) flags |= X509_V_FLAG_CRL_CHECK;
    if (check == RevocationCheck::Chain) flags |= X509_V_FLAG_CRL_CHECK_ALL;
    X509_STORE_set_flags(store.get(), flags);
    X509_STORE_set_purpose(store.get(), X509_PURPOSE_ANY);
    if (X509_STORE_CTX_init(context.get(), store.get(), certificate.native(), nullptr) != 1) {
        out.message = openssl_error();
        return out;
    }
    if (X509_verify_cert(context.get()) != 1) {
        out.code = X509_STORE_CTX_get_error(context.get());
        X509* current = X509_STORE_CTX_get_current_cert(context.get());
        if (current) X509_up_ref(current);
        const auto about = current ? Certificate::adopt(current) : certificate;
        if (out.code == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY) {
            out.issuer_unknown = true;
        } else {
            out.message = words_for(out.code, about);
        }
    }
    if (STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(context.get())) {
        for (int i = 0; i < sk_X509_num(chain); i++) {
            X509* one = sk_X509_value(chain, i);
            X509_up_ref(one);
            out.chain.push_back(Certificate::adopt(one));
        }
    }
    ERR_clear_error();
    return out;
}

}  // namespace bunraku::pki
