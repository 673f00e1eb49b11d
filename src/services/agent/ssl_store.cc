// SPDX-License-Identifier: Apache-2.0
#include "services/agent/ssl_store.h"

#include <cerrno>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/config/compatibility.h"
#include "core/sys/file_system.h"
#include "services/agent/server_default.h"

namespace bunraku::agent {

using base::failure;
using base::Level;
using base::Result;

namespace {

/// Splits a text into PEM blocks. Text between them is a comment.
std::vector<std::string_view> blocks_of(std::string_view text, std::string_view kind) {
    const auto begin = fmt::format("-----BEGIN {}-----", kind);
    const auto end = fmt::format("-----END {}-----", kind);
    std::vector<std::string_view> out;
    while (true) {
        const auto from = text.find(begin);
        if (from == std::string_view::npos) return out;
        const auto to = text.find(end, from);
        if (to == std::string_view::npos) return out;
        out.push_back(text.substr(from, to + end.size() - from));
        text.remove_prefix(to + end.size());
    }
}

}  // namespace

std::string digest_hex(std::string_view bytes) {
    const auto hex = codec::hex_digest(codec::DigestKind::Sha256, bytes);
    std::string out;
    for (std::size_t i = 0; i < hex.size(); i++) {
        if (i && i % 2 == 0) out += ':';
        out += base::upper(hex[i]);
    }
    BUNRAKU_ASSERT(out.size() == 95);
    return out;
}

std::string digest_text(const pki::Certificate& certificate) {
    return "(SHA256) " + certificate.fingerprint();
}

SslStore::SslStore(const config::Settings& settings, base::LogSink& log, sys::System& system)
    : settings_(settings),
      log_(log),
      system_(system),
      certname_(settings.text("certname")),
      ca_(settings.text("localcacert")),
      crl_(settings.text("hostcrl")),
      key_(settings.text("hostprivkey")),
      certificate_(settings.text("hostcert")),
      request_(settings.text("hostcsr")) {}

pki::RevocationCheck SslStore::revocation() const {
    const auto text = settings_.text("certificate_revocation");
    return text == "false"  ? pki::RevocationCheck::None
           : text == "leaf" ? pki::RevocationCheck::Leaf
                            : pki::RevocationCheck::Chain;
}

SslFiles SslStore::files() const {
    return {.certname = certname_,
            .ca_file = ca_,
            .crl_file = revocation() == pki::RevocationCheck::None ? std::string() : crl_,
            .crl_leaf_only = revocation() == pki::RevocationCheck::Leaf,
            .certificate_file = certificate_,
            .private_key_file = key_};
}

Result<std::optional<std::string>> SslStore::load(const std::string& path,
                                                  const std::string& what) {
    auto text = system_.files.read(path);
    if (text) return std::optional(std::move(*text));
    if (text.error().code == ENOENT || text.error().code == ENOTDIR)
        return std::optional<std::string>();
    return failure(fmt::format("Failed to load {}: {}", what, text.error().message),
                   text.error().code);
}

Result<std::optional<std::vector<pki::Certificate>>> SslStore::authorities() {
    auto text = BUNRAKU_TRY(load(ca_, fmt::format("CA certificates from '{}'", ca_)));
    if (!text) return std::optional<std::vector<pki::Certificate>>();
    return parse_authorities(*text);
}

Result<std::vector<pki::Certificate>> parse_authorities(std::string_view text) {
    const auto blocks = blocks_of(text, "CERTIFICATE");
    if (blocks.empty()) return failure("Failed to parse CA certificates as PEM");
    std::vector<pki::Certificate> out;
    for (auto block : blocks)
        out.push_back(BUNRAKU_TRY(pki::Certificate::from_pem(block, "The CA bundle")));
    return out;
}

Result<std::vector<pki::Crl>> parse_lists(std::string_view text) {
    const auto blocks = blocks_of(text, "X509 CRL");
    if (blocks.empty()) return failure("Failed to parse CRLs as PEM");
    std::vector<pki::Crl> out;
    for (auto block : blocks)
        for (auto& crl : BUNRAKU_TRY(pki::parse_crls(block, "The CRL bundle"))) out.push_back(crl);
    return out;
}

Result<std::optional<std::vector<pki::Crl>>> SslStore::crls() {
    auto text = BUNRAKU_TRY(load(crl_, fmt::format("CRLs from '{}'", crl_)));
    if (!text) return std::optional<std::vector<pki::Crl>>();
    return parse_lists(*text);
}

Result<std::optional<pki::PrivateKey>> SslStore::key() {
    auto text = BUNRAKU_TRY(load(key_, fmt::format("private key for '{}'", certname_)));
    if (!text) return std::optional<pki::PrivateKey>();
    if (text->find("ENCRYPTED") != std::string::npos) {
        return failure(
            fmt::format("Failed to load private key for host '{}': it has a pass phrase, "
                        "which is not supported here ({})",
                        certname_, key_));
    }
    auto key = pki::PrivateKey::from_pem(*text, key_);
    if (!key) {
        return failure(fmt::format("Failed to load private key for host '{}': {}", certname_,
                                   key.error().message));
    }
    return std::optional(std::move(*key));
}

Result<std::optional<pki::Certificate>> SslStore::certificate() {
    auto text =
        BUNRAKU_TRY(load(certificate_, fmt::format("client certificate for '{}'", certname_)));
    if (!text) return std::optional<pki::Certificate>();
    return std::optional(BUNRAKU_TRY(pki::Certificate::from_pem(*text, certificate_)));
}

std::int64_t SslStore::changed(const std::string& path) {
    auto status = system_.files.stat(path);
    return status ? status->mtime_ns / 1'000'000'000 : 0;
}

void SslStore::touch(const std::string& path) {
    (void)system_.files.set_mtime(path, system_.clock.now_ns());
}

Result<void> SslStore::save(const std::string& path, const std::string& text, std::uint32_t mode,
                            std::uint32_t folder_mode, const std::string& what) {
    const std::string folder(sys::directory_name(path));
    Result<void> done;
    if (!system_.files.exists(folder)) done = system_.files.make_directories(folder, folder_mode);
    sys::WriteOptions options;
    options.mode = mode;
    // A file truncated by a power failure would lock the node out until an administrator repairs
    // it.
    options.sync = true;
    if (done) done = system_.files.replace(path, text, options);
    if (done) return {};
    return failure(fmt::format("Failed to save {}: {}", what, done.error().message),
                   done.error().code);
}

Result<void> SslStore::save_authorities(const std::vector<pki::Certificate>& certificates) {
    std::string text;
    for (const auto& c : certificates) text += c.pem();
    return save(ca_, text, 0644, 0755, fmt::format("CA certificates to '{}'", ca_));
}

Result<void> SslStore::save_crls(const std::vector<pki::Crl>& crls) {
    std::string text;
    for (const auto& crl : crls) text += pki::crl_pem(crl);
    return save(crl_, text, 0644, 0771, fmt::format("CRLs to '{}'", crl_));
}

Result<void> SslStore::save_key(const pki::PrivateKey& key) {
    return save(key_, key.pem(), 0600, 0750, fmt::format("private key for '{}'", certname_));
}

Result<void> SslStore::save_certificate(const pki::Certificate& certificate) {
    return save(certificate_, certificate.pem(), 0644, 0755,
                fmt::format("client certificate for '{}'", certname_));
}

Result<void> SslStore::save_request(const pki::Request& request) {
    return save(request_, request.pem(), 0644, 0755,
                fmt::format("certificate request for '{}'", certname_));
}

void SslStore::delete_request() { (void)system_.files.remove(request_); }

Result<pki::PrivateKey> SslStore::make_key(std::string_view rsa) {
    if (settings_.text("key_type") == "ec") {
        const auto curve = settings_.text("named_curve");
        log_.log(Level::Info,
                 fmt::format("Creating a new EC SSL key for {} using curve {}", certname_, curve));
        return pki::make_ec_key(curve);
    }
    log_.log(Level::Info, fmt::format("Creating a new {} key for {}", rsa, certname_));
    return pki::make_rsa_key(static_cast<int>(settings_.integer("keylength")));
}

Result<pki::Request> SslStore::make_request(const pki::PrivateKey& key) {
    pki::RequestContent content;
    content.common_name = certname_;
    content.alternative_names = settings_.text("dns_alt_names");
    const auto path = settings_.text("csr_attributes");
    log_.log(Level::Info, fmt::format("csr_attributes file loading from {}", path));
    if (auto text = system_.files.read(path)) {
        content.attributes = BUNRAKU_TRY(pki::parse_request_attributes(*text, path));
    } else if (text.error().code != ENOENT && text.error().code != ENOTDIR) {
        return std::unexpected(text.error());
    }
    // The attribute states that this agent renews its certificate automatically.
    if (settings_.integer("hostcert_renewal_interval") > 0)
        content.attributes.custom_attributes.emplace_back("1.3.6.1.4.1.34380.1.3.2", "true");
    const auto names = settings_.text("trusted_oid_mapping_file");
    if (auto text = system_.files.read(names)) {
        auto document = BUNRAKU_TRY(codec::parse_yaml(*text, names));
        for (const auto& [section, entries] : document.entries) {
            if (section.text != "oid_mapping") continue;
            for (const auto& [oid, about] : entries.entries) {
                for (const auto& [member, value] : about.entries)
                    if (member.text == "shortname")
                        content.oid_names.emplace_back(oid.text, value.text);
            }
        }
    }
    log_.log(Level::Info, fmt::format("Creating a new SSL certificate request for {}", certname_));
    auto request = BUNRAKU_TRY(pki::make_request(key, content));
    log_.log(Level::Info,
             fmt::format("Certificate Request fingerprint (SHA256): {}", request.fingerprint()));
    return request;
}

Result<std::vector<pki::Certificate>> SslStore::check(
    const std::vector<pki::Certificate>& authorities, const std::vector<pki::Crl>& crls,
    const pki::PrivateKey& key, const pki::Certificate& certificate) {
    auto verified = pki::verify(certificate, authorities, crls, revocation());
    if (!verified.good()) return failure(verified.message);
    if (verified.issuer_unknown) {
        log_.log(Level::Warning,
                 fmt::format("The issuer '{}' of certificate '{}' cannot be found locally",
                             certificate.issuer_utf8(), certificate.subject_utf8()));
    }
    if (!key.is_rsa() && !key.is_ec()) return failure("Unsupported key");
    if (!key.belongs_to(certificate)) {
        return failure(fmt::format("The certificate for '{}' does not match its private key",
                                   certificate.subject_utf8()));
    }
    return verified.chain;
}

Result<std::vector<pki::Certificate>> SslStore::check_all() {
    auto trusted = BUNRAKU_TRY(authorities());
    if (!trusted) return failure(fmt::format("The CA certificates are missing from '{}'", ca_));
    std::vector<pki::Crl> lists;
    if (revocation() != pki::RevocationCheck::None) {
        auto there = BUNRAKU_TRY(crls());
        if (!there) return failure(fmt::format("The CRL is missing from '{}'", crl_));
        lists = std::move(*there);
    }
    auto own = BUNRAKU_TRY(key());
    if (!own) return failure(fmt::format("The private key is missing from '{}'", key_));
    auto shown = BUNRAKU_TRY(certificate());
    if (!shown)
        return failure(fmt::format("The client certificate is missing from '{}'", certificate_));
    return check(*trusted, lists, *own, *shown);
}

AuthorityClient::AuthorityClient(const config::Settings& settings, base::LogSink& log,
                                 const SslStore& store, const std::string& address,
                                 http::Network* network, std::function<bool()> stopped)
    : settings_(settings),
      log_(log),
      store_(store),
      network_(network),
      stopped_(std::move(stopped)) {
    const auto host = settings.text("ca_server"), port = settings.text("ca_port");
    url_ = fmt::format("https://{}/puppet-ca/v1", !address.empty() ? address
                                                  : host.find(':') == std::string::npos
                                                      ? fmt::format("{}:{}", host, port)
                                                      : fmt::format("[{}]:{}", host, port));
}

http::ClientOptions AuthorityClient::options_for(Trust trust) const {
    http::ClientOptions options;
    options.network = network_;
    options.stopped = stopped_;
    options.user_agent = settings_.text("http_user_agent");
    options.max_redirects = 0;
    options.proxies = http::ProxyRules::of_settings(settings_);
    options.connect_timeout = std::chrono::seconds(settings_.integer("http_connect_timeout"));
    options.timeout = std::chrono::seconds(settings_.integer("http_read_timeout"));
    options.verify = trust != Trust::Unverified;
    if (options.verify) options.ca_file = store_.ca_path();
    if (trust == Trust::Lists || trust == Trust::Mutual) {
        if (store_.revocation() != pki::RevocationCheck::None) options.crl_file = store_.crl_path();
        options.crl_leaf_only = store_.revocation() == pki::RevocationCheck::Leaf;
    }
    if (trust == Trust::Mutual) {
        options.certificate_file = store_.certificate_path();
        options.private_key_file = store_.key_path();
    }
    BUNRAKU_ASSERT(options.verify != options.ca_file.empty() || store_.ca_path().empty());
    BUNRAKU_ASSERT(options.verify || options.certificate_file.empty());
    return options;
}

Result<AuthorityClient::Answer> AuthorityClient::send(http::ClientRequest request, Trust trust) {
    if (!client_ || trust_ != trust) {
        BUNRAKU_TRY_VOID(check_server_setting(settings_, log_, true));
        client_.emplace(options_for(trust));
        trust_ = trust;
    }
    request.url = url_ + request.url;
    request.headers.set("Accept", "text/plain");
    request.headers.set("X-Puppet-Version", config::puppet_version(settings_.compatibility()));
    auto answer = client_->send(request);
    if (answer) {
        return Answer{answer->status, std::move(answer->body),
                      std::string(http::reason(answer->status))};
    }
    client_.reset();
    auto error = answer.error();
    const auto prefix = http::error_prefix(request.method, request.url);
    if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
    if (error.code == ECANCELED || error.code == http::kRefusedCertificate)
        return std::unexpected(std::move(error));
    log_.log(unreachable,
             fmt::format("Connection to {} failed, trying next route: Request to {} failed: {}",
                         url_, request.url, error.message));
    return failure("No more routes to ca", error.code);
}

Result<AuthorityClient::Answer> AuthorityClient::get(const std::string& path, Trust trust,
                                                     std::int64_t since) {
    http::ClientRequest request;
    request.url = path;
    if (since > 0) request.headers.set("If-Modified-Since", http::http_date(since));
    return send(std::move(request), trust);
}

Result<AuthorityClient::Answer> AuthorityClient::put(const std::string& path,
                                                     const std::string& body, Trust trust) {
    http::ClientRequest request;
    request.method = "PUT";
    request.url = path;
    request.body = body;
    request.headers.set("Content-Type", "text/plain");
    return send(std::move(request), trust);
}

Result<AuthorityClient::Answer> AuthorityClient::post(const std::string& path, Trust trust) {
    http::ClientRequest request;
    request.method = "POST";
    request.url = path;
    request.headers.set("Content-Type", "text/plain");
    return send(std::move(request), trust);
}

}  // namespace bunraku::agent
