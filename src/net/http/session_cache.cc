// SPDX-License-Identifier: Apache-2.0
#include "net/http/session_cache.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <utility>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"

namespace bunraku::http {

namespace {

constexpr std::string_view kMagic = "bunraku session 1";
constexpr std::int64_t kVerifyAgainNs = std::int64_t{86'400} * 1'000'000'000;
constexpr std::size_t kMostBytes = 64 << 10;

/// Returns a digest of everything on which the trust in a server depends. Only clients with the
/// same digest may resume its session.
std::string owner_of(const ClientOptions& options, const Url& url) {
    codec::Digest digest(codec::DigestKind::Sha256);
    const auto add = [&](std::string_view part) {
        digest.update(fmt::format("{}:", part.size()));
        digest.update(part);
    };
    add(url.origin());
    for (const auto* file : {&options.ca_file, &options.crl_file, &options.certificate_file})
        add(file->empty() ? std::string() : sys::disk().read(*file).value_or(std::string()));
    add(options.trust_store);
    add(fmt::format("{}{}", options.crl_leaf_only, options.system_authorities));
    return digest.hex();
}

}  // namespace

void FreeSession::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }

SessionCache::SessionCache(std::string path, const ClientOptions& options, const Url& url,
                           std::int64_t now_ns)
    : path_(options.verify ? std::move(path) : std::string()),
      owner_(path_.empty() ? std::string() : owner_of(options, url)),
      now_ns_(now_ns),
      verified_ns_(now_ns) {}

Session SessionCache::load() {
    if (path_.empty()) return nullptr;
    const auto text = sys::disk().read(path_);
    if (!text || text->size() > kMostBytes) return nullptr;
    const auto end = text->find('\n');
    if (end == std::string::npos) return nullptr;
    const auto line = std::string_view(*text).substr(0, end);
    const auto space = line.rfind(' ');
    const auto since = base::parse_integer<std::int64_t>(
        space == std::string_view::npos ? line : line.substr(space + 1));
    if (!since || line.substr(0, space) != fmt::format("{} {}", kMagic, owner_)) return nullptr;
    if (*since > now_ns_ || now_ns_ - *since > kVerifyAgainNs) return nullptr;
    const auto* der = reinterpret_cast<const unsigned char*>(text->data() + end + 1);
    Session out(d2i_SSL_SESSION(nullptr, &der, static_cast<long>(text->size() - end - 1)));
    const X509* server = out ? SSL_SESSION_get0_peer(out.get()) : nullptr;
    if (!server || X509_cmp_current_time(X509_get0_notAfter(server)) <= 0) return nullptr;
    verified_ns_ = *since;
    BUNRAKU_ASSERT(verified_ns_ <= now_ns_);
    return out;
}

void SessionCache::save(ssl_session_st* session, bool resumed) const {
    if (path_.empty() || !session || SSL_SESSION_is_resumable(session) != 1) return;
    const int size = i2d_SSL_SESSION(session, nullptr);
    if (size <= 0) return;
    BUNRAKU_ASSERT(!owner_.empty() && verified_ns_ <= now_ns_);
    auto text = fmt::format("{} {} {}\n", kMagic, owner_, resumed ? verified_ns_ : now_ns_);
    const auto head = text.size();
    text.resize(head + static_cast<std::size_t>(size));
    auto* der = reinterpret_cast<unsigned char*>(text.data() + head);
    i2d_SSL_SESSION(session, &der);
    BUNRAKU_ASSERT(reinterpret_cast<char*>(der) == text.data() + text.size());
    (void)sys::disk().replace(path_, text, {.mode = 0600});
}

}  // namespace bunraku::http
