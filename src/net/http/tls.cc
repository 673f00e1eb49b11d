// SPDX-License-Identifier: Apache-2.0
#include "net/http/tls.h"

#include <algorithm>
#include <arpa/inet.h>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "core/base/assert.h"
#include "net/pki/certificate.h"

namespace bunraku::http {

using base::failure;
using base::Result;

namespace {

Result<TlsContext> make_context(const SSL_METHOD* method) {
    TlsContext context(SSL_CTX_new(method), SSL_CTX_free);
    if (!context) return failure("Could not set up TLS: " + pki::openssl_error());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return context;
}

/// Uses the certificate, the further certificates in its file as its chain, and the key.
Result<void> use_identity(SSL_CTX* context, const std::string& certificate_file,
                          const std::string& key_file) {
    auto chain = BUNRAKU_TRY(pki::read_certificates(certificate_file));
    BUNRAKU_ASSERT(!chain.empty());
    auto key = BUNRAKU_TRY(pki::read_private_key(key_file));
    if (!key.belongs_to(chain[0])) {
        return failure(fmt::format("The private key {} does not belong to the certificate {}",
                                   key_file, certificate_file));
    }
    bool good = SSL_CTX_use_certificate(context, chain[0].native()) == 1 &&
                SSL_CTX_use_PrivateKey(context, key.native()) == 1;
    for (std::size_t i = 1; good && i < chain.size(); i++)
        good = SSL_CTX_add1_chain_cert(context, chain[i].native()) == 1;
    if (!good) {
        return failure(fmt::format("Could not use the certificate {}: {}", certificate_file,
                                   pki::openssl_error()));
    }
    return {};
}

Result<void> trust(SSL_CTX* context, const std::string& ca_file) {
    auto authorities = BUNRAKU_TRY(pki::read_certificates(ca_file));
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    for (const auto& a : authorities) X509_STORE_add_cert(store, a.native());
    ERR_clear_error();
    return {};
}

Result<void> check_revocations(SSL_CTX* context, const std::string& crl_file, bool leaf_only) {
    auto crls = BUNRAKU_TRY(pki::read_crls(crl_file));
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    for (const auto& crl : crls) X509_STORE_add_crl(store, crl.get());
    ERR_clear_error();
    X509_STORE_set_flags(store,
                         X509_V_FLAG_CRL_CHECK | (leaf_only ? 0 : X509_V_FLAG_CRL_CHECK_ALL));
    return {};
}

/// Number of sessions that a server stores in memory. New clients get up to half of them; the
/// others get tickets.
constexpr long kMostSessions = 8192;

/// Length of the id of a session in memory. A ticket is longer.
constexpr std::size_t kSessionIdLength = SSL_MAX_SSL_SESSION_ID_LENGTH;

/// Reports whether a TLS 1.3 hello resumes a session in memory. Checks the length of the first
/// identity in its list (RFC 8446, 4.2.11), which follows the length of the list.
bool names_session(const unsigned char* keys, std::size_t size) {
    return size > 4 && (std::size_t{keys[2]} << 8 | keys[3]) == kSessionIdLength;
}

/// OpenSSL's callback for each hello; decides where the client's session is stored. A session in
/// memory is found by its id. A ticket must be decoded together with the client's certificate,
/// which takes as long as the rest of a resumed handshake. A client that arrives when the memory is
/// full gets tickets from then on.
int choose_session_store(SSL* ssl, int*, void*) {
    auto* context = SSL_get_SSL_CTX(ssl);
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    bool in_memory = false;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &data, &size) == 1) {
        in_memory = names_session(data, size);
    } else if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_session_ticket, &data, &size) != 1 ||
               size == 0) {
        in_memory = SSL_CTX_sess_number(context) < SSL_CTX_sess_get_cache_size(context) / 2;
    }
    if (in_memory) SSL_set_options(ssl, SSL_OP_NO_TICKET);
    return SSL_CLIENT_HELLO_SUCCESS;
}

}  // namespace

namespace {

/// Index of an SSL object's data with the name of a client whose certificate was refused.
int refused_name_index() {
    static const int index = SSL_get_ex_new_index(
        0, nullptr, nullptr, nullptr, [](void*, void* name, CRYPTO_EX_DATA*, int, long, void*) {
            delete static_cast<std::string*>(name);
        });
    return index;
}

/// Records the owner of a refused certificate, because OpenSSL stores only the reason.
int record_refused(int good, X509_STORE_CTX* context) {
    if (good == 1) return good;
    auto* ssl = static_cast<SSL*>(
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    X509* leaf = X509_STORE_CTX_get0_cert(context);
    if (!ssl || !leaf || SSL_get_ex_data(ssl, refused_name_index())) return good;
    X509_up_ref(leaf);
    const auto certificate = pki::Certificate::adopt(leaf);
    auto name = std::make_unique<std::string>(
        fmt::format("'{}' (serial {})", certificate.common_name(), certificate.serial()));
    if (SSL_set_ex_data(ssl, refused_name_index(), name.get()) == 1) (void)name.release();
    return good;
}

}  // namespace

std::string refusal_of(SSL* ssl) {
    const auto* name = static_cast<const std::string*>(SSL_get_ex_data(ssl, refused_name_index()));
    const long verdict = SSL_get_verify_result(ssl);
    if (!name || verdict == X509_V_OK) return {};
    return fmt::format("the certificate of {} is not accepted: {}", *name,
                       X509_verify_cert_error_string(verdict));
}

Result<TlsContext> make_server_context(const TlsFiles& files) {
    auto context = BUNRAKU_TRY(make_context(TLS_server_method()));
    auto* native = context.get();
    // SHA-256 with a 128-bit key first, because it makes a resumed handshake a tenth faster.
    SSL_CTX_set_ciphersuites(native,
                             "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                             "TLS_CHACHA20_POLY1305_SHA256");
    BUNRAKU_TRY_VOID(use_identity(native, files.certificate, files.private_key));
    if (!files.second_certificate.empty())
        BUNRAKU_TRY_VOID(use_identity(native, files.second_certificate, files.second_private_key));
    if (!files.ca.empty()) {
        BUNRAKU_TRY_VOID(trust(native, files.ca));
        auto authorities = BUNRAKU_TRY(pki::read_certificates(files.ca));
        for (const auto& a : authorities) SSL_CTX_add_client_CA(native, a.native());
        if (!files.crl.empty())
            BUNRAKU_TRY_VOID(check_revocations(native, files.crl, files.crl_leaf_only));
        // Clients without a certificate are accepted; each route decides whether it requires one.
        SSL_CTX_set_verify(native, SSL_VERIFY_PEER, record_refused);
    }
    // Without an id, OpenSSL does not resume sessions of clients with certificates.
    const std::string_view id = "bunraku";
    SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(id.data()),
                                   static_cast<unsigned>(id.size()));
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_SERVER);
    SSL_CTX_sess_set_cache_size(native, kMostSessions);
    SSL_CTX_set_client_hello_cb(native, choose_session_store, nullptr);
    SSL_CTX_set_timeout(native, 3600);
    // Reads the head and the content of a record with one system call.
    SSL_CTX_set_read_ahead(native, 1);
    // A client that disconnects without an alert may resume its session. The length of a request is
    // always known, so that a request that an attacker cuts off is not accepted.
    SSL_CTX_set_options(native, SSL_OP_IGNORE_UNEXPECTED_EOF);
    // The ticket is sent with the first response instead (offer_session).
    SSL_CTX_set_num_tickets(native, 0);
    return context;
}

Result<TlsContext> make_client_context(const ClientOptions& options) {
    auto context = BUNRAKU_TRY(make_context(TLS_client_method()));
    auto* native = context.get();
    if (!options.certificate_file.empty()) {
        BUNRAKU_TRY_VOID(use_identity(native, options.certificate_file, options.private_key_file));
    }
    if (!options.verify) {
        SSL_CTX_set_verify(native, SSL_VERIFY_NONE, nullptr);
        return context;
    }
    SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    if (options.ca_file.empty()) {
        SSL_CTX_set_default_verify_paths(native);
    } else {
        BUNRAKU_TRY_VOID(trust(native, options.ca_file));
        if (options.system_authorities) SSL_CTX_set_default_verify_paths(native);
    }
    if (!options.trust_store.empty()) {
        const bool folder = std::filesystem::is_directory(options.trust_store);
        const char* path = options.trust_store.c_str();
        if ((folder ? SSL_CTX_load_verify_dir(native, path)
                    : SSL_CTX_load_verify_file(native, path)) != 1) {
            return failure(fmt::format("{}: {}", options.trust_store, pki::openssl_error()));
        }
    }
    // There are no revocation lists of the system's authorities; Puppet does not check them either.
    if (!options.crl_file.empty() && !options.system_authorities)
        BUNRAKU_TRY_VOID(check_revocations(native, options.crl_file, options.crl_leaf_only));
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    return context;
}

void move_bytes(BIO* from, BIO* to) {
    BUNRAKU_ASSERT(from != to);
    char* data = nullptr;
    const long size = BIO_get_mem_data(from, &data);
    if (size > 0) BIO_write(to, data, static_cast<int>(size));
    (void)BIO_reset(from);
}

void offer_session(SSL* ssl) { (void)SSL_new_session_ticket(ssl); }

void allow_resumption(SSL* ssl) {
    // OpenSSL has already dropped sessions with fatal alerts. All others may be resumed, whichever
    // side closes first (RFC 5246, 7.2.1).
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

TlsClient::~TlsClient() {
    if (ssl_) allow_resumption(ssl_);
    SSL_free(ssl_);
}

Result<void> TlsClient::begin(SSL_CTX* context, const Url& url, SSL_SESSION* session, bool verify) {
    BUNRAKU_ASSERT(!ssl_ && !in_ && !out_);
    ssl_ = SSL_new(context);
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    if (!ssl_ || !in_ || !out_) return failure("out of memory");
    SSL_set_bio(ssl_, in_, out_);
    SSL_set_connect_state(ssl_);
    if (session) SSL_set_session(ssl_, session);
    unsigned char address[16];
    const bool is_address = ::inet_pton(AF_INET, url.host.c_str(), address) == 1 ||
                            ::inet_pton(AF_INET6, url.host.c_str(), address) == 1;
    if (!is_address) SSL_set_tlsext_host_name(ssl_, url.host.c_str());
    verify_ = verify;
    if (!verify) return {};
    host_ = url.host;
    SSL_set_app_data(ssl_, this);
    SSL_set_verify(ssl_, SSL_VERIFY_PEER, judge);
    if (is_address) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), url.host.c_str());
    } else {
        SSL_set1_host(ssl_, url.host.c_str());
    }
    return {};
}

/// OpenSSL's callback.
int TlsClient::judge(int good, X509_STORE_CTX* store) {
    if (good) return 1;
    auto* ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* self = static_cast<TlsClient*>(SSL_get_app_data(ssl));
    X509* x509 = X509_STORE_CTX_get_current_cert(store);
    if (!self || !x509) return 0;
    BUNRAKU_ASSERT(self->verify_ && self->ssl_ == ssl);
    const int verdict = X509_STORE_CTX_get_error(store);
    if (verdict == X509_V_ERR_CRL_NOT_YET_VALID) {
        // The list may have been signed just now by a machine whose clock is ahead.
        X509_CRL* crl = X509_STORE_CTX_get0_current_crl(store);
        std::time_t soon = std::time(nullptr) + 5 * 60;
        if (crl && X509_cmp_time(X509_CRL_get0_lastUpdate(crl), &soon) < 0) return 1;
    }
    X509_up_ref(x509);
    const auto shown = pki::Certificate::adopt(x509);
    // An address may appear among the DNS names; Ruby, and therefore Puppet, accepts that.
    if (verdict == X509_V_ERR_IP_ADDRESS_MISMATCH &&
        X509_check_host(x509, self->host_.c_str(), self->host_.size(),
                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1) {
        X509_STORE_CTX_set_error(store, X509_V_OK);
        return 1;
    }
    if (verdict != X509_V_ERR_HOSTNAME_MISMATCH && verdict != X509_V_ERR_IP_ADDRESS_MISMATCH) {
        self->refused_ = fmt::format("certificate verify failed [{} for {}]",
                                     X509_verify_cert_error_string(verdict), shown.subject_utf8());
        return 0;
    }
    std::vector<std::string> names{shown.common_name()};
    for (auto& name : shown.alternative_names())
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    self->refused_ =
        fmt::format("Server hostname '{}' did not match server certificate; expected {}{}",
                    self->host_, names.size() > 1 ? "one of " : "", fmt::join(names, ", "));
    return 0;
}

std::string tls_failure() {
    const unsigned long code = ERR_peek_error();
    std::string_view text;
    if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
        switch (ERR_GET_REASON(code)) {
            case SSL_R_WRONG_VERSION_NUMBER:
            case SSL_R_PACKET_LENGTH_TOO_LONG:
#ifdef SSL_R_RECORD_LAYER_FAILURE  // OpenSSL 3.2
            case SSL_R_RECORD_LAYER_FAILURE:
#endif
                text = "the server does not answer in TLS; it may expect plain HTTP on this port";
                break;
            case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
                text = "the server does not trust the authority of this client's certificate";
                break;
            case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
                text = "this client's certificate is revoked";
                break;
            case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
                text = "this client's certificate has expired";
                break;
            case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
                text = "the server requires a client certificate";
                break;
            default: break;
        }
    }
    if (text.empty()) return "TLS failed: " + pki::openssl_error();
    ERR_clear_error();
    return std::string(text);
}

Result<bool> TlsClient::handshake_step() {
    BUNRAKU_ASSERT(ssl_ && in_ && out_);
    const int n = SSL_do_handshake(ssl_);
    if (n == 1) return true;
    if (SSL_get_error(ssl_, n) == SSL_ERROR_WANT_READ) return false;
    const long verdict = SSL_get_verify_result(ssl_);
    if (!verify_ || verdict == X509_V_OK) return failure(tls_failure());
    ERR_clear_error();
    return failure(!refused_.empty() ? refused_
                                     : fmt::format("certificate verify failed [{}]",
                                                   X509_verify_cert_error_string(verdict)),
                   kRefusedCertificate);
}

namespace {

using Trust = ClientCertificate::Trust;

Trust trust_of(long verdict) {
    return verdict == X509_V_OK                 ? Trust::Verified
           : verdict == X509_V_ERR_CERT_REVOKED ? Trust::Revoked
                                                : Trust::Untrusted;
}

std::shared_ptr<const ClientCertificate> describe(const pki::Certificate& certificate,
                                                  long verdict) {
    auto out = std::make_shared<ClientCertificate>();
    out->trust = trust_of(verdict);
    out->name = certificate.common_name();
    out->subject = certificate.subject();
    out->issuer = certificate.issuer();
    out->serial = certificate.serial();
    out->alternative_names = certificate.alternative_names();
    out->extensions = certificate.puppet_extensions();
    out->itself = certificate;
    return out;
}

}  // namespace

std::shared_ptr<const ClientCertificate> peer_certificate(SSL* ssl) {
    X509* x509 = SSL_get1_peer_certificate(ssl);
    if (!x509) return nullptr;
    auto verdict = SSL_get_verify_result(ssl);
    // For a resumed session, no certificate was verified. New revocation lists cause a new context,
    // which has no earlier sessions.
    if (verdict == X509_V_OK && SSL_session_reused(ssl) &&
        X509_cmp_current_time(X509_get0_notAfter(x509)) < 0)
        verdict = X509_V_ERR_CERT_HAS_EXPIRED;
    return describe(pki::Certificate::adopt(x509), verdict);
}

std::shared_ptr<const ClientCertificate> verify_again(SSL* ssl, SSL_CTX* context) {
    BUNRAKU_ASSERT(ssl && context);
    X509* x509 = SSL_get1_peer_certificate(ssl);
    if (!x509) return nullptr;
    auto certificate = pki::Certificate::adopt(x509);
    std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                          X509_STORE_CTX_free);
    long verdict = X509_V_ERR_UNSPECIFIED;
    if (check &&
        X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context), x509,
                            SSL_get_peer_cert_chain(ssl)) == 1 &&
        X509_STORE_CTX_set_default(check.get(), "ssl_client") == 1) {
        X509_verify_cert(check.get());
        verdict = X509_STORE_CTX_get_error(check.get());
    }
    ERR_clear_error();
    return describe(certificate, verdict);
}

}  // namespace bunraku::http
