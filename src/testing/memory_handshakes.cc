// SPDX-License-Identifier: Apache-2.0
#include "testing/memory_handshakes.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <limits>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/pki/certificate.h"
#include "net/pki/crl.h"

namespace bunraku::http {

using base::failure;
using base::Result;

namespace {

/// The period in which everything that one side checked is valid.
struct ValidityPeriod {
    std::int64_t from = 0, until = std::numeric_limits<std::int64_t>::max();
    void intersect(std::int64_t begin, std::int64_t end) {
        from = std::max(from, begin);
        until = std::min(until, end);
    }
    void intersect(X509* x509) {
        X509_up_ref(x509);
        const auto certificate = pki::Certificate::adopt(x509);
        intersect(certificate.not_before(), certificate.not_after());
    }
    /// Intersects with the chain that `ssl` verified and with every revocation list in its context.
    void intersect(SSL* ssl) {
        const auto* chain = SSL_get0_verified_chain(ssl);
        for (int i = 0; i < sk_X509_num(chain); ++i) intersect(sk_X509_value(chain, i));
        auto* store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl));
        const auto* objects = X509_STORE_get0_objects(store);
        for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
            auto* crl = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(objects, i));
            if (!crl) continue;
            X509_CRL_up_ref(crl);
            const auto facts = pki::facts_of(pki::Crl(crl, X509_CRL_free));
            if (facts.next_update > 0) intersect(facts.last_update, facts.next_update);
        }
    }
};

/// Runs both ends of a handshake in turn. Returns the client's certificate as the server sees it.
Result<std::shared_ptr<const ClientCertificate>> run_handshake(SSL_CTX* client_context,
                                                               SSL_CTX* server_context,
                                                               const Url& url, bool verify,
                                                               ValidityPeriod& term) {
    TlsClient client;
    BUNRAKU_TRY_VOID(client.begin(client_context, url, nullptr, verify));
    std::unique_ptr<SSL, decltype(&SSL_free)> server(SSL_new(server_context), SSL_free);
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    if (!server || !in || !out) return failure("out of memory");
    SSL_set_bio(server.get(), in, out);
    SSL_set_accept_state(server.get());
    while (true) {
        const bool done = BUNRAKU_TRY(client.handshake_step());
        move_bytes(client.out(), in);
        const int n = SSL_do_handshake(server.get());
        move_bytes(out, client.in());
        if (n == 1 && done) break;
        if (n != 1 && SSL_get_error(server.get(), n) != SSL_ERROR_WANT_READ) {
            // The client learns the reason from the alert at its next read.
            auto why = pki::openssl_error();
            if (auto client_result = client.handshake_step(); !client_result)
                return std::unexpected(client_result.error());
            return failure("TLS failed: the other side refused: " + why);
        }
    }
    term.intersect(client.ssl());
    term.intersect(server.get());
    return peer_certificate(server.get());
}

/// Returns an empty text if the file cannot be read.
std::string digest_of(const std::string& path) {
    const auto text = path.empty() ? failure("no file") : sys::disk().read(path);
    return text ? codec::short_digest(*text) : std::string();
}

}  // namespace

MemoryHandshakes::Version MemoryHandshakes::version_of(const std::string& path) {
    struct stat st{};
    if (path.empty() || ::stat(path.c_str(), &st) != 0) return {};
    const auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; };
    return {st.st_ino, static_cast<std::uint64_t>(st.st_size), ns(st.st_mtim), ns(st.st_ctim)};
}

/// Reads the file again if it was replaced or modified.
const std::string& MemoryHandshakes::contents_of(const std::string& path) {
    const auto now = version_of(path);
    auto [it, fresh] = files_.try_emplace(path);
    if (fresh || it->second.version != now) it->second = {now, digest_of(path)};
    return it->second.contents;
}

Result<MemoryServer> MemoryServer::read(const TlsFiles& files) {
    MemoryServer out;
    for (const auto* file : {&files.certificate, &files.private_key, &files.ca, &files.crl})
        out.contents += digest_of(*file) + ' ';
    if (files.crl_leaf_only) out.contents += "leaf";
    out.context = BUNRAKU_TRY(make_server_context(files));
    return out;
}

Result<std::shared_ptr<const ClientCertificate>> MemoryHandshakes::between(
    const ClientOptions& options, const Url& url, TlsContext& context, const MemoryServer& server) {
    // The machine's own trust store is not tracked.
    const bool watched = options.trust_store.empty() && !options.system_authorities &&
                         options.verify && !options.ca_file.empty();
    std::string sides;
    if (watched) {
        sides = fmt::format("{}\n{}\n{}", url.host, server.contents, options.crl_leaf_only);
        for (const auto* file : {&options.certificate_file, &options.private_key_file,
                                 &options.ca_file, &options.crl_file})
            sides += '\n' + contents_of(*file);
        const auto known = remembered_.find(sides);
        const std::int64_t time = std::time(nullptr);
        if (known != remembered_.end() && known->second.from <= time && time < known->second.until)
            return known->second.certificate;
    }
    ++made_;
    if (!context) context = BUNRAKU_TRY(make_client_context(options));
    ValidityPeriod term;
    auto certificate =
        BUNRAKU_TRY(run_handshake(context.get(), server.context.get(), url, options.verify, term));
    if (watched && (!certificate || certificate->trust == ClientCertificate::Trust::Verified))
        remembered_.insert_or_assign(std::move(sides),
                                     Remembered{term.from, term.until, certificate});
    return certificate;
}

}  // namespace bunraku::http
