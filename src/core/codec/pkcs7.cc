// SPDX-License-Identifier: Apache-2.0
#include "core/codec/pkcs7.h"

#include <climits>
#include <memory>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>

#include "core/codec/pem.h"

namespace bunraku::codec {
namespace {

template <auto kFree>
struct Free {
    template <class T>
    void operator()(T* p) const {
        kFree(p);
    }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Pkcs7 = std::unique_ptr<PKCS7, Free<PKCS7_free>>;

Bio memory(std::string_view text) {
    if (text.size() > INT_MAX) return nullptr;
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Returns the reason of OpenSSL's newest error, as Ruby's ossl_raise formats it.
std::string reason(const char* otherwise) {
    const unsigned long code = ERR_peek_last_error();
    const char* text = code ? ERR_reason_error_string(code) : nullptr;
    std::string out = text ? text : otherwise;
    ERR_clear_error();
    return out;
}

}  // namespace

base::Result<std::string> pkcs7_decrypt(std::string_view cipher, std::string_view private_key_pem,
                                        std::string_view certificate_pem) {
    ERR_clear_error();
    const Bio key_text = memory(private_key_pem);
    const Key key(key_text
                      ? PEM_read_bio_PrivateKey(key_text.get(), nullptr, no_passphrase, nullptr)
                      : nullptr);
    if (!key) {
        const Bio again = memory(private_key_pem);
        const Key open(again ? PEM_read_bio_PUBKEY(again.get(), nullptr, no_passphrase, nullptr)
                             : nullptr);
        ERR_clear_error();
        return base::failure(open ? "private key is needed"
                                  : "Neither PUB key nor PRIV key: unsupported");
    }
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
        const char* name = OBJ_nid2sn(EVP_PKEY_get_base_id(key.get()));
        return base::failure(std::string("incorrect pkey type: ") + (name ? name : "unknown"));
    }
    const Bio certificate_text = memory(certificate_pem);
    const Certificate certificate(
        certificate_text
            ? PEM_read_bio_X509(certificate_text.get(), nullptr, no_passphrase, nullptr)
            : nullptr);
    if (!certificate) return base::failure("PEM_read_bio_X509: " + reason("no start line"));
    const Bio der = memory(cipher);
    Pkcs7 data(der ? d2i_PKCS7_bio(der.get(), nullptr) : nullptr);
    if (!data) {
        const Bio pem = memory(cipher);
        data.reset(pem ? PEM_read_bio_PKCS7(pem.get(), nullptr, no_passphrase, nullptr) : nullptr);
    }
    if (!data || !data->d.ptr)
        return base::failure("Could not parse the PKCS7: " + reason("no start line"));
    ERR_clear_error();
    const Bio out(BIO_new(BIO_s_mem()));
    if (!out || PKCS7_decrypt(data.get(), key.get(), certificate.get(), out.get(), 0) != 1)
        return base::failure(reason("PKCS7_decrypt"));
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out.get(), &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
}

}  // namespace bunraku::codec
